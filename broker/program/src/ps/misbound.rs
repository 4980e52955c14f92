//! What is wrong with where processes run.

use super::process::{Process, memory_by_node};
use std::collections::BTreeMap;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::jobs::Job;
use topobroker_reader::{Object, ObjectType, Topology};

/// Something that is wrong with where a process runs.
pub(super) struct Misbound {
    /// Its name in JSON.
    pub(super) kind: &'static str,
    pub(super) text: String,
}

/// A process, and the job that it is in.
pub(super) type Member = (Process, Option<Job<'static>>);

/// Least memory of a process on other NUMA nodes that is worth a word.
const LEAST_BYTES: u64 = 16 << 20;

/// What is wrong with each of some processes.
pub(super) fn misbound(topology: Topology<'_>, processes: &[Member]) -> Vec<Vec<Misbound>> {
    let cores = ranks_of_cores(topology, processes);
    let of = |member: &Member| {
        let (process, job) = member;
        let outside = job.and_then(|job| outside(process, job));
        let crowd =
            core_of(topology, process).and_then(|core| crowd(member, cores.get(&core.id())?));
        [outside, crowd, far_memory(topology, process)].into_iter().flatten().collect()
    };
    processes.iter().map(of).collect()
}

/// A rank may run on PUs that it was not given.
fn outside(process: &Process, job: Job<'_>) -> Option<Misbound> {
    let list = |set: &Set| set.to_text(Format::List);
    let of_job = || job.view().topology().root().cpuset().unwrap_or_default();
    let rank = process.rank.and_then(|rank| job.rank(rank));
    let (whose, part) = match rank.and_then(|it| Some((it.rank, it.cpuset?))) {
        Some((rank, part)) => (format!("rank {rank}"), part),
        None => (format!("job {}", job.name()), of_job()),
    };
    (!process.pus.is_included_in(&part)).then(|| Misbound {
        kind: "outside",
        text: format!("may run on PUs {}, but {whose} has PUs {}", list(&process.pus), list(&part)),
    })
}

/// The core that a process is bound within.
fn core_of<'a>(topology: Topology<'a>, process: &Process) -> Option<Object<'a>> {
    let mut cores = topology.objects_with_type(ObjectType::Core);
    cores.find(|core| core.covers(&process.pus)).filter(|_| process.is_bound)
}

/// Job and rank of a process.
type Seat = (Option<String>, u32);

fn seat((process, job): &Member) -> Option<Seat> {
    Some((job.map(|job| job.name().to_owned()), process.rank?))
}

/// The ranks that are bound within each core.
fn ranks_of_cores(topology: Topology<'_>, processes: &[Member]) -> BTreeMap<u32, Vec<(Seat, Set)>> {
    let mut cores: BTreeMap<u32, Vec<(Seat, Set)>> = BTreeMap::new();
    for member in processes {
        if let (Some(seat), Some(core)) = (seat(member), core_of(topology, &member.0)) {
            cores.entry(core.id()).or_default().push((seat, member.0.pus.clone()));
        }
    }
    cores
}

/// Several ranks are on a core, which their job did not put there.
fn crowd(member: &Member, ranks: &[(Seat, Set)]) -> Option<Misbound> {
    let own = seat(member)?;
    let (process, job) = member;
    let given = |rank| job.and_then(|job| job.rank(rank)?.cpuset);
    // Ranks of a job that has them on hardware threads of their own are where they are to be.
    let is_meant = |(seat, pus): &(Seat, Set)| {
        seat.0 == own.0
            && !pus.intersects(&process.pus)
            && given(seat.1).is_some_and(|it| it == *pus)
            && given(own.1).is_some_and(|it| it == process.pus)
    };
    let (job, rank) = &ranks.iter().find(|it| it.0 != own && !is_meant(it))?.0;
    let job = job.as_ref().map(|job| format!(" of job {job}")).unwrap_or_default();
    Some(Misbound { kind: "shared core", text: format!("shares a core with rank {rank}{job}") })
}

/// Most memory of a bound process is on NUMA nodes that are not local to its PUs.
fn far_memory(topology: Topology<'_>, process: &Process) -> Option<Misbound> {
    if !process.is_bound {
        return None;
    }
    far(&topology.nodeset_of(&process.pus), memory_by_node(process.id))
}

fn far(local: &Set, memory: Vec<(u32, u64)>) -> Option<Misbound> {
    let (near, far): (Vec<_>, Vec<_>) =
        memory.into_iter().partition(|(node, _)| local.contains(*node));
    let sum = |nodes: &[(u32, u64)]| nodes.iter().map(|(_, bytes)| bytes).sum::<u64>();
    (sum(&far) >= LEAST_BYTES && sum(&far) > sum(&near)).then(|| {
        let nodes: Set = far.iter().map(|(node, _)| *node).collect();
        Misbound {
            kind: "far memory",
            text: format!(
                "has {} MB of its {} MB on NUMA node {}, and runs at NUMA node {}",
                sum(&far) >> 20,
                (sum(&far) + sum(&near)) >> 20,
                nodes.to_text(Format::List),
                local.to_text(Format::List),
            ),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_far_if_most_of_it_is_on_other_nodes_and_it_is_worth_a_word() {
        let local: Set = [1].into_iter().collect();
        let text = |memory: &[(u32, u64)]| far(&local, memory.to_vec()).map(|it| it.text);
        let megabytes = 1 << 20;
        assert_eq!(
            text(&[(0, 48 * megabytes), (1, 16 * megabytes)]).unwrap(),
            "has 48 MB of its 64 MB on NUMA node 0, and runs at NUMA node 1"
        );
        assert_eq!(text(&[(0, 48 * megabytes), (1, 64 * megabytes)]), None);
        assert_eq!(text(&[(0, 8 * megabytes)]), None);
    }
}
