//! `topobroker run`: publish, start a command with the keys, and leave nothing behind.

use super::input::unannounce_fsroot;
use super::output;
use super::publish::How;
use super::signals::{self, Signals};
use crate::publish::job::sweep_beside;
use anyhow::Context;
use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::time::Duration;

/// Publish a topology, run a command that finds it, and unpublish it
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
        // Before anything is published: from here on no signal ends this process.
        let mut signals = Signals::catch().context("signals")?;
        let publication = self.how.publish(false)?;
        let (program, arguments) = self.command.split_first().context("no command")?;
        // Asked to end before there is a command to hand that on to.
        if let Some(signal) = signals.ending() {
            publication.unpublish()?;
            return Ok(signals::exit_code(signal));
        }
        if Path::new(program).file_name() == Some(OsStr::new("prun")) {
            output::say(
                "prun has its ranks started by a DVM that runs already: they find this segment only if that was \
                 started with its keys, as by `topobroker run -- prte`",
            );
        }
        let mut command = Command::new(program);
        command.args(arguments).envs(publication.to_env());
        unannounce_fsroot(&mut command);
        if publication.legacy().is_some() {
            // With it hwloc does not look at HWLOC_XMLFILE.
            command.env_remove("HWLOC_COMPONENTS");
        }
        sweep_jobs(publication.place());
        let code = finish(command, &mut signals)?;
        publication.unpublish()?;
        Ok(code)
    }
}

/// Runs a command to its end. Returns its own exit status; 127 or 126, as shells have it, if it cannot be
/// started.
pub(super) fn finish(mut command: Command, signals: &mut Signals) -> anyhow::Result<ExitCode> {
    match command.spawn() {
        Ok(child) => Ok(exit_code(wait(child, signals)?)),
        Err(error) => {
            let program = command.get_program().display();
            output::say(&format!("{program}: cannot be started: {error}"));
            let code = if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
            Ok(ExitCode::from(code))
        }
    }
}

/// Removes jobs whose launcher is gone, as long as this process runs.
fn sweep_jobs(place: PathBuf) {
    const EVERY: Duration = Duration::from_secs(1);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(EVERY);
            // A folder that cannot be listed now may be next time.
            let _ = sweep_beside(&place);
        }
    });
}

/// Waits for the command, handing it the signals that this process gets.
fn wait(mut child: Child, signals: &mut Signals) -> anyhow::Result<ExitStatus> {
    let pid =
        i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("pid of the command")?;
    loop {
        if let Some(status) = child.try_wait().context("waiting for the command")? {
            return Ok(status);
        }
        for signal in signals.wait().filter_map(Signal::from_named_raw) {
            // It may be gone already; then there is nobody to tell.
            let _ = kill_process(pid, signal);
        }
    }
}

/// The command's own exit status; of one that a signal ended, 128 and the signal.
fn exit_code(status: ExitStatus) -> ExitCode {
    match (status.code(), status.signal()) {
        (Some(code), _) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        (None, signal) => signals::exit_code(signal.unwrap_or(0)),
    }
}
