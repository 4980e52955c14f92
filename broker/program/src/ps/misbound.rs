//! What is wrong with where processes run.

use super::process::{Process, memory_by_node};
use crate::output::in_line;
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
pub(super) type ProcessOfJob = (Process, Option<Job<'static>>);

/// Least memory of a process on other NUMA nodes that is worth a word.
const LEAST_BYTES: u64 = 16 << 20;

/// What is wrong with each of some processes.
pub(super) fn misbound(topology: Topology<'_>, processes: &[ProcessOfJob]) -> Vec<Vec<Misbound>> {
    let cores = ranks_of_cores(topology, processes);
    let of = |member: &ProcessOfJob| {
        let (process, job) = member;
        let outside = job.and_then(|job| outside(process, job));
        let mut on =
            cores_of(topology, process).into_iter().filter_map(|core| cores.get(&core.id()));
        let crowd = on.find_map(|ranks| crowd(member, ranks));
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

/// The cores that a bound process may run on.
fn cores_of<'a>(topology: Topology<'a>, process: &Process) -> Vec<Object<'a>> {
    let is_on = |core: &Object<'a>| process.is_bound && core.intersects(&process.pus);
    topology.objects_with_type(ObjectType::Core).filter(is_on).collect()
}

/// What launched a process, and its rank.
type Seat = (Option<String>, u32);

fn seat((process, job): &ProcessOfJob) -> Option<Seat> {
    let launch = process.launch.clone().or_else(|| job.map(|job| job.name().to_owned()));
    Some((launch, process.rank?))
}

/// A rank on a core.
struct Bound {
    seat: Seat,
    pus: Set,
    /// Whether it is bound within the core.
    is_on_one_core: bool,
}

/// The ranks that are bound to each core, among others.
fn ranks_of_cores(topology: Topology<'_>, processes: &[ProcessOfJob]) -> BTreeMap<u32, Vec<Bound>> {
    let mut cores: BTreeMap<u32, Vec<Bound>> = BTreeMap::new();
    for member in processes {
        let Some(seat) = seat(member) else { continue };
        let on = cores_of(topology, &member.0);
        for core in &on {
            let (seat, pus) = (seat.clone(), member.0.pus.clone());
            let bound = Bound { seat, pus, is_on_one_core: on.len() == 1 };
            cores.entry(core.id()).or_default().push(bound);
        }
    }
    cores
}

/// Several ranks are on a core that was not given to both. Ranks of one launch may share cores, as
/// those that are bound to a package do, but not a hardware thread of one core.
fn crowd(member: &ProcessOfJob, ranks: &[Bound]) -> Option<Misbound> {
    let own = seat(member)?;
    let (process, job) = member;
    let given = |rank| job.and_then(|job| job.rank(rank)?.cpuset);
    let is_meant = |other: &Bound| {
        let is_given = || {
            given(other.seat.1).is_some_and(|it| it == other.pus)
                && given(own.1).is_some_and(|it| it == process.pus)
        };
        let is_on_one_core = other.is_on_one_core && other.pus.intersects(&process.pus);
        other.seat.0 == own.0 && (is_given() || !is_on_one_core)
    };
    let (launch, rank) = &ranks.iter().find(|it| it.seat != own && !is_meant(it))?.seat;
    let other = launch.as_ref().filter(|_| *launch != own.0);
    let of = other.map(|launch| format!(" of {}", in_line(launch))).unwrap_or_default();
    Some(Misbound { kind: "shared core", text: format!("shares a core with rank {rank}{of}") })
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
