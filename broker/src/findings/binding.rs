//! Findings about the binding of ranks to NICs.

use super::devices;
use super::finding::{Finding, FindingKind, ranks_are};
use std::collections::BTreeMap;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::{
    Object, ObjectType, Topology,
    devices::{Nearness, NetworkId, NicChoice},
    jobs::{Job, JobRank},
};

/// What is wrong with where the ranks of a job are bound. Ranks are *far* if not one of their PUs
/// is as near to a NIC as other PUs of the job are, and *split* if only some are. It is only a note
/// if those PUs have other ranks already. Ranks that are not bound have one note together. `node`
/// is the topology that the job is over. NICs are those of the job's network that are known to be
/// active, and those that the ranks were given.
///
/// ```no_run
/// use topobroker_reader::jobs::Job;
/// let topology = topobroker_reader::adopt()?;
/// if let Some(job) = Job::find(topology)? {
///     for finding in topobroker::findings::binding(topology.topology(), job) {
///         eprintln!("{finding}");
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn binding(node: Topology<'_>, job: Job<'_>) -> Vec<Finding> {
    let all = job.view().topology().root().cpuset().unwrap_or_default();
    let has_place = |nic: &Object<'_>| node.device_path(&all, *nic).nearness != Nearness::Unknown;
    let given: Vec<Object<'_>> =
        job.ranks().flat_map(|it| job.nics(it.rank).collect::<Vec<_>>()).collect();
    // Those of the network that the job uses; a job without NICs would use the first one.
    let used = given.first().and_then(|nic| NetworkId::of(*nic));
    let mut networks = node.networks(NicChoice::Active).into_iter();
    let network = networks.find(|network| used.is_none_or(|used| network.id == used));
    let mut nics: Vec<Object<'_>> = Vec::new();
    for nic in network.into_iter().flat_map(|it| it.nics).chain(given).filter(has_place) {
        if !nics.contains(&nic) {
            nics.push(nic);
        }
    }
    let of_devices = devices::of_job(node, job);
    let Some(best) = best_pus(&nics, &all) else {
        return several_networks(job).into_iter().chain(of_devices).collect();
    };
    let mut misplaced: BTreeMap<(FindingKind, u32), Misplaced<'_>> = BTreeMap::new();
    let (mut unbound, mut taken) = (Vec::new(), Set::new());
    for JobRank { rank, cpuset, .. } in job.ranks() {
        let Some(cpuset) = cpuset else {
            unbound.push(rank);
            continue;
        };
        if cpuset.is_included_in(&best) {
            taken = &taken | &cpuset;
            continue;
        }
        let kind = if cpuset.intersects(&best) { FindingKind::Split } else { FindingKind::Far };
        // A job may have been added before its NICs were known to be active.
        let Some(nic) = job.nics(rank).chain(nics.iter().copied()).next() else { continue };
        let together = misplaced.entry((kind, nic.id())).or_insert_with(|| Misplaced::of(nic));
        together.add(rank, &cpuset, node);
    }
    let found = misplaced.iter().map(|((kind, _), ranks)| ranks.finding(*kind, &best, &taken));
    let mut findings: Vec<Finding> = found.collect();
    findings.extend(several_networks(job));
    findings.extend(of_devices);
    if !unbound.is_empty() {
        let text = format!("{} not bound, and may run far from every NIC", ranks_are(&unbound));
        findings.push(Finding::note(FindingKind::Unbound, text));
    }
    findings
}

/// Ranks of a job have NICs of several networks. A job is given NICs of one network, unless its
/// launcher chose NICs itself.
fn several_networks(job: Job<'_>) -> Option<Finding> {
    let mut networks: BTreeMap<NetworkId, Vec<u32>> = BTreeMap::new();
    for JobRank { rank, .. } in job.ranks() {
        for network in job.nics(rank).filter_map(NetworkId::of) {
            let ranks = networks.entry(network).or_default();
            if ranks.last() != Some(&rank) {
                ranks.push(rank);
            }
        }
    }
    let of =
        |(network, ranks): (&NetworkId, &Vec<u32>)| format!("{} on {network}", ranks_are(ranks));
    let list: Vec<String> = networks.iter().map(of).collect();
    let text = format!(
        "{}: these networks do not reach each other; add the job again with --network",
        list.join(", ")
    );
    (networks.len() > 1).then(|| Finding::new(FindingKind::Networks, text))
}

/// The PUs of a job that are as near to a NIC as any are: local to one, otherwise on the package of
/// one. `None` if all are equally far.
fn best_pus(nics: &[Object<'_>], all: &Set) -> Option<Set> {
    let local = union(nics.iter().map(|nic| nic.non_io_ancestor()));
    let packages = union(nics.iter().filter_map(|nic| nic.ancestor_with_type(ObjectType::Package)));
    [&local & all, &packages & all].into_iter().find(|pus| !pus.is_empty())
}

fn union<'a>(objects: impl Iterator<Item = Object<'a>>) -> Set {
    objects.fold(Set::new(), |all, object| &all | &object.cpuset().unwrap_or_default())
}

/// Ranks that are misplaced alike, and have the same NIC.
struct Misplaced<'a> {
    nic: Object<'a>,
    ranks: Vec<u32>,
    pus: Set,
    /// The least and the greatest NUMA latency.
    latencies: Option<(u64, u64)>,
}

impl<'a> Misplaced<'a> {
    fn of(nic: Object<'a>) -> Self {
        Self { nic, ranks: Vec::new(), pus: Set::new(), latencies: None }
    }

    fn add(&mut self, rank: u32, cpuset: &Set, node: Topology<'a>) {
        self.ranks.push(rank);
        self.pus = &self.pus | cpuset;
        if let Some(latency) = node.device_path(cpuset, self.nic).latency {
            let (least, most) = self.latencies.unwrap_or((latency, latency));
            self.latencies = Some((least.min(latency), most.max(latency)));
        }
    }

    fn finding(&self, kind: FindingKind, best: &Set, taken: &Set) -> Finding {
        let list = |set: &Set| set.to_text(Format::List);
        let how = match kind {
            FindingKind::Split => {
                format!("of which only {} are near a NIC", list(&(&self.pus & best)))
            }
            _ => "far from every NIC".to_owned(),
        };
        let latency = match self.latencies {
            None => String::new(),
            Some((least, most)) if least == most => format!(" is at NUMA latency {least}, and"),
            Some((least, most)) => format!(" is at NUMA latency {least} to {most}, and"),
        };
        let place = self.nic.non_io_ancestor().cpuset().unwrap_or_default();
        let is_full = best.is_included_in(taken);
        let advice = match is_full {
            true => format!("the PUs near a NIC, {}, have ranks already", list(best)),
            false => format!("bind to PUs of {}, which are near a NIC", list(best)),
        };
        let text = format!(
            "{} bound to PUs {}, {how}: {}{latency} is local to PUs {}; {advice}",
            ranks_are(&self.ranks),
            list(&self.pus),
            self.nic.name().unwrap_or("-"),
            list(&place)
        );
        if is_full { Finding::note(kind, text) } else { Finding::new(kind, text) }
    }
}
