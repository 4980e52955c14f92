//! The identity of a publisher and of a segment: process, boot, time and a random id.

use super::error::PublishError;
use crate::linux::kernel_text;
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};
use topobroker_layout::header::Header;

/// A process. The start time distinguishes it from a later process with the same pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Publisher {
    pub(crate) pid: u32,
    /// Clock ticks from boot to its start.
    pub(crate) start: u64,
}

impl Publisher {
    /// The publisher in the header of a segment that outlives its publisher.
    pub(crate) const NONE: Self = Self { pid: 0, start: 0 };
}

pub(super) fn publisher() -> Result<Publisher, PublishError> {
    process(std::process::id())
}

/// A running process, by its pid.
pub(super) fn process(pid: u32) -> Result<Publisher, PublishError> {
    let start = start_of(pid).and_then(|start| start.ok_or_else(|| io::ErrorKind::NotFound.into()));
    let unknown = |source| PublishError::Identity { what: format!("/proc/{pid}/stat"), source };
    Ok(Publisher { pid, start: start.map_err(unknown)? })
}

/// Start of a process in clock ticks since boot; the value is the same in every time namespace.
/// `None` if it is a zombie: it is gone, although its parent has not waited for it yet. (One with
/// threads is not: only its main thread has ended.)
fn start_of(pid: u32) -> io::Result<Option<u64>> {
    let stat = kernel_text(format!("/proc/{pid}/stat"))?;
    // The name in parentheses may contain any character; the fields after it do not.
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
    let threads = fields.split_ascii_whitespace().nth(17).and_then(|count| count.parse().ok());
    if fields.trim_start().starts_with(['Z', 'X']) && threads.unwrap_or(0) < 2 {
        return Ok(None);
    }
    let start = fields.split_ascii_whitespace().nth(19).and_then(|start| start.parse().ok());
    let start: u64 = start.ok_or(io::ErrorKind::InvalidData)?;
    Ok(Some(start.saturating_add_signed(-ticks_ahead())))
}

/// The offset of the time since boot in this process's time namespace, in clock ticks.
fn ticks_ahead() -> i64 {
    let offsets = std::fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default();
    let ahead = offsets.lines().find_map(|line| {
        let fields = line.strip_prefix("boottime")?.split_ascii_whitespace();
        let mut numbers = fields.map(str::parse::<i64>);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    });
    let Some((seconds, nanoseconds)) = ahead.filter(|ahead| *ahead != (0, 0)) else { return 0 };
    let namespace = |name: &str| std::fs::read_link(Path::new("/proc/self/ns").join(name)).ok();
    // The file has the offsets of the namespace for children. They are this process's own only if
    // both namespaces are the same.
    if namespace("time") != namespace("time_for_children") {
        return 0;
    }
    let ticks = i64::try_from(rustix::param::clock_ticks_per_second()).unwrap_or(100);
    seconds.saturating_mul(ticks) + nanoseconds / (1_000_000_000 / ticks.max(1)).max(1)
}

/// The id of this machine's current boot. No process of another boot can still run.
///
/// # Errors
///
/// [`PublishError::Identity`].
pub fn boot_id() -> Result<[u8; 16], PublishError> {
    static KNOWN: OnceLock<[u8; 16]> = OnceLock::new();
    match KNOWN.get() {
        Some(known) => Ok(*known),
        None => read_boot_id().map(|id| *KNOWN.get_or_init(|| id)),
    }
}

fn read_boot_id() -> Result<[u8; 16], PublishError> {
    const FILE: &str = "/proc/sys/kernel/random/boot_id";
    let identity = |source| PublishError::Identity { what: FILE.to_owned(), source };
    let text = std::fs::read_to_string(FILE).map_err(identity)?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let id = u128::from_str_radix(&digits, 16)
        .map_err(|error| identity(io::Error::new(io::ErrorKind::InvalidData, error)))?;
    Ok(id.to_be_bytes())
}

/// The pid namespace of this process, as an inode number; 0 if it is not known.
pub(crate) fn pid_namespace() -> u32 {
    use std::os::unix::fs::MetadataExt;
    let inode = std::fs::metadata("/proc/self/ns/pid").map(|metadata| metadata.ino());
    inode.ok().and_then(|inode| u32::try_from(inode).ok()).unwrap_or(0)
}

/// Random bytes for the id of a segment.
///
/// # Errors
///
/// [`PublishError::Identity`].
pub fn random() -> Result<[u8; 16], PublishError> {
    let mut bytes = [0; 16];
    let identity =
        |source: io::Error| PublishError::Identity { what: "getrandom".to_owned(), source };
    match rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()) {
        Ok(16) => Ok(bytes),
        Ok(_) => Err(identity(io::ErrorKind::UnexpectedEof.into())),
        Err(error) => Err(identity(error.into())),
    }
}

/// Nanoseconds since 1970.
#[must_use]
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

topobroker_layout::words! {
    /// Whether the publisher of a segment still runs and will remove the segment.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PublisherState {
        /// Its publisher runs.
        Alive => "alive",
        /// Its publisher is gone, or the machine was booted since: it will not be removed.
        Gone => "gone",
        /// It was published to stay until it is unpublished.
        Kept => "kept",
        /// Its header cannot be read, or its publisher is in another pid namespace.
        Unknown => "unknown",
    }
}

/// Whether the publisher that a header names still runs.
#[must_use]
pub fn state_of(header: Option<&Header>) -> PublisherState {
    let Some(header) = header else {
        return PublisherState::Unknown;
    };
    if header.publisher_pid == 0 {
        return PublisherState::Kept;
    }
    let Ok(boot) = boot_id() else { return PublisherState::Unknown };
    if boot != header.boot_id {
        return PublisherState::Gone;
    }
    if header.pid_namespace != pid_namespace() || !is_own_proc() {
        return PublisherState::Unknown;
    }
    let is_alive = match start_of(header.publisher_pid) {
        // Ticks are rounded from nanoseconds, in another time namespace perhaps differently.
        Ok(start) => start.is_some_and(|start| start.abs_diff(header.publisher_start) <= 1),
        // /proc may hide the process from this user, or there is no descriptor left to read it.
        Err(_) => is_process(header.publisher_pid),
    };
    if is_alive { PublisherState::Alive } else { PublisherState::Gone }
}

/// Whether `/proc` has the numbers of this process's own pid namespace. After `unshare --pid`
/// without a new `/proc` it has those of the namespace outside.
fn is_own_proc() -> bool {
    let own = std::fs::read_link("/proc/self").ok();
    own.is_some_and(|own| own.to_str() == Some(&std::process::id().to_string()))
}

/// Whether a process exists, as far as the kernel says.
fn is_process(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let tested = pid.map(rustix::process::test_kill_process);
    tested.is_some_and(|tested| tested != Err(rustix::io::Errno::SRCH))
}
