//! Binding of memory to NUMA nodes.

use super::cpu::{set, words};
use super::error::BindError;
use super::kernel;
use super::target::Target;
use libc::c_long;
use std::io;
use topobroker_layout::set::Set;

/// Where the memory of a thread comes from. Counterpart: `hwloc_membind_policy_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryPolicy {
    /// What the system does by itself. Counterpart: `HWLOC_MEMBIND_DEFAULT`.
    Default,
    /// From the NUMA node of the PU that first uses it. Counterpart: `HWLOC_MEMBIND_FIRSTTOUCH`.
    FirstTouch,
    /// From some NUMA nodes. Counterpart: `HWLOC_MEMBIND_BIND`.
    Bind,
    /// From some NUMA nodes in turn. Counterpart: `HWLOC_MEMBIND_INTERLEAVE`.
    Interleave,
    /// From some NUMA nodes in turn, by their bandwidth. From Linux 6.9. Counterpart:
    /// `HWLOC_MEMBIND_WEIGHTED_INTERLEAVE`.
    WeightedInterleave,
}

/// Binds the memory that this thread, and the programs that it starts, take from now on.
/// [`MemoryPolicy::Bind`] takes memory from other nodes if those are full, unless `strict`.
/// Counterpart: `hwloc_set_membind` with `HWLOC_MEMBIND_THREAD`.
///
/// # Errors
///
/// [`BindError`]: the kernel does not let this process use the nodes, or does not know the policy.
#[doc(alias = "hwloc_set_membind")]
pub fn bind_memory(policy: MemoryPolicy, nodes: &Set, strict: bool) -> Result<(), BindError> {
    let modes: &[c_long] = match policy {
        MemoryPolicy::Default => &[MPOL_DEFAULT],
        MemoryPolicy::FirstTouch => &[MPOL_LOCAL],
        MemoryPolicy::Bind if strict => &[MPOL_BIND],
        // From Linux 5.15 all nodes are preferred, before that the first one.
        MemoryPolicy::Bind => &[MPOL_PREFERRED_MANY, MPOL_PREFERRED],
        MemoryPolicy::Interleave => &[MPOL_INTERLEAVE],
        MemoryPolicy::WeightedInterleave => &[MPOL_WEIGHTED_INTERLEAVE],
    };
    let words = match policy {
        MemoryPolicy::Default | MemoryPolicy::FirstTouch => Vec::new(),
        _ if nodes.is_empty() => return Err(refused(nodes)),
        _ => words(nodes, WHAT)?,
    };
    let tried = modes.iter().map(|mode| kernel::set_memory_policy(*mode, &words));
    let tried = tried.reduce(Result::or).unwrap_or(Ok(()));
    tried.map_err(|error| match error.kind() {
        // It also says so of a policy that it does not know; then the nodes are not the reason.
        io::ErrorKind::InvalidInput if policy != MemoryPolicy::WeightedInterleave => refused(nodes),
        _ => Target::ThisThread.failed("bind its memory", error),
    })
}

/// The policy by which this thread takes memory, and its NUMA nodes. `None` if the policy is not
/// one of those of [`MemoryPolicy`]. Counterpart: `hwloc_get_membind` with `HWLOC_MEMBIND_THREAD`.
///
/// # Errors
///
/// [`BindError::Kernel`].
#[doc(alias = "hwloc_get_membind")]
pub fn memory_binding() -> Result<(Option<MemoryPolicy>, Set), BindError> {
    let found = kernel::memory_policy();
    let (mode, nodes) =
        found.map_err(|error| Target::ThisThread.failed("report its policy", error))?;
    let nodes = set(&nodes);
    let policy = match mode & !MPOL_FLAGS {
        MPOL_DEFAULT => Some(MemoryPolicy::Default),
        MPOL_LOCAL => Some(MemoryPolicy::FirstTouch),
        MPOL_PREFERRED if nodes.is_empty() => Some(MemoryPolicy::FirstTouch),
        MPOL_PREFERRED | MPOL_PREFERRED_MANY | MPOL_BIND => Some(MemoryPolicy::Bind),
        MPOL_INTERLEAVE => Some(MemoryPolicy::Interleave),
        MPOL_WEIGHTED_INTERLEAVE => Some(MemoryPolicy::WeightedInterleave),
        _ => None,
    };
    Ok((policy, nodes))
}

const WHAT: &str = "NUMA nodes";

fn refused(nodes: &Set) -> BindError {
    BindError::Set { what: WHAT, set: Box::new(nodes.clone()) }
}

// Modes of the kernel, from its header `linux/mempolicy.h`.
const MPOL_DEFAULT: c_long = 0;
const MPOL_PREFERRED: c_long = 1;
const MPOL_BIND: c_long = 2;
const MPOL_INTERLEAVE: c_long = 3;
const MPOL_LOCAL: c_long = 4;
const MPOL_PREFERRED_MANY: c_long = 5;
const MPOL_WEIGHTED_INTERLEAVE: c_long = 6;
/// Bits of a mode that say how the nodes are meant when the cgroup changes.
const MPOL_FLAGS: c_long = 0xe000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_the_memory_policy_that_it_was_given() {
        std::thread::spawn(|| {
            let first: Set = [0].into_iter().collect();
            let cases = [
                (MemoryPolicy::Bind, true, first.clone()),
                (MemoryPolicy::Bind, false, first.clone()),
                (MemoryPolicy::Interleave, false, first.clone()),
                (MemoryPolicy::FirstTouch, false, Set::new()),
                (MemoryPolicy::Default, false, Set::new()),
            ];
            for (policy, strict, nodes) in cases {
                match bind_memory(policy, &first, strict) {
                    // A sandbox may forbid it.
                    Err(BindError::Kernel { source, .. })
                        if [libc::EPERM, libc::ENOSYS]
                            .contains(&source.raw_os_error().unwrap()) =>
                    {
                        return;
                    }
                    result => result.unwrap(),
                }
                assert_eq!(memory_binding().unwrap(), (Some(policy), nodes));
            }
            let far: Set = [900].into_iter().collect();
            assert!(matches!(
                bind_memory(MemoryPolicy::Bind, &far, true),
                Err(BindError::Set { .. })
            ));
            assert!(matches!(
                bind_memory(MemoryPolicy::Bind, &Set::new(), true),
                Err(BindError::Set { .. })
            ));
        })
        .join()
        .unwrap();
    }
}
