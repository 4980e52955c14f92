//! What a job wants beyond the limits of the process that adds it, which may start its ranks.

use topobroker_layout::set::{Format, Set};
use topobroker_reader::View;
use topobroker_reader::jobs::{Cgroup, CpuQuota};

/// What is to be said of a job with PUs that the cgroup of this process does not leave it.
pub(super) fn beyond_cgroup(view: &View<'_>) -> anyhow::Result<Option<String>> {
    let Some(cgroup) = Cgroup::of_this_process()? else { return Ok(None) };
    let pus = view.topology().root().cpuset().unwrap_or_default();
    let is_beyond = view.topology().is_this_system() && !pus.is_included_in(&cgroup.cpus);
    let list = |set: &Set| set.to_text(Format::List);
    Ok(is_beyond.then(|| {
        format!(
            "it has the PUs {}, and the cgroup {} leaves {}: ranks that are started here cannot \
             be bound to the others",
            list(&pus),
            cgroup.path,
            list(&cgroup.cpus)
        )
    }))
}

/// What is to be said of more ranks than the quota of the cgroup of this process is enough for.
pub(super) fn beyond_quota(ranks: usize) -> anyhow::Result<Option<String>> {
    Ok(CpuQuota::of_this_process()?.and_then(|quota| quota.note(ranks, "ranks")))
}
