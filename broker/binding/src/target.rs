//! What is bound: a thread, or all threads of a process.

use super::error::BindError;
use std::collections::BTreeSet;
use std::fmt;
use std::io;

/// What is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// The thread that asks. Counterpart: `HWLOC_CPUBIND_THREAD`.
    ThisThread,
    /// All threads of the process that asks. Counterpart: `HWLOC_CPUBIND_PROCESS`.
    ThisProcess,
    /// The thread with an id. Counterpart: `hwloc_linux_set_tid_cpubind`.
    Thread(u32),
    /// All threads of the process with an id. Counterpart: `hwloc_set_proc_cpubind`.
    Process(u32),
}

impl Target {
    /// Ids of the threads that are there now.
    pub(super) fn threads(self) -> Result<BTreeSet<u32>, BindError> {
        let folder = match self {
            // The kernel takes 0 for the thread that asks.
            Self::ThisThread => return Ok([0].into()),
            Self::Thread(thread) => return Ok([thread].into()),
            Self::ThisProcess => "/proc/self/task".to_owned(),
            Self::Process(process) => format!("/proc/{process}/task"),
        };
        let entries = std::fs::read_dir(folder).map_err(|error| self.failed("be found", error))?;
        let names = entries.flatten().map(|entry| entry.file_name());
        Ok(names.filter_map(|name| name.to_str()?.parse().ok()).collect())
    }

    /// Whether an error of one of its threads means only that the thread has ended, as those of a
    /// process may at any time.
    pub(super) fn may_lose(self, error: &io::Error) -> bool {
        matches!(self, Self::ThisProcess | Self::Process(_)) && has_ended(error)
    }

    pub(super) fn failed(self, step: &'static str, source: io::Error) -> BindError {
        BindError::Kernel { target: self.to_string(), step, source }
    }
}

pub(super) fn has_ended(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ESRCH) || error.kind() == io::ErrorKind::NotFound
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThisThread => f.write_str("this thread"),
            Self::ThisProcess => f.write_str("this process"),
            Self::Thread(thread) => write!(f, "thread {thread}"),
            Self::Process(process) => write!(f, "process {process}"),
        }
    }
}
