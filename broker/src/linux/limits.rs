//! How much memory a process may lock, which is what network adapters need of it.

use super::root::Root;
use std::fmt;
use std::io;

/// A limit of locked memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockLimit {
    /// There is none.
    Unlimited,
    /// In bytes.
    Bytes(u64),
}

/// How much memory a process may lock. Counterpart: `getrlimit(RLIMIT_MEMLOCK)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLock {
    /// What holds now. The process may raise it up to the hard limit.
    pub soft: LockLimit,
    /// What only root may raise.
    pub hard: LockLimit,
}

impl fmt::Display for LockLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlimited => f.write_str("unlimited"),
            Self::Bytes(bytes) => write!(f, "{bytes} bytes"),
        }
    }
}

/// A process whose limits are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process {
    /// This one.
    Own,
    /// The one with this number.
    Pid(u32),
}

/// The limits of a process; `None` if its file of limits is not there, or does not say.
///
/// ```
/// use topobroker::linux::{Process, Root, locked_memory};
/// if let Some(limit) = locked_memory(&Root::of_this_node(), Process::Own)? {
///     println!("may lock {}, after ulimit -l {}", limit.soft, limit.hard);
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// The error of reading the file of limits, unless there is none.
pub fn locked_memory(root: &Root, process: Process) -> io::Result<Option<MemoryLock>> {
    let file = match process {
        Process::Own => "proc/self/limits".to_owned(),
        Process::Pid(pid) => format!("proc/{pid}/limits"),
    };
    let text = root.text(&file)?.unwrap_or_default();
    Ok(parse(&text))
}

fn parse(limits: &str) -> Option<MemoryLock> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max locked memory"))?;
    let mut words = line.split_whitespace().map(|word| match word {
        "unlimited" => Some(LockLimit::Unlimited),
        bytes => bytes.parse().ok().map(LockLimit::Bytes),
    });
    Some(MemoryLock { soft: words.next()??, hard: words.next()?? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_linux_writes_them() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max cpu time              unlimited            unlimited            seconds   \n\
                      Max locked memory         8388608              unlimited            bytes     \n";
        let found = parse(limits);
        let expected = MemoryLock { soft: LockLimit::Bytes(8_388_608), hard: LockLimit::Unlimited };
        assert_eq!(found, Some(expected));
        for text in ["", "Max locked memory", "Max locked memory 1", "Max locked memory x y bytes"]
        {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
