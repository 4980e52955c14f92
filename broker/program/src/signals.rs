//! Signals that must not end this process while something is published.

use signal_hook::consts::{
    SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ,
};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use topobroker::linux::kernel_text;

/// Signals that are caught, and that `run` forwards to its command.
const CAUGHT: [i32; 7] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM];

/// Caught signals that ask this process to end.
const ENDING: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// Makes writing beyond the limit on the length of files an error in place of the end of this
/// process, which would leave files behind. Commands that this process runs do not inherit it.
///
/// # Errors
///
/// That of the system.
pub(super) fn outlive_full_files() -> io::Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(|_| ())
}

/// The caught signals of this process.
pub(super) struct Signals(SignalsInfo<WithOrigin>);

impl Signals {
    /// Catches the signals of `CAUGHT`, and SIGCHLD for the end of children. A signal that was
    /// ignored when this process started (under nohup, or in the background of a shell) stays
    /// ignored, here and in the command of `run`.
    pub(super) fn catch() -> io::Result<Self> {
        let ignored = ignored_mask();
        let caught = CAUGHT.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
        Ok(Self(SignalsInfo::new(caught.chain([SIGCHLD]))?))
    }

    /// Catches the signals that end a daemon, and SIGHUP, which asks it to check the machine again.
    /// They are caught even if they were ignored when this process started.
    pub(super) fn catch_for_daemon() -> io::Result<Self> {
        Ok(Self(SignalsInfo::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?))
    }

    /// A flag that a signal that asks this process to end sets, for work that looks at it.
    pub(super) fn flag() -> io::Result<Arc<AtomicBool>> {
        let flag = Arc::new(AtomicBool::new(false));
        let ignored = ignored_mask();
        for signal in ENDING.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0) {
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
        Ok(flag)
    }

    /// Returns a received signal that asks this process to end, if there is one. Does not wait.
    pub(super) fn ending(&mut self) -> Option<i32> {
        self.0.pending().map(|origin| origin.signal).find(|signal| ENDING.contains(signal))
    }

    /// Waits for signals from any sender.
    pub(super) fn wait_any(&mut self) -> Vec<i32> {
        self.0.wait().map(|origin| origin.signal).collect()
    }

    /// Waits for signals, and returns those that a process sent. Signals of the terminal are left
    /// out, because they reach the command too, which is in the same process group.
    pub(super) fn wait(&mut self) -> impl Iterator<Item = i32> {
        let sent = self.0.wait().filter(|origin| origin.process.is_some());
        sent.map(|origin| origin.signal).filter(|signal| *signal != SIGCHLD)
    }
}

/// The exit code of a process that a signal ended: as in shells, 128 plus the signal.
pub(super) fn exit_code(signal: i32) -> ExitCode {
    ExitCode::from(u8::try_from(128 + signal).unwrap_or(1))
}

/// Mask of the ignored signals: bit `n - 1` is for signal `n`.
fn ignored_mask() -> u64 {
    let status = kernel_text("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
