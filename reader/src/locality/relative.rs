//! Computes what two sets of PUs share.

use super::locality::{Locality, OBJECTS};
use crate::index::{Index, Words, block_of};
use crate::topology::Topology;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

impl Topology<'_> {
    /// What two processes that are bound to sets of PUs share. If one of the sets has no PU of the
    /// topology, they share the node. Counterpart: `PMIx_Get_relative_locality` of the two locality
    /// strings. It is the same in a view that has the PUs of both, unless the view hides NUMA nodes.
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
        relative(self.index, one, other, |_| true)
    }
}

/// What two sets of PUs share in a topology or view. A NUMA node counts only if it `is_left`.
#[inline]
pub(crate) fn relative(
    index: &Index<'_>,
    one: &impl Words,
    other: &impl Words,
    is_left: impl Fn(u32) -> bool,
) -> Locality {
    if !index.has_runs {
        return by_sets(index, one, other, is_left);
    }
    let whole = index.whole();
    let is_uniform = whole.is_regular && whole.pus_of_node.is_some();
    let mut shared = Locality::NODE;
    index.neighbours(one, other, |pu, near| {
        shared |= of_tree(whole, whole.lowest_with(pu, near));
        let has_both = |node| {
            let pus = whole.pus_of(node);
            pus.contains(&pu) && pus.contains(&near)
        };
        let is_visible = |node| is_left(node) && index.is_visible(node);
        let same_node = match whole.pus_of_node {
            Some(each) => {
                let node = block_of(pu, each);
                node == block_of(near, each) && is_visible(whole.first_special + node)
            }
            None => {
                (whole.first_special..whole.end_of_nodes).any(|it| has_both(it) && is_visible(it))
            }
        };
        if same_node {
            shared |= Locality::NUMA;
        }
        // Where every PU is in an object of each type, nothing is left that could be shared.
        pu == near && is_uniform
    });
    shared
}

/// What PUs share whose lowest common ancestor is `lowest`, without NUMA nodes.
#[inline]
fn of_tree(whole: &Index<'_>, lowest: u32) -> Locality {
    let mut shared = Locality::UNKNOWN;
    if whole.is_regular {
        // Fast path: locality-by-depth.
        let depths = &whole.archive.levels.depth_of_type;
        let end = whole.base_level_of(lowest) + 1;
        for (object_type, locality) in OBJECTS {
            let plus_one = depths.get(usize::from(object_type.raw())).copied().unwrap_or(0);
            if plus_one != 0 && usize::from(plus_one) <= end {
                shared |= locality;
            }
        }
        return shared;
    }
    let mut object = Some(lowest);
    while let Some(id) = object {
        shared |= of_type(whole.object_type(id));
        object = whole.parent(id);
    }
    shared
}

fn of_type(object_type: ObjectType) -> Locality {
    let found = OBJECTS.iter().find(|(known, _)| *known == object_type);
    found.map_or(Locality::UNKNOWN, |(_, locality)| *locality)
}

/// [`relative`] where cpusets are more than the PUs below.
fn by_sets(
    index: &Index<'_>,
    one: &impl Words,
    other: &impl Words,
    is_left: impl Fn(u32) -> bool,
) -> Locality {
    let is_shared = |object_type: &ObjectType| {
        Topology::of(index).objects_with_type(*object_type).any(|object| {
            let extent = index.extent(object.id());
            let has_both = |it| Words::intersects(it, one) && Words::intersects(it, other);
            extent.as_ref().is_some_and(has_both)
                && (*object_type != ObjectType::NUMANode || is_left(object.id()))
        })
    };
    let shared = OBJECTS.iter().filter(|(object_type, _)| is_shared(object_type));
    shared.fold(Locality::NODE, |all, (_, locality)| all | *locality)
}
