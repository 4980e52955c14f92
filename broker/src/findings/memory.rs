//! Findings about the memory that network adapters can use.

use super::finding::{Finding, FindingKind};
use crate::linux::{LockLimit, MemoryLock, Registerable, RegisterableError};

/// The least that libibverbs wants a process to be able to lock, in bytes. Linux' old default.
const LEAST: u64 = 32_768;

/// What is wrong with how much memory `who` may lock; for example `this process`. Counterpart: the
/// warning of libibverbs.
#[must_use]
pub fn locked_memory(who: &str, limit: Option<&MemoryLock>) -> Option<Finding> {
    let Some(limit) = limit else {
        let text = format!("how much memory {who} may lock is unknown: its limits are not there");
        return Some(Finding::note(FindingKind::Memlock, text));
    };
    let LockLimit::Bytes(soft) = limit.soft else { return None };
    let found = format!("{who} may lock {}", limit.soft);
    let raise = match limit.hard {
        LockLimit::Bytes(hard) if hard <= soft => {
            "raise memlock in limits.conf, and restart the daemons that start processes".to_owned()
        }
        LockLimit::Bytes(hard) => format!("raise it with `ulimit -l {}`", hard / 1024),
        LockLimit::Unlimited => "raise it with `ulimit -l unlimited`".to_owned(),
    };
    Some(match soft <= LEAST {
        true => {
            let text = format!("{found}; network adapters need more than {LEAST} bytes: {raise}");
            Finding::new(FindingKind::Memlock, text)
        }
        false => {
            let text = format!("{found}; network adapters work best without a limit: {raise}");
            Finding::note(FindingKind::Memlock, text)
        }
    })
}

/// What is wrong with how much memory a driver can register: Open MPI wants three quarters of the
/// memory of the node, and its FAQ twice that memory.
#[must_use]
pub fn registerable_memory(found: &Result<Registerable, RegisterableError>) -> Option<Finding> {
    let kind = FindingKind::RegisterableMemory;
    let Registerable { driver, bytes, memory } = match found {
        Ok(found) => found,
        Err(error) => return Some(Finding::new(kind, error.to_string())),
    };
    let Some(memory) = *memory else {
        let text = format!("{driver} can register {bytes} bytes; how much the node has is unknown");
        return Some(Finding::note(kind, text));
    };
    let number = if *driver == "ib_mthca" { "num_mtt" } else { "log_num_mtt" };
    let text = |expected: &str| {
        format!(
            "{driver} can register {bytes} bytes, and the node has {memory}; expected {expected}: \
             raise {number} or log_mtts_per_seg of the module"
        )
    };
    match *bytes {
        bytes if bytes < memory / 4 * 3 => {
            Some(Finding::new(kind, text("at least three quarters of that")))
        }
        bytes if bytes < memory.saturating_mul(2) => Some(Finding::note(kind, text("twice that"))),
        _ => None,
    }
}
