//! Binding to PUs.

use super::error::BindError;
use super::kernel;
use super::target::{Target, has_ended};
use std::collections::BTreeSet;
use std::io;
use topobroker_layout::set::Set;

/// Binds a thread, or all threads of a process, to PUs. Threads that a process starts meanwhile are
/// bound too. Counterpart: `hwloc_set_cpubind`.
///
/// ```
/// use topobroker_binding::{Target, bind, binding};
/// let pus = binding(Target::ThisThread)?;
/// bind(Target::ThisThread, &pus.singlify())?;
/// assert_eq!(binding(Target::ThisThread)?.weight(), Some(1));
/// # Ok::<(), topobroker_binding::BindError>(())
/// ```
///
/// # Errors
///
/// [`BindError`]. Of several threads, some may have been bound.
#[doc(alias = "hwloc_set_cpubind")]
pub fn bind(target: Target, pus: &Set) -> Result<(), BindError> {
    const WHAT: &str = "PUs";
    /// Most times that the threads are looked at. A thread that a bound one starts is bound from
    /// the start, so that two are enough unless threads start others and end.
    const MOST_LOOKS: u32 = 100;
    let words = words(pus, WHAT)?;
    let mut looked_at = BTreeSet::new();
    // What the kernel has made of the set.
    let mut bound: Option<Vec<u64>> = None;
    for _ in 0..MOST_LOOKS {
        let threads = target.threads()?;
        let is_bound = |thread| bound.is_some() && kernel::affinity(thread).ok() == bound;
        let is_new = |thread: &u32| !looked_at.contains(thread) && !is_bound(*thread);
        let new: Vec<u32> = threads.iter().copied().filter(is_new).collect();
        if new.is_empty() {
            return Ok(());
        }
        for thread in new {
            match kernel::set_affinity(thread, &words) {
                Ok(()) => bound = bound.or_else(|| kernel::affinity(thread).ok()),
                // A thread of a process may have ended meanwhile.
                Err(error) if has_ended(&error) && threads.len() > 1 => {}
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                    return Err(BindError::Set { what: WHAT, set: Box::new(pus.clone()) });
                }
                Err(error) => return Err(target.failed("be bound", error)),
            }
        }
        looked_at.extend(threads);
    }
    Err(target.failed("be bound", io::Error::other("its threads start others faster than that")))
}

/// PUs that a thread may run on; of a process, those of any of its threads. Counterpart:
/// `hwloc_get_cpubind`.
///
/// # Errors
///
/// [`BindError::Kernel`].
#[doc(alias = "hwloc_get_cpubind")]
pub fn binding(target: Target) -> Result<Set, BindError> {
    let mut all = Set::new();
    for thread in target.threads()? {
        match kernel::affinity(thread) {
            Ok(words) => all |= &set(&words),
            Err(error) if target.may_lose(&error) => {}
            Err(error) => return Err(target.failed("report its PUs", error)),
        }
    }
    Ok(all)
}

/// PUs on which a thread, or the threads of a process, ran last. They may run elsewhere already.
/// Counterpart: `hwloc_get_last_cpu_location`.
///
/// # Errors
///
/// [`BindError::Kernel`].
#[doc(alias = "hwloc_get_last_cpu_location")]
pub fn last_location(target: Target) -> Result<Set, BindError> {
    let mut pus = Set::new();
    for thread in target.threads()? {
        let file = match (target, thread) {
            (Target::ThisThread, _) => "/proc/thread-self/stat".to_owned(),
            (_, thread) => format!("/proc/{thread}/stat"),
        };
        match std::fs::read(&file) {
            Ok(stat) => pus.insert(last_pu(&String::from_utf8_lossy(&stat)).ok_or_else(|| {
                target.failed("report where it ran", io::Error::other(format!("{file} has no PU")))
            })?),
            Err(error) if target.may_lose(&error) => {}
            Err(error) => return Err(target.failed("report where it ran", error)),
        }
    }
    Ok(pus)
}

/// The 39th field of a `stat` file. The second one is a name in parentheses, which may have spaces,
/// parentheses, and bytes that are not UTF-8.
fn last_pu(stat: &str) -> Option<u32> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(39 - 3)?.parse().ok()
}

/// The words of a set that ends, as the kernel takes them.
pub(super) fn words(set: &Set, what: &'static str) -> Result<Vec<u64>, BindError> {
    if set.is_infinite() {
        return Err(BindError::Infinite { what, set: Box::new(set.clone()) });
    }
    Ok(set.words().to_vec())
}

pub(super) fn set(words: &[u64]) -> Set {
    Set::from_words(words.iter().copied(), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_pu_is_found_behind_any_name() {
        let fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
        let stat = format!("17 (a b) c) {}", fields.join(" "));
        assert_eq!(last_pu(&stat), Some(39));
        assert_eq!(last_pu("17 (short) 1 2"), None);
    }

    #[test]
    fn a_thread_is_bound_and_runs_where_it_is_bound() {
        std::thread::spawn(|| {
            let before = binding(Target::ThisThread).unwrap();
            for pu in before.iter().take(4) {
                let one: Set = [pu].into_iter().collect();
                bind(Target::ThisThread, &one).unwrap();
                assert_eq!(binding(Target::ThisThread).unwrap(), one);
                assert_eq!(topobroker_reader::jobs::affinity().unwrap(), one);
                assert_eq!(last_location(Target::ThisThread).unwrap(), one);
            }
            assert!(before.is_included_in(&binding(Target::ThisProcess).unwrap()));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn what_the_kernel_cannot_bind_is_named() {
        let far: Set = [65_000].into_iter().collect();
        assert!(
            matches!(bind(Target::ThisThread, &far), Err(BindError::Set { set, .. }) if *set == far)
        );
        assert!(matches!(bind(Target::ThisThread, &Set::new()), Err(BindError::Set { .. })));
        assert!(matches!(bind(Target::ThisThread, &!&far), Err(BindError::Infinite { .. })));
        let gone = bind(Target::Process(u32::MAX / 2), &far).unwrap_err().to_string();
        assert_eq!(gone, "process 2147483647: cannot be found");
    }
}
