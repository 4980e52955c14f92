//! NUMA nodes near PUs, and objects at the same place.

use crate::extent::is_part;
use crate::levels::Objects;
use crate::object::Object;
use crate::stored_set::Words;
use crate::topology::Topology;
use std::ops::{BitOr, Range};
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

/// Which NUMA nodes are local to some PUs. Counterpart: `hwloc_local_numanode_flag_e`.
///
/// ```
/// use topobroker_reader::LocalNumaNodes;
/// let any = LocalNumaNodes::LARGER_LOCALITY | LocalNumaNodes::SMALLER_LOCALITY;
/// assert_eq!(any.bits(), 3);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LocalNumaNodes(u64);

impl LocalNumaNodes {
    /// Those whose PUs are the same.
    pub const SAME_LOCALITY: Self = Self(0);
    /// Those that have these PUs and maybe others. Counterpart:
    /// `HWLOC_LOCAL_NUMANODE_FLAG_LARGER_LOCALITY`.
    pub const LARGER_LOCALITY: Self = Self(1);
    /// Those that have some of these PUs and no others, also those without PUs. Counterpart:
    /// `HWLOC_LOCAL_NUMANODE_FLAG_SMALLER_LOCALITY`.
    pub const SMALLER_LOCALITY: Self = Self(2);
    /// All of the machine. Counterpart: `HWLOC_LOCAL_NUMANODE_FLAG_ALL`.
    pub const ALL: Self = Self(4);

    /// Flags of hwloc's number; `None` if it has others.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Option<Self> {
        if bits < 8 { Some(Self(bits)) } else { None }
    }

    /// hwloc's number of the flags.
    #[must_use]
    pub fn bits(self) -> u64 {
        self.0
    }

    /// Whether a node with some PUs is local to others; both follow each other.
    #[inline]
    fn fits(self, node: &Range<u32>, place: &Range<u32>) -> bool {
        self.takes(is_part(place, node), || is_part(node, place))
    }

    /// Whether a node counts that has all of the PUs, or whose PUs are all among them.
    #[inline]
    fn takes(self, larger: bool, smaller: impl Fn() -> bool) -> bool {
        self.has(Self::ALL)
            || (larger && self.has(Self::LARGER_LOCALITY))
            || ((larger || self.has(Self::SMALLER_LOCALITY)) && smaller())
    }

    /// Whether only nodes count that have all of the PUs.
    #[inline]
    fn asks_for_all(self) -> bool {
        !self.has(Self::ALL) && !self.has(Self::SMALLER_LOCALITY)
    }

    fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }
}

impl BitOr for LocalNumaNodes {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl<'a> Topology<'a> {
    /// NUMA nodes local to a set of PUs, in logical order. Counterpart:
    /// `hwloc_get_local_numanode_objs` with a cpuset.
    #[doc(alias = "hwloc_get_local_numanode_objs")]
    #[inline]
    pub fn local_numa_nodes(
        self,
        cpuset: &Set,
        which: LocalNumaNodes,
    ) -> impl Iterator<Item = Object<'a>> + use<'a, '_> {
        let is_larger = which == LocalNumaNodes::LARGER_LOCALITY;
        let known = if is_larger { self.node_around(cpuset) } else { None };
        let (found, asked) = match known {
            Some(node) => (node, Objects::none(self)),
            None => (None, self.numa_nodes()),
        };
        let bounds =
            if asked.len() != 0 && self.seen.has_runs { self.bounds_of(cpuset) } else { None };
        // A node whose PUs follow each other has all of a set if it has the first and the last.
        let bounds = bounds.map(|(low, high)| low..high + 1);
        let asked = asked.filter(move |node| match &bounds {
            Some(bounds) => {
                let own = node.base_pus();
                which.takes(is_part(bounds, &own), || self.has_all(cpuset, own.clone()))
            }
            None => node
                .extent()
                .is_some_and(|own| which.takes(own.covers(cpuset), || own.is_inside(cpuset))),
        });
        found.into_iter().chain(asked)
    }

    /// NUMA nodes that share a PU with a set, as OS indexes. Counterpart: `hwloc_cpuset_to_nodeset`.
    #[doc(alias = "hwloc_cpuset_to_nodeset")]
    #[must_use]
    pub fn nodeset_of(self, cpuset: &Set) -> Set {
        let mut nodeset = Set::new();
        self.add_nodes_of(cpuset, &mut nodeset);
        nodeset
    }

    /// Puts the NUMA nodes that share a PU with a set into `nodeset`. Counterpart: `hwloc_cpuset_to_nodeset`, which
    /// empties it first.
    pub fn add_nodes_of(self, cpuset: &Set, nodeset: &mut Set) {
        if self.add_nodes_of_turns(cpuset, nodeset) {
            return;
        }
        for node in self.numa_nodes() {
            let is_near = match self.seen.has_runs {
                true => self.has_some(cpuset, node.base_pus()),
                false => node.intersects(cpuset),
            };
            if is_near && let Some(os_index) = node.os_index() {
                nodeset.insert(os_index);
            }
        }
    }

