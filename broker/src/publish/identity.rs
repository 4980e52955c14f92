//! Who publishes, when, and a name that no other segment has.

use super::PublishError;
use std::io;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// A process, told apart from a later one with the same pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Publisher {
    pub(crate) pid: u32,
    /// Clock ticks from boot to its start.
    pub(crate) start: u64,
}

impl Publisher {
    /// Of a segment that outlives its publisher.
    pub(crate) const NOBODY: Self = Self { pid: 0, start: 0 };
}

pub(super) fn publisher() -> Result<Publisher, PublishError> {
    let pid = std::process::id();
    let start = start_of(pid)
        .map_err(|source| PublishError::Identity { what: "/proc/self/stat", source })?;
    Ok(Publisher { pid, start })
}

/// Start of a process in clock ticks since boot.
pub(crate) fn start_of(pid: u32) -> io::Result<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name in parentheses may have any character; the fields behind it are numbers.
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
    let start = fields.split_ascii_whitespace().nth(19).and_then(|start| start.parse().ok());
    start.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The boot of this machine, which no process outlives.
pub(crate) fn boot_id() -> Result<[u8; 16], PublishError> {
    static KNOWN: OnceLock<[u8; 16]> = OnceLock::new();
    match KNOWN.get() {
        Some(known) => Ok(*known),
        None => read_boot_id().map(|id| *KNOWN.get_or_init(|| id)),
    }
}

fn read_boot_id() -> Result<[u8; 16], PublishError> {
    let what = "/proc/sys/kernel/random/boot_id";
    let identity = |source| PublishError::Identity { what, source };
    let text = std::fs::read_to_string(what).map_err(identity)?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let id = u128::from_str_radix(&digits, 16)
        .map_err(|error| identity(io::Error::new(io::ErrorKind::InvalidData, error)))?;
    Ok(id.to_be_bytes())
}

/// The namespace that pids of this process are of; 0 if it is not known.
pub(crate) fn pid_namespace() -> u32 {
    use std::os::unix::fs::MetadataExt;
    let inode = std::fs::metadata("/proc/self/ns/pid").map(|metadata| metadata.ino());
    inode.ok().and_then(|inode| u32::try_from(inode).ok()).unwrap_or(0)
}

pub(super) fn random() -> Result<[u8; 16], PublishError> {
    let mut bytes = [0; 16];
    let identity = |source: io::Error| PublishError::Identity { what: "getrandom", source };
    match rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()) {
        Ok(16) => Ok(bytes),
        Ok(_) => Err(identity(io::ErrorKind::UnexpectedEof.into())),
        Err(error) => Err(identity(error.into())),
    }
}

/// Nanoseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
