//! `topobroker run`: publish, start a command with the keys, and leave nothing behind.

use super::publish::How;
use anyhow::Context;
use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus};

/// Publish a topology, run a command that finds it, and unpublish it
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    how: How,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Signals that the command gets too.
const FORWARDED: [i32; 7] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM];

impl Run {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        // Before anything is published: from here on no signal ends this process.
        let signals = FORWARDED.into_iter().chain([SIGCHLD]);
        let mut signals = SignalsInfo::<WithOrigin>::new(signals).context("signals")?;
        let publication = self.how.publish(false)?;
        let (program, arguments) = self.command.split_first().context("no command")?;
        let started =
            Command::new(program).args(arguments).envs(publication.keys().to_env()).spawn();
        let code = match started {
            Ok(child) => exit_code(wait(child, &mut signals)?),
            Err(error) => {
                eprintln!("topobroker: {}: cannot be started: {error}", program.display());
                // As shells, env and nohup have it.
                let code = if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
                ExitCode::from(code)
            }
        };
        publication.unpublish()?;
        Ok(code)
    }
}

/// Waits for the command, handing it the signals that this process gets.
fn wait(mut child: Child, signals: &mut SignalsInfo<WithOrigin>) -> anyhow::Result<ExitStatus> {
    let pid =
        i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("pid of the command")?;
    loop {
        if let Some(status) = child.try_wait().context("waiting for the command")? {
            return Ok(status);
        }
        for origin in signals.wait() {
            // What the terminal sends reaches the command by itself: it is in the same group.
            let from_process = origin.process.is_some();
            let signal = Signal::from_named_raw(origin.signal).filter(|_| origin.signal != SIGCHLD);
            if let (true, Some(signal)) = (from_process, signal) {
                // It may be gone already; then there is nobody to tell.
                let _ = kill_process(pid, signal);
            }
        }
    }
}

/// The command's own exit status; of one that a signal ended, 128 and the signal, as in shells.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
