//! Findings about the binding of ranks to NICs.

use super::finding::{Finding, Kind};
use std::collections::BTreeMap;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::{Job, JobRank, Nearness, NicChoice, Object, ObjectType, Topology};

/// What is wrong with where the ranks of a job are bound. A rank is *far* if none of its PUs is as near
/// to a NIC as other PUs of the job are, and *split* if only some are. Ranks that are not bound have
/// one note together. `node` is the topology that the job is over.
///
/// ```no_run
/// use topobroker_reader::{Job, NicChoice};
/// let topology = topobroker_reader::adopt()?;
/// if let Some(job) = Job::find(topology)? {
///     for finding in topobroker::findings::binding(topology.topology(), job, NicChoice::Active) {
///         eprintln!("{finding}");
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn binding(node: Topology<'_>, job: Job<'_>, choice: NicChoice) -> Vec<Finding> {
    let all = job.view().topology().root().cpuset().unwrap_or_default();
    let has_place = |nic: &Object<'_>| node.device_path(&all, *nic).nearness != Nearness::Unknown;
    let nics: Vec<Object<'_>> = node.nics(choice).filter(has_place).collect();
    if nics.is_empty() {
        return Vec::new();
    }
    // Like wrong ranks have one finding together.
    let mut wrong: BTreeMap<(Kind, String), Vec<u32>> = BTreeMap::new();
    let mut unbound = Vec::new();
    for JobRank { rank, cpuset, .. } in job.ranks() {
        let Some(cpuset) = cpuset else {
            unbound.push(rank);
            continue;
        };
        // A job may have been added before its NICs were known to be active.
        let nic = job.nics(rank).chain(nics.iter().copied()).next();
        let found = nic.and_then(|nic| misplaced(&cpuset, &all, &nics, nic));
        if let Some(wrongly) = found {
            wrong.entry(wrongly).or_default().push(rank);
        }
    }
    let found = |((kind, text), ranks): ((Kind, String), Vec<u32>)| {
        Finding::new(kind, format!("{} {text}", ranks_named(&ranks)))
    };
    let mut findings: Vec<Finding> = wrong.into_iter().map(found).collect();
    if !unbound.is_empty() {
        let (ranks, are) = (ranks_named(&unbound), if unbound.len() == 1 { "is" } else { "are" });
        let text = format!("{ranks} {are} not bound, and may run far from every NIC");
        findings.push(Finding::note(Kind::Unbound, text));
    }
    findings
}

/// How a rank with these PUs is misplaced among the PUs of its job.
fn misplaced(own: &Set, all: &Set, nics: &[Object<'_>], nic: Object<'_>) -> Option<(Kind, String)> {
    let pus = |object: Object<'_>| object.cpuset().unwrap_or_default();
    let local = union(nics.iter().map(|nic| pus(nic.non_io_ancestor())));
    let packages = nics.iter().filter_map(|nic| nic.ancestor_with_type(ObjectType::Package));
    let on_packages = union(packages.map(pus));
    // The PUs of the job that are as near as any are, if this rank has not all of the best.
    let nearer = [&local & all, &on_packages & all];
    let nearer = nearer.iter().find(|near| !near.is_empty() && !own.is_included_in(near))?;
    let list = |set: &Set| set.to_text(Format::List);
    let (kind, how) = match own.intersects(nearer) {
        false => (Kind::Far, "far from every NIC".to_owned()),
        true => (Kind::Split, format!("of which only {} are near a NIC", list(&(own & nearer)))),
    };
    let latency = nic.topology().device_path(own, nic).latency;
    let latency = latency.map(|it| format!(" (NUMA latency {it})")).unwrap_or_default();
    let text = format!(
        "bound to PUs {}, {how}: {}{latency} is local to PUs {}; near a NIC are PUs {} of the job: bind there",
        list(own),
        nic.name().unwrap_or("-"),
        list(&pus(nic.non_io_ancestor())),
        list(nearer)
    );
    Some((kind, text))
}

fn union(sets: impl Iterator<Item = Set>) -> Set {
    sets.fold(Set::new(), |all, set| &all | &set)
}

/// Ranks as users name them: `rank 3`, `ranks 0-3,7`.
fn ranks_named(ranks: &[u32]) -> String {
    let mut ranks = ranks.to_vec();
    ranks.sort_unstable();
    let follow = |one: &u32, next: &u32| one.checked_add(1) == Some(*next);
    let runs = ranks.chunk_by(follow).filter_map(|run| run.first().zip(run.last()));
    let named = runs.map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    let list = named.collect::<Vec<_>>().join(",");
    if ranks.len() == 1 { format!("rank {list}") } else { format!("ranks {list}") }
}
