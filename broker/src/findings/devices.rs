//! Findings about the GPUs and NICs that ranks were given.

use super::finding::{Finding, FindingKind, ranks_are};
use crate::nics::NicFilter;
use std::collections::BTreeMap;
use topobroker_reader::{
    Object, Topology,
    devices::NicChoice,
    jobs::{Job, JobRank},
};

/// GPUs that are idle while ranks share others, ranks without a NIC, and ranks for which a nearer
/// NIC is down.
pub(super) fn of_job(node: Topology<'_>, job: Job<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(idle_gpus(node, job));
    findings.extend(no_network(node, job));
    findings.extend(nearer_and_down(node, job));
    findings
}

fn idle_gpus(node: Topology<'_>, job: Job<'_>) -> Option<Finding> {
    let gpus: Vec<Object<'_>> = node.gpus().collect();
    let ranks_of = |gpu: &Object<'_>| -> Vec<u32> {
        job.ranks().map(|it| it.rank).filter(|rank| job.gpus(*rank).any(|it| it == *gpu)).collect()
    };
    let parts = |gpu: &Object<'_>| gpu.mig_instances().count().max(gpu.tiles()).max(1);
    let with_ranks: Vec<_> = gpus.iter().map(|gpu| (gpu, ranks_of(gpu))).collect();
    let idle = with_ranks.iter().filter(|(_, ranks)| ranks.is_empty());
    let idle: Vec<_> = idle.map(|(gpu, _)| gpu.device_name()).collect();
    let shared = with_ranks.iter().filter(|(gpu, ranks)| ranks.len() > parts(gpu));
    let shared: Vec<String> = shared
        .map(|(gpu, ranks)| format!("{} on {}", ranks_are(ranks), gpu.device_name()))
        .collect();
    let text = format!(
        "{}, and {} idle; with --map-by core each rank gets a free one",
        shared.join(", "),
        match &idle[..] {
            [one] => format!("{one} is"),
            several => format!("{} are", several.join(", ")),
        }
    );
    (!idle.is_empty() && !shared.is_empty()).then(|| Finding::new(FindingKind::IdleGpu, text))
}

fn no_network(node: Topology<'_>, job: Job<'_>) -> Option<Finding> {
    let mut nics = job.ranks().map(|it| job.nics(it.rank).next());
    if job.ranks().next().is_none() || nics.any(|nic| nic.is_some()) {
        return None;
    }
    let why = NicFilter::default().why_none(node, NicChoice::Active)?;
    Some(Finding::note(FindingKind::NoNetwork, format!("ranks have no NIC: {why}")))
}

/// Ranks for which a NIC is nearer than their own, and down. Those with the same two NICs are one
/// finding.
fn nearer_and_down(node: Topology<'_>, job: Job<'_>) -> Vec<Finding> {
    let mut found: BTreeMap<(u32, u32), (Object<'_>, Object<'_>, Vec<u32>)> = BTreeMap::new();
    for JobRank { rank, cpuset, .. } in job.ranks() {
        let (Some(cpuset), Some(own)) = (cpuset, job.nics(rank).next()) else { continue };
        if let Some(nearer) = node.nearer_but_down(&cpuset, own) {
            let entry = found.entry((own.id(), nearer.id()));
            entry.or_insert((own, nearer, Vec::new())).2.push(rank);
        }
    }
    let finding = |(own, nearest, ranks): (Object<'_>, Object<'_>, Vec<u32>)| {
        let (own, nearest) = (own.device_name(), nearest.device_name());
        let text = format!("{} on {own}: {nearest} is nearer, and down", ranks_are(&ranks));
        Finding::note(FindingKind::Down, text)
    };
    found.into_values().map(finding).collect()
}
