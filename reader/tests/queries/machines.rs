//! Machines that are described here, without hwloc.

use topobroker_layout::attributes::Attributes;
use topobroker_layout::depth::Depth;
use topobroker_layout::description::{Description, Object, Sets};
use topobroker_layout::encode::{AlignedVec, to_bytes};
use topobroker_reader::{ObjectType, Set};

#[path = "../../../layout/tests/it/machine.rs"]
#[allow(dead_code, reason = "the same machine as in the tests of the archive")]
mod small;

/// A small machine with an object of every kind.
pub(crate) fn small() -> AlignedVec {
    to_bytes(&small::machine()).unwrap()
}

/// Packages of cores of two PUs, with a NUMA node for each package. The PUs have an interleaved SMT
/// numbering: all first hardware threads, then all second ones.
pub(crate) fn regular(packages: u32, cores: u32) -> AlignedVec {
    let mut machine = Description::default();
    let all = packages * cores;
    let sets = |cores: std::ops::Range<u32>| -> Option<Sets> {
        let cpuset: Set = cores.clone().chain(cores.start + all..cores.end + all).collect();
        let nodeset: Set =
            (cores.start / (all / packages)..cores.end.div_ceil(all / packages)).collect();
        let (complete_cpuset, complete_nodeset) = (cpuset.clone(), nodeset.clone());
        Some(Sets { cpuset, complete_cpuset, nodeset, complete_nodeset })
    };
    let mut add = |kind, depth, index, os_index, parent, sets| {
        add(&mut machine, kind, depth, index, os_index, parent, sets)
    };
    let root = add(ObjectType::Machine, 0, 0, None, None, sets(0..all));
    for package in 0..packages {
        let first = package * cores;
        let of_package = sets(first..first + cores);
        let place =
            add(ObjectType::Package, 1, package, Some(package), Some(root), of_package.clone());
        for core in first..first + cores {
            let of_core =
                add(ObjectType::Core, 2, core, Some(core), Some(place), sets(core..core + 1));
            for thread in 0..2 {
                let os_index = core + thread * all;
                let own = sets(core..core + 1).map(|sets| Sets {
                    cpuset: [os_index].into_iter().collect(),
                    complete_cpuset: [os_index].into_iter().collect(),
                    ..sets
                });
                add(ObjectType::PU, 3, core * 2 + thread, Some(os_index), Some(of_core), own);
            }
        }
        add(ObjectType::NUMANode, -3, package, Some(package), Some(place), of_package);
    }
    let own = machine.objects[root].sets.clone().unwrap();
    (machine.allowed_cpuset, machine.allowed_nodeset) = (own.cpuset, own.nodeset);
    to_bytes(&machine).unwrap()
}

/// A machine of two packages. The PUs of the first one, 8 and 9, are in sets but are no objects.
/// The second one has PUs 0 and 1.
pub(crate) fn with_unknown_pus() -> AlignedVec {
    let mut machine = Description::default();
    let mut add = |kind, depth, index, parent, cpus: &[u32]| {
        let os_index = cpus.first().copied().filter(|_| kind == ObjectType::PU);
        add(&mut machine, kind, depth, index, os_index, parent, sets_of(cpus.iter().copied()))
    };
    let root = add(ObjectType::Machine, 0, 0, None, &[0, 1, 8, 9]);
    let unknown = add(ObjectType::Package, 1, 0, Some(root), &[8, 9]);
    add(ObjectType::Core, 2, 0, Some(unknown), &[]);
    let known = add(ObjectType::Package, 1, 1, Some(root), &[0, 1]);
    let core = add(ObjectType::Core, 2, 1, Some(known), &[0, 1]);
    add(ObjectType::PU, 3, 0, Some(core), &[0]);
    add(ObjectType::PU, 3, 1, Some(core), &[1]);
    add(ObjectType::NUMANode, -3, 0, Some(root), &[0, 1, 8, 9]);
    machine.allowed_cpuset = [0, 1].into_iter().collect();
    machine.allowed_nodeset = [0].into_iter().collect();
    to_bytes(&machine).unwrap()
}

/// A machine with cores in a package and cores directly below the root. So the children of the root
/// are on two levels, and their numbers do not ascend. The second package has a PU and no core.
pub(crate) fn lopsided() -> AlignedVec {
    let mut machine = Description::default();
    let mut add = |kind, depth, index, os_index, parent, cpus: std::ops::Range<u32>| {
        add(&mut machine, kind, depth, index, os_index, parent, sets_of(cpus))
    };
    let root = add(ObjectType::Machine, 0, 0, None, None, 0..5);
    let first = add(ObjectType::Core, 2, 0, Some(0), Some(root), 0..1);
    let package = add(ObjectType::Package, 1, 0, Some(0), Some(root), 1..3);
    let second = add(ObjectType::Core, 2, 1, Some(1), Some(package), 1..2);
    let third = add(ObjectType::Core, 2, 2, Some(2), Some(package), 2..3);
    let other = add(ObjectType::Package, 1, 1, Some(1), Some(root), 3..4);
    let last = add(ObjectType::Core, 2, 3, Some(3), Some(root), 4..5);
    for (parent, pu) in [first, second, third, other, last].into_iter().zip(0..) {
        add(ObjectType::PU, 3, pu, Some(pu), Some(parent), pu..pu + 1);
    }
    add(ObjectType::NUMANode, -3, 0, Some(0), Some(root), 0..5);
    machine.allowed_cpuset = (0..5).collect();
    machine.allowed_nodeset = [0].into_iter().collect();
    to_bytes(&machine).unwrap()
}

/// Sets of some PUs, with NUMA node 0.
fn sets_of(cpus: impl IntoIterator<Item = u32>) -> Option<Sets> {
    let (cpuset, nodeset): (Set, Set) = (cpus.into_iter().collect(), [0].into_iter().collect());
    let (complete_cpuset, complete_nodeset) = (cpuset.clone(), nodeset.clone());
    Some(Sets { cpuset, complete_cpuset, nodeset, complete_nodeset })
}

fn add(
    machine: &mut Description,
    object_type: ObjectType,
    depth: i32,
    logical_index: u32,
    os_index: Option<u32>,
    parent: Option<usize>,
    sets: Option<Sets>,
) -> usize {
    let place = machine.objects.len();
    let attributes = match object_type {
        ObjectType::NUMANode => Attributes::NumaNode { local_memory: 1 << 30 },
        _ => Attributes::None,
    };
    machine.objects.push(Object {
        object_type,
        depth: Depth::from_raw(depth).unwrap(),
        logical_index,
        os_index,
        gp_index: place as u64,
        attributes,
        symmetric_subtree: true,
        sets,
        parent,
        ..Object::default()
    });
    if let Some(parent) = parent {
        machine.objects[parent].children.push(place);
    }
    place
}
