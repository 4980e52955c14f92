//! Placement of the ranks of a job, reports of it, and locations.

use crate::answer::answer;
use crate::call::call_with;
use crate::failure::Failure;
use crate::given::Given;
use crate::object::{object, tb_obj};
use crate::pointers::{Buffer, Input, List, Out, Output, Room, Text};
use crate::set::{given_sets, store_sets, tb_set};
use crate::status::tb_status;
use crate::topology::tb_topology;
use topobroker::location::{Location, Reading};
use topobroker::placement::{Policy, place, report, usual_count};
use topobroker_reader::{Object, Topology};

/// Makes the `count` sets the PUs of as many ranks, placed as PRRTE places them. `map_by` is slot,
/// hwthread, core, l1cache, l2cache, l3cache, numa, package, gpu, device=NAME, ppr:N:OBJECT or
/// cpu-list, each of which may be followed by :PE=N, and by :OVERSUBSCRIBE for more ranks than
/// cores. `bind_to` is none, gpu or one of the objects; NULL means the default of PRRTE. For
/// cpu-list, `order` has the PUs that the ranks take in turn. The set of a rank that is not bound
/// becomes empty. No set may be NULL. TB_ERR_PLACEMENT if the ranks cannot be placed.
#[unsafe(no_mangle)]
pub extern "C" fn tb_place(
    topology: Option<&tb_topology>,
    map_by: Text<'_>,
    bind_to: Text<'_>,
    order: List<'_, tb_obj>,
    order_count: usize,
    sets: List<'_, Output<'_, tb_set>>,
    count: usize,
) -> tb_status {
    call_with(|handles| {
        let topology = topology.given("topology")?.get();
        let policy = Policy::parse(map_by.get("map_by")?, bind_to.optional("bind_to")?)?;
        let order = objects(topology, order, order_count)?;
        let sets = given_sets(handles, sets, count)?;
        let placed = place(topology, &policy, Some(count), &order)?;
        store_sets(
            handles,
            sets,
            placed.into_iter().map(|it| it.cpuset.unwrap_or_default()).collect(),
        )
    })
}

/// Stores the number of ranks that a policy makes if no number is given. The policy is given as in
/// tb_place.
#[unsafe(no_mangle)]
pub extern "C" fn tb_place_count(
    topology: Option<&tb_topology>,
    map_by: Text<'_>,
    bind_to: Text<'_>,
    order: List<'_, tb_obj>,
    order_count: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(count, |topology, map_by| {
        let policy = Policy::parse(map_by, bind_to.optional("bind_to")?)?;
        let order = objects(topology, order, order_count)?;
        usual_count(topology, &policy, &order)
    })
}

fn objects<'a>(
    topology: Topology<'a>,
    order: List<'_, tb_obj>,
    count: usize,
) -> Result<Vec<Object<'a>>, Failure> {
    order.get(count, "order")?.iter().map(|obj| object(topology, *obj)).collect()
}

/// Writes the line that reports what a rank is bound to, with a zero at its end: as Open MPI 4
/// does, or as PRRTE does if `prrte`. `length` (may be NULL) is set to the bytes of the text
/// without the zero, also with TB_ERR_TRUNCATED.
#[unsafe(no_mangle)]
pub extern "C" fn tb_binding_report(
    topology: Option<&tb_topology>,
    rank: u32,
    cpuset: Input<'_, tb_set>,
    prrte: bool,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    answer!(buffer(size, length), |topology, cpuset| match prrte {
        true => report::prrte(topology, rank, cpuset),
        false => report::open_mpi(topology, rank, cpuset),
    })
}

/// Stores up to `capacity` objects that a text such as package:1.core:0-3 or os=eth0 names, in the
/// order of the text, and the number of all of them in `count` (may be NULL). Indexes are logical
/// indexes, or OS indexes if `physical`. Counterpart: the locations of hwloc-calc.
#[unsafe(no_mangle)]
pub extern "C" fn tb_location(
    topology: Option<&tb_topology>,
    text: Text<'_>,
    physical: bool,
    objs: Room<'_, tb_obj>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(objs(capacity, count), |topology, text| {
        let reading = Reading { physical, ..Reading::default() };
        let found = Location::parse(text)?.objects(topology, reading)?;
        found.into_iter().map(Object::id)
    })
}
