//! Computes what two sets of PUs share.

use super::{Locality, OBJECTS};
use crate::index::{Index, LogicalPus, PusOfSet, neighbours};
use crate::topology::Topology;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

impl Topology<'_> {
    /// What two processes that are bound to sets of PUs share. If one of the sets has no PU of the
    /// topology, or is the full infinite set, by which hwloc means that the process is not bound,
    /// they share the node. Counterpart: `PMIx_Get_relative_locality` of the two locality strings.
    /// It is the same in a view that has the PUs of both, unless the view hides objects that have
    /// them: NUMA nodes, or levels that hwloc merges.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// use topobroker_reader::Locality;
    /// let [one, other] = [0, 1].map(|pu| [pu].into_iter().collect());
    /// println!("they share {}", topology.relative_locality(&one, &other));
    /// assert!(topology.relative_locality(&one, &one).shares(Locality::HWTHREAD));
    /// ```
    #[must_use]
    pub fn relative_locality(self, one: &Set, other: &Set) -> Locality {
        if is_unbound(one) || is_unbound(other) {
            return Locality::NODE;
        }
        if !self.index.has_runs {
            return by_sets(self.index, one, other, |_| true);
        }
        let [one, other] = [one, other].map(|set| PusOfSet::new(self.index, set));
        by_pus(self.index, &one, &other, |_| true)
    }
}

/// Whether a set is the full infinite one, by which hwloc means that a process is not bound.
pub(super) fn is_unbound(set: &Set) -> bool {
    set.is_infinite() && set.words().is_empty()
}

/// What two sets of PUs share in a topology or view whose objects are runs of PUs. Only objects
/// count that the job sees.
#[inline]
pub(crate) fn by_pus(
    index: &Index<'_>,
    one: &impl LogicalPus,
    other: &impl LogicalPus,
    job_sees: impl Fn(u32) -> bool,
) -> Locality {
    let whole = index.whole();
    let nodes = whole.first_special..whole.end_of_nodes;
    let is_visible = |id| job_sees(id) && index.is_visible(id);
    let depths = &whole.archive.levels.depth_of_type;
    let is_there = |kind: ObjectType| match kind {
        ObjectType::NUMANode => !nodes.is_empty(),
        kind => depths.get(usize::from(kind.raw())).is_some_and(|plus_one| *plus_one != 0),
    };
    let there = OBJECTS.iter().filter(|(kind, _)| is_there(*kind));
    let most = there.fold(Locality::NODE, |all, (_, locality)| all | *locality);
    let mut shared = Locality::NODE;
    neighbours(one, other, |pu, near| {
        let mut object = Some(whole.lowest_with(pu, near));
        while let Some(id) = object {
            if is_visible(id) {
                shared |= of_type(whole.object_type(id));
            }
            object = whole.parent(id);
        }
        let has_both = |node: &u32| {
            let pus = whole.pus_of(*node);
            pus.contains(&pu) && pus.contains(&near)
        };
        if nodes.clone().filter(has_both).any(is_visible) {
            shared |= Locality::NUMA;
        }
        shared == most
    });
    shared
}

fn of_type(object_type: ObjectType) -> Locality {
    let found = OBJECTS.iter().find(|(known, _)| *known == object_type);
    found.map_or(Locality::UNKNOWN, |(_, locality)| *locality)
}

/// [`by_pus`] where cpusets are more than the PUs below.
pub(crate) fn by_sets(
    index: &Index<'_>,
    one: &Set,
    other: &Set,
    job_sees: impl Fn(u32) -> bool,
) -> Locality {
    let is_shared = |object_type: &ObjectType| {
        Topology::of(index).objects_with_type(*object_type).any(|object| {
            job_sees(object.id()) && object.intersects(one) && object.intersects(other)
        })
    };
    let shared = OBJECTS.iter().filter(|(object_type, _)| is_shared(object_type));
    shared.fold(Locality::NODE, |all, (_, locality)| all | *locality)
}
