//! Findings about the memory that network adapters can use.

use super::finding::{Finding, Kind};
use crate::linux::{LockLimit, MemoryLock, Registerable};

/// The least that libibverbs wants a process to be able to lock, in bytes. Linux' old default.
const LEAST: u64 = 32_768;

/// What is wrong with how much memory `who` may lock; for example `this process`. Counterpart: the
/// warning of libibverbs.
#[must_use]
pub fn locked_memory(who: &str, limit: &MemoryLock) -> Option<Finding> {
    let LockLimit::Bytes(soft) = limit.soft else { return None };
    let found = format!("{who} may lock {}", limit.soft);
    let raise = match limit.hard {
        LockLimit::Bytes(hard) if hard <= soft => {
            "raise memlock in limits.conf, and restart the daemons that start processes".to_owned()
        }
        hard => format!("it may raise this up to {hard} with `ulimit -l`"),
    };
    Some(match soft <= LEAST {
        true => {
            let text = format!("{found}; network adapters need more than {LEAST} bytes: {raise}");
            Finding::new(Kind::Memlock, text)
        }
        false => {
            let text = format!("{found}; network adapters work best without a limit: {raise}");
            Finding::note(Kind::Memlock, text)
        }
    })
}

/// What is wrong with how much memory a driver can register: Open MPI wants three quarters of the
/// memory of the node, and its FAQ twice that memory.
#[must_use]
pub fn registerable_memory(found: &Registerable) -> Option<Finding> {
    let Registerable { driver, bytes, memory } = found;
    let memory = (*memory)?;
    let text = |expected: &str| {
        format!(
            "{driver} can register {bytes} bytes, and the node has {memory}; expected {expected}: raise log_num_mtt or log_mtts_per_seg of the module"
        )
    };
    // Without overflow on any node: three quarters, rounded down.
    match *bytes {
        bytes if bytes < memory / 4 * 3 => {
            Some(Finding::new(Kind::RegisterableMemory, text("at least three quarters of that")))
        }
        bytes if bytes < memory.saturating_mul(2) => {
            Some(Finding::note(Kind::RegisterableMemory, text("twice that")))
        }
        _ => None,
    }
}
