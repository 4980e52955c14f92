//! The lowest object that has all PUs of a rank.

use crate::jobs::Job;
use crate::object::Object;
use crate::topology::Topology;
use topobroker_layout::pu_sets::PuSet;

/// Whether all PUs are visible in the job's part of the topology.
pub(super) fn are_visible(topology: Topology<'_>, pus: &PuSet<'_>) -> bool {
    let index = topology.index;
    let (low, high) = pus.bounds();
    match index.contiguous {
        Some((start, end)) => start <= low && high < end,
        None => pus.runs().all(|run| index.visible_run(&run).len() == run.len()),
    }
}

/// The lowest object of the tree of CPUs that has all of some PUs; `None` if they are not all
/// visible.
pub(super) fn lowest<'r>(
    job: Job<'r>,
    topology: Topology<'r>,
    pus: &PuSet<'_>,
) -> Option<Object<'r>> {
    if !are_visible(topology, pus) {
        return None;
    }
    let index = topology.index;
    if !index.is_plain() {
        return topology.covering(&job.cpuset(pus));
    }
    let (low, high) = pus.bounds();
    Some(Object::new(index, index.lowest_with(low, high)))
}
