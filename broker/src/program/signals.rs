//! Signals that must not end this process while something is published.

use signal_hook::consts::{SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use std::io;
use std::process::ExitCode;

/// Signals that are caught, and that `run` hands on to its command.
const CAUGHT: [i32; 7] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM];

/// Those of them that ask this process to end.
const ENDING: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// The signals of this process, caught from here on.
pub(super) struct Signals(SignalsInfo<WithOrigin>);

impl Signals {
    /// Catches signals, also the end of children. Those that whoever started this process had it
    /// ignore (nohup, a shell's background) stay ignored, here and in the command of `run`.
    pub(super) fn catch() -> io::Result<Self> {
        let ignored = ignored_mask();
        let caught = CAUGHT.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
        Ok(Self(SignalsInfo::new(caught.chain([SIGCHLD]))?))
    }

    /// Catches what ends a daemon, and SIGHUP, which asks it to look again, whatever was ignored.
    pub(super) fn catch_for_daemon() -> io::Result<Self> {
        Ok(Self(SignalsInfo::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?))
    }

    /// The signal that has asked this process to end, if one has.
    pub(super) fn ending(&mut self) -> Option<i32> {
        self.0.pending().map(|origin| origin.signal).find(|signal| ENDING.contains(signal))
    }

    /// Waits for signals, whoever sent them.
    pub(super) fn wait_any(&mut self) -> Vec<i32> {
        self.0.wait().map(|origin| origin.signal).collect()
    }

    /// Waits for signals. Returns those that a process sent: what the terminal sends reaches the
    /// command by itself, which is in the same group.
    pub(super) fn wait(&mut self) -> impl Iterator<Item = i32> {
        let sent = self.0.wait().filter(|origin| origin.process.is_some());
        sent.map(|origin| origin.signal).filter(|signal| *signal != SIGCHLD)
    }
}

/// The exit code of a process that a signal ended, as shells have it.
pub(super) fn exit_code(signal: i32) -> ExitCode {
    ExitCode::from(u8::try_from(128 + signal).unwrap_or(1))
}

/// A bit for each signal that is ignored.
fn ignored_mask() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
