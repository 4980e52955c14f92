//! Reports what a rank is bound to, in the formats of launchers.

use topobroker_layout::set::{Format, Set};
use topobroker_reader::{Object, ObjectType, Topology};

/// A map of the machine as Open MPI 4 draws it: `[B./../..][../..]`. It has a pair of brackets for
/// each package and a mark for each hardware thread, which is `B` if the rank is bound to it.
/// Returns `NODE` if the rank is bound to all of the topology, and `None` if the topology has no
/// packages.
///
/// ```
/// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../reader/tests/documentation/example_machine.rs"));
/// use topobroker::placement::report;
/// println!("{:?}", report::locale(topology, &[0].into_iter().collect()));
/// ```
#[must_use]
pub fn locale(topology: Topology<'_>, cpuset: &Set) -> Option<String> {
    let all = topology.root().cpuset().unwrap_or_default();
    let packages = packages(topology);
    if packages.is_empty() {
        return None;
    }
    if all.is_included_in(cpuset) { Some("NODE".to_owned()) } else { Some(map(&packages, cpuset)) }
}

/// The line of Open MPI 4's `--report-bindings` for a rank, from the word `rank` on:
/// `rank 0 bound to socket 0[core 0[hwt 0]]: [B./../..][../..]`.
#[must_use]
pub fn open_mpi(topology: Topology<'_>, rank: u32, cpuset: &Set) -> String {
    let packages = packages(topology);
    let all = topology.root().cpuset().unwrap_or_default();
    if is_unbound(cpuset, &all) {
        return format!("rank {rank} is not bound (or bound to all available processors)");
    }
    if !are_in_cores(&packages, cpuset) {
        return format!("rank {rank} bound to PUs {}", cpuset.to_text(Format::List));
    }
    let places = (0..).zip(&packages).flat_map(|(socket, cores)| {
        cores.iter().filter_map(move |core| {
            let bound = |(thread, pu): (u32, &u32)| cpuset.contains(*pu).then_some(thread);
            let threads: Set = (0..).zip(&core.pus).filter_map(bound).collect();
            let list = threads.to_text(Format::List);
            let place = || format!("socket {socket}[core {}[hwt {list}]]", core.index);
            (!threads.is_empty()).then(place)
        })
    });
    let places: Vec<String> = places.collect();
    format!("rank {rank} bound to {}: {}", places.join(", "), map(&packages, cpuset))
}

/// PRRTE's line for a rank: `Rank 0 bound to package[0][core:L0-3]`, with logical indexes of cores,
/// or of hardware threads if the rank is bound to a part of a core.
#[must_use]
pub fn prrte(topology: Topology<'_>, rank: u32, cpuset: &Set) -> String {
    let all = topology.root().cpuset().unwrap_or_default();
    let packages = packages(topology);
    if is_unbound(cpuset, &all) {
        return format!("Rank {rank} is not bound (or bound to all available processors)");
    }
    if !are_in_cores(&packages, cpuset) {
        return format!("Rank {rank} bound to PUs {}", cpuset.to_text(Format::List));
    }
    let is_bound = |pu: &u32| cpuset.contains(*pu);
    let touched = |core: &&Core| core.pus.iter().any(is_bound);
    let cores = || packages.iter().flatten().filter(touched);
    let whole = cores().all(|core| core.pus.iter().all(is_bound));
    let logical = |pu: &u32| topology.pu_by_os_index(*pu).map(Object::logical_index);
    let places = (0..).zip(&packages).filter_map(|(package, cores)| {
        let touched = cores.iter().filter(touched);
        let (name, indexes): (_, Set) = match whole {
            true => ("core", touched.map(|core| core.index).collect()),
            false => {
                let pus = touched.flat_map(|core| core.pus.iter().filter(|pu| is_bound(pu)));
                ("hwt", pus.filter_map(logical).collect())
            }
        };
        let list = indexes.to_text(Format::List);
        (!indexes.is_empty()).then(|| format!("package[{package}][{name}:L{list}]"))
    });
    let places: Vec<String> = places.collect();
    format!("Rank {rank} bound to {}", places.join(" "))
}

/// Whether a rank has all PUs, or none as a rank that is not bound.
fn is_unbound(cpuset: &Set, all: &Set) -> bool {
    cpuset.is_empty() || all.is_included_in(cpuset)
}

/// Whether some of the PUs are in cores of packages: launchers draw nothing else.
fn are_in_cores(packages: &[Vec<Core>], cpuset: &Set) -> bool {
    packages.iter().flatten().flat_map(|core| &core.pus).any(|pu| cpuset.contains(*pu))
}

/// A core: its logical index in the machine, and the OS indexes of its hardware threads.
struct Core {
    index: u32,
    pus: Vec<u32>,
}

/// The cores of each package. As in Open MPI, PUs outside cores are not drawn.
fn packages(topology: Topology<'_>) -> Vec<Vec<Core>> {
    let pus = |object: Object<'_>| {
        object.objects_inside(ObjectType::PU).filter_map(Object::os_index).collect()
    };
    let core = |object: Object<'_>| Core { index: object.logical_index(), pus: pus(object) };
    let packages = topology.objects_with_type(ObjectType::Package);
    let cores =
        packages.map(|package| package.objects_inside(ObjectType::Core).map(core).collect());
    cores.collect()
}

fn map(packages: &[Vec<Core>], cpuset: &Set) -> String {
    let mark = |pu: &u32| if cpuset.contains(*pu) { 'B' } else { '.' };
    let core = |core: &Core| core.pus.iter().map(mark).collect::<String>();
    let package = |cores: &Vec<Core>| {
        let cores: Vec<String> = cores.iter().map(core).collect();
        format!("[{}]", cores.join("/"))
    };
    packages.iter().map(package).collect()
}
