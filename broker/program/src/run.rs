//! `topobroker run`: publishes, runs a command with the keys, and unpublishes.

use super::input::unannounce_fsroot;
use super::output;
use super::preload::{PRELOAD, preload};
use super::publish::How;
use super::signals::{self, Signals};
use anyhow::Context;
use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::time::Duration;
use topobroker::publish::job::sweep_jobs_of;
use topobroker_process::open_trusted;
use topobroker_reader::{FilePath, Keys, adopt_keys};
use topobroker_slots::SLOTS_ENDING;

/// Publish a topology, run a command that finds it, and unpublish it
///
/// If the node's topology is served already and no option asks for another one, the command gets
/// that
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    how: How,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Run {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (program, arguments) = self.command.split_first().context("no command")?;
        if let Some(keys) = self.served() {
            let mut command = Command::new(program);
            command.args(arguments).envs(keys.to_env());
            if self.how.what.guard {
                command.env(PRELOAD, preload()?);
            }
            return finish(command, &mut Signals::catch().context("signals")?);
        }
        let (publication, mut signals) = self.how.publish(false)?;
        // A signal asked this process to end before there was a command to forward it to.
        if let Some(signal) = signals.ending() {
            publication.unpublish()?;
            return Ok(signals::exit_code(signal));
        }
        if Path::new(program).file_name() == Some(OsStr::new("prun")) {
            output::say(
                "prun has its ranks started by a DVM that runs already: they find this segment \
                 only if that was started with its keys, as by `topobroker run -- prte`",
            );
        }
        let mut command = Command::new(program);
        command.args(arguments).envs(publication.to_env());
        if self.how.what.guard {
            command.env(PRELOAD, preload()?);
        }
        unannounce_fsroot(&mut command);
        if publication.legacy().is_some() {
            // hwloc ignores HWLOC_XMLFILE if this variable is set.
            command.env_remove("HWLOC_COMPONENTS");
        }
        sweep_jobs(publication.place());
        let code = finish(command, &mut signals)?;
        publication.unpublish()?;
        Ok(code)
    }
}

impl Run {
    /// The keys of what is served on this node, if nothing else is asked for.
    fn served(&self) -> Option<Keys> {
        let keys = Keys::from_env().ok().or_else(|| Keys::in_folder(&Keys::run_folder()))?;
        let has_slots = || {
            let file = [keys.file()?.as_bytes(), SLOTS_ENDING.as_bytes()].concat();
            open_trusted(&FilePath::from_bytes(file)).ok()
        };
        let is_enough = self.how.is_plain() && (!self.how.what.guard || has_slots().is_some());
        let served = is_enough.then(|| adopt_keys(keys.clone()).ok()).flatten()?;
        served.topology().is_this_system().then_some(keys)
    }
}

/// Runs a command to its end and returns its exit status. As in shells, that is 127 if the command
/// does not exist, and 126 if it cannot be started.
pub(super) fn finish(mut command: Command, signals: &mut Signals) -> anyhow::Result<ExitCode> {
    match command.spawn() {
        Ok(child) => Ok(exit_code(wait(child, signals)?)),
        Err(error) => Ok(not_started(&command, &error)),
    }
}

/// Says why a command cannot be started, and returns the exit status that shells have then.
pub(super) fn not_started(command: &Command, error: &io::Error) -> ExitCode {
    let program = command.get_program().display();
    output::complain(&format!("{program}: cannot be started: {error}"));
    ExitCode::from(if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 })
}

/// Starts a thread that removes jobs whose launcher is gone, as long as this process runs.
fn sweep_jobs(place: PathBuf) {
    const EVERY: Duration = Duration::from_secs(1);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(EVERY);
            // If the folder cannot be listed now, the next round tries again.
            let _ = sweep_jobs_of(&place);
        }
    });
}

/// Waits for the command, and forwards to it the signals that this process receives.
fn wait(mut child: Child, signals: &mut Signals) -> anyhow::Result<ExitStatus> {
    let pid =
        i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("pid of the command")?;
    loop {
        if let Some(status) = child.try_wait().context("waiting for the command")? {
            return Ok(status);
        }
        for signal in signals.wait().filter_map(Signal::from_named_raw) {
            // It is no error if the command has ended already.
            let _ = kill_process(pid, signal);
        }
    }
}

/// The exit status of a command; 128 plus the signal if a signal ended it.
fn exit_code(status: ExitStatus) -> ExitCode {
    match (status.code(), status.signal()) {
        (Some(code), _) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        (None, signal) => signals::exit_code(signal.unwrap_or(0)),
    }
}
