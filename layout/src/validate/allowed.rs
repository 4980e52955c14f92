//! Checks the allowed sets. The PUs that processes may use are PUs of the machine: the allowed
//! cpuset is within the complete cpuset of the root. Nodesets have no such rule because hwloc does
//! not demand it: the XML of machines without NUMA nodes breaks it.

use super::levels::Counts;
use super::rule::ensure;
use crate::archive::{ArchivedSetTable, ArchivedTopology, CPUSET_OF_PUS, INDEX_LIMIT, SAME_SET};
use crate::error::ValidationError;
use crate::stored_set::StoredWords;

/// Checks the allowed sets of a topology. Its table of sets must have been checked before.
pub(super) fn check(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    let (sets, machine) = (&topology.sets, &topology.machine);
    let allowed = [&machine.allowed_cpuset, &machine.allowed_nodeset];
    let [cpuset, nodeset] = allowed.map(|row| row.to_native());
    ensure((cpuset as usize) < counts.sets, "machine.allowed_cpuset", 0, IN_TABLE)?;
    ensure((nodeset as usize) < counts.sets, "machine.allowed_nodeset", 0, IN_TABLE)?;
    let Some(of_root) = (topology.objects.sets.get_u32(0) as usize).checked_sub(1) else {
        return Ok(());
    };
    let complete = match sets.complete_cpuset.get_u32(of_root) {
        SAME_SET => sets.cpuset.get_u32(of_root),
        complete => complete,
    };
    let has_cpus = match complete {
        CPUSET_OF_PUS => is_within_pus(topology, cpuset),
        complete => is_within(sets, cpuset, complete),
    };
    ensure(has_cpus, "machine.allowed_cpuset", 0, "is within the root's complete cpuset")
}

const IN_TABLE: &str = "is a set of the table";

/// Whether all indexes of a set are OS indexes of PUs.
fn is_within_pus(topology: &ArchivedTopology, set: u32) -> bool {
    let set = StoredWords::new(&topology.sets, set);
    let runs = topology.pu_runs.iter();
    let of_pus = runs.map(|run| {
        let first = u64::from(run.os_first.to_native());
        count(&set, first, first + u64::from(run.count.to_native()))
    });
    !set.is_infinite() && of_pus.sum::<u32>() == count(&set, 0, u64::from(INDEX_LIMIT))
}

fn is_within(sets: &ArchivedSetTable, inner: u32, outer: u32) -> bool {
    let (inner, outer) = (StoredWords::new(sets, inner), StoredWords::new(sets, outer));
    let rest = if inner.is_infinite() { outer.word_count() } else { 0 };
    let end = inner.word_count().max(rest);
    (outer.is_infinite() || !inner.is_infinite())
        && (0..end).all(|index| inner.word(index) & !outer.word(index) == 0)
}

/// Number of indexes of a set in `from..to` that are within its stored words.
fn count(set: &StoredWords<'_>, from: u64, to: u64) -> u32 {
    let word_of = |index: u64| usize::try_from(index / 64).unwrap_or(usize::MAX);
    let words = set.zero_words().max(word_of(from))
        ..set.word_count().min(word_of(to.saturating_sub(1)) + 1);
    let counted = words.map(|index| {
        let first = 64 * index as u64;
        let below = |end: u64| match end.saturating_sub(first) {
            bits @ 0..64 => (1 << bits) - 1,
            _ => u64::MAX,
        };
        (set.word(index) & below(to) & !below(from)).count_ones()
    });
    counted.sum()
}
