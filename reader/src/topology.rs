//! The handle of a topology, and facts about the topology as a whole.

use crate::index::{Index, Words};
use topobroker_layout::ValidationError;
use topobroker_layout::depth::Depth;
use topobroker_layout::levels::MULTIPLE;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;
use topobroker_layout::support;
use topobroker_layout::type_filter::TypeFilter;

/// A topology, read in place: all of it, or the visible part in a [`View`](crate::View). This is a
/// handle of one pointer that can be copied freely.
#[derive(Clone, Copy)]
pub struct Topology<'a> {
    pub(crate) index: &'a Index<'a>,
}

impl core::fmt::Debug for Topology<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Topology({} objects)", self.object_count())
    }
}

/// The depth or depths of the objects of a type. Counterpart: the result of `hwloc_get_type_depth`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeDepth {
    /// All objects are at this depth.
    Depth(Depth),
    /// There are no objects. Counterpart: `HWLOC_TYPE_DEPTH_UNKNOWN`.
    Unknown,
    /// The objects are at several depths. Counterpart: `HWLOC_TYPE_DEPTH_MULTIPLE`.
    Multiple,
}

impl TypeDepth {
    /// The depth, if there is exactly one.
    #[must_use]
    #[inline]
    pub fn depth(self) -> Option<Depth> {
        match self {
            Self::Depth(depth) => Some(depth),
            Self::Unknown | Self::Multiple => None,
        }
    }
}

impl<'a> Topology<'a> {
    pub(crate) fn of(index: &'a Index<'a>) -> Self {
        Self { index }
    }

    /// The whole topology. If this is not the topology of a view, this one itself.
    pub(crate) fn whole(self) -> Self {
        Self { index: self.index.whole() }
    }

    /// Checks the tree, if the publisher has certified it and it was not walked yet.
    pub(crate) fn check_tree(self) -> Result<(), ValidationError> {
        let whole = self.index.whole();
        let rule = "is sound, as its certificate says";
        let unsound = ValidationError { column: "tree", row: 0, rule };
        if whole.has_sound_tree() { Ok(()) } else { Err(unsound) }
    }

    /// Number of objects of all kinds.
    #[must_use]
    pub fn object_count(self) -> usize {
        self.index.object_count()
    }

    /// Number of depths of the tree of CPUs. Counterpart: `hwloc_topology_get_depth`.
    #[doc(alias = "hwloc_topology_get_depth")]
    #[must_use]
    #[inline]
    pub fn depth(self) -> u32 {
        self.index.visible_levels().normal.to_native()
    }

    /// Type of the objects at `depth`, `None` if the topology has no such depth. Counterpart:
    /// `hwloc_get_depth_type`.
    #[doc(alias = "hwloc_get_depth_type")]
    #[must_use]
    pub fn depth_type(self, depth: Depth) -> Option<ObjectType> {
        self.index.visible_levels().object_type(self.index.level_of_depth(depth)?)
    }

    /// The depth or depths of the objects of a type. As in hwloc, special types have a
    /// [`TypeDepth::Depth`] even without objects. Counterpart: `hwloc_get_type_depth`.
    #[doc(alias = "hwloc_get_type_depth")]
    #[must_use]
    #[inline]
    pub fn type_depth(self, object_type: ObjectType) -> TypeDepth {
        if let Some(depth) = Depth::of_special(object_type) {
            return TypeDepth::Depth(depth);
        }
        let known = self.index.visible_levels().depth_of_type.get(usize::from(object_type.raw()));
        match known.copied().unwrap_or(0) {
            0 => TypeDepth::Unknown,
            MULTIPLE => TypeDepth::Multiple,
            plus_one => TypeDepth::Depth(Depth::Normal(u32::from(plus_one) - 1)),
        }
    }

    /// PUs that may be used. Counterpart: `hwloc_topology_get_allowed_cpuset`.
    #[doc(alias = "hwloc_topology_get_allowed_cpuset")]
    #[must_use]
    pub fn allowed_cpuset(self) -> Set {
        self.index.stored_cpuset(self.index.archive.machine.allowed_cpuset.to_native()).to_set()
    }

    /// NUMA nodes that may be used. Counterpart: `hwloc_topology_get_allowed_nodeset`.
    #[doc(alias = "hwloc_topology_get_allowed_nodeset")]
    #[must_use]
    pub fn allowed_nodeset(self) -> Set {
        self.index.stored_nodeset(self.index.archive.machine.allowed_nodeset.to_native()).to_set()
    }

    /// Flags with which the topology was discovered. Counterpart: `hwloc_topology_get_flags`.
    #[doc(alias = "hwloc_topology_get_flags")]
    #[must_use]
    pub fn flags(self) -> u64 {
        self.index.archive.machine.flags.to_native()
    }

    /// Whether the publisher's hwloc considered the topology to be that of its own machine.
    /// Counterpart: `hwloc_topology_is_thissystem`.
    #[doc(alias = "hwloc_topology_is_thissystem")]
    #[must_use]
    pub fn is_this_system(self) -> bool {
        self.index.archive.machine.is_this_system.to_native() != 0
    }

    /// Type filter that was used at capture. Counterpart: `hwloc_topology_get_type_filter`.
    #[doc(alias = "hwloc_topology_get_type_filter")]
    #[must_use]
    pub fn type_filter(self, object_type: ObjectType) -> TypeFilter {
        let raw = self.index.archive.machine.type_filters.get(usize::from(object_type.raw()));
        u8::try_from(raw).ok().and_then(TypeFilter::from_raw).unwrap_or_default()
    }

    /// Support bits by name, such as `cpubind.set_thisthread_cpubind`. Counterpart:
    /// `hwloc_topology_get_support`.
    #[doc(alias = "hwloc_topology_get_support")]
    pub fn support(self) -> impl Iterator<Item = (&'static str, u64)> + 'a {
        support::names().zip(self.index.archive.machine.support.iter())
    }
}