    /// PUs of the NUMA nodes of a set. Counterpart: `hwloc_cpuset_from_nodeset`.
    #[doc(alias = "hwloc_cpuset_from_nodeset")]
    #[must_use]
    pub fn cpuset_of_nodes(self, nodeset: &Set) -> Set {
        let mut cpuset = Set::new();
        self.add_cpusets_of_nodes(nodeset, &mut cpuset);
        cpuset
    }

    /// Puts the PUs of the NUMA nodes of a set into `cpuset`. Counterpart:
    /// `hwloc_cpuset_from_nodeset`, which empties it first.
    pub fn add_cpusets_of_nodes(self, nodeset: &Set, cpuset: &mut Set) {
        let mut add = |node: Object<'a>| _ = node.add_cpuset(cpuset);
        if !nodeset.is_infinite() {
            let nodes = nodeset.iter().filter_map(|os| self.numa_node_by_os_index(os));
            return nodes.for_each(add);
        }
        for node in self.numa_nodes() {
            if node.os_index().is_some_and(|os| nodeset.contains(os)) {
                add(node);
            }
        }
    }
}

impl<'a> Object<'a> {
    /// NUMA nodes local to an object, in logical order; of an I/O or Misc object, to the object
    /// that it hangs on. Counterpart: `hwloc_get_local_numanode_objs` with an object.
    #[inline]
    pub fn local_numa_nodes(self, which: LocalNumaNodes) -> impl Iterator<Item = Object<'a>> {
        let place = self.non_io_ancestor();
        let (topology, pus) = (self.topology(), place.shown_run());
        let nodes = match which.asks_for_all() && topology.seen.has_runs && !pus.is_empty() {
            true => topology.nodes_of_pus(&place.base_pus()),
            false => topology.numa_nodes(),
        };
        nodes.filter(move |node| match node.topology().seen.has_runs {
            true => which.fits(&node.shown_run(), &pus),
            false => place.extent().zip(node.extent()).is_some_and(|(place, own)| {
                which.takes(place.is_part_of(&own), || own.is_part_of(&place))
            }),
        })
    }

    /// An object of a type at the same place: with the same cpuset and nodeset, or in the same PCI
    /// device. Of several, the first whose subtype is `subtype` and whose name begins with
    /// `name_prefix`, in whatever case, where these are given. None if the type is at several depths,
    /// as hwloc has it. Counterpart: `hwloc_get_obj_with_same_locality`.
    #[doc(alias = "hwloc_get_obj_with_same_locality")]
    #[must_use]
    pub fn with_same_locality(
        self,
        object_type: ObjectType,
        subtype: Option<&str>,
        name_prefix: Option<&str>,
    ) -> Option<Self> {
        let same = |text: Option<&str>, wanted: &str| {
            text.is_some_and(|text| text.eq_ignore_ascii_case(wanted))
        };
        let fits = move |object: &Self| {
            let prefix = |wanted: &str| object.name().and_then(|name| name.get(..wanted.len()));
            subtype.is_none_or(|wanted| same(object.subtype(), wanted))
                && name_prefix.is_none_or(|wanted| same(prefix(wanted), wanted))
        };
        if self.has_sets() {
            let topology = self.topology();
            let depth = topology.type_depth(object_type).depth()?;
            let is_it = |object: &Self| self.is_at_place_of(*object) && fits(object);
            if topology.is_plain() && object_type.is_normal() && !self.shown_run().is_empty() {
                // Of objects with PUs, only the one that has the first can have the same.
                let level = topology.base_level_of_depth(depth)?;
                let first = topology.next_shown_pu(self.base_pus().start);
                let holding = topology.object_of_level_holding(level, first)?;
                return Some(holding).filter(is_it);
            }
            return topology.objects_at_depth(depth).find(is_it);
        }
        let is_device = |of: ObjectType| matches!(of, ObjectType::PCIDevice | ObjectType::OSDevice);
        if !is_device(self.object_type()) || !is_device(object_type) {
            return None;
        }
        let mut path = std::iter::once(self).chain(self.ancestors());
        let device = path.find(|object| object.object_type() != ObjectType::OSDevice)?;
        match object_type {
            ObjectType::PCIDevice => {
                Some(device).filter(|it| it.object_type() == object_type && fits(it))
            }
            _ => {
                let mut children = device.io_children();
                children.find(|child| child.object_type() == object_type && fits(child))
            }
        }
    }

    fn is_at_place_of(self, other: Self) -> bool {
        let cpusets = self.extent().zip(other.extent());
        let nodesets = self.stored_nodeset().zip(other.stored_nodeset());
        cpusets.is_some_and(|(own, theirs)| own.equals(&theirs))
            && nodesets.is_some_and(|(own, theirs)| own.is_same_as(&theirs))
    }
}
