//! A checked topology: what is known of the whole, and where its levels, sets and strings are.

use crate::seen::Seen;
use crate::stored_set::{StoredSet, Words};
use std::ffi::CStr;
use std::ops::Range;
use topobroker_layout::levels::{ArchivedLevel, ArchivedLevels, MULTIPLE};
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;
use topobroker_layout::support;

/// A topology, read in place: all of it, or what a [`View`](crate::View) shows of it. A handle of one
/// pointer: copy it freely.
#[derive(Clone, Copy)]
pub struct Topology<'a> {
    pub(crate) seen: &'a Seen<'a>,
}

impl std::fmt::Debug for Topology<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Topology({} objects)", self.object_count())
    }
}

/// Where objects of a type are. Counterpart: the result of `hwloc_get_type_depth`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeDepth {
    /// All at this depth.
    Depth(i32),
    /// There are none. Counterpart: `HWLOC_TYPE_DEPTH_UNKNOWN`.
    Unknown,
    /// At several depths. Counterpart: `HWLOC_TYPE_DEPTH_MULTIPLE`.
    Multiple,
}

impl TypeDepth {
    /// The depth, if there is one.
    #[must_use]
    #[inline]
    pub fn depth(self) -> Option<i32> {
        match self {
            Self::Depth(depth) => Some(depth),
            Self::Unknown | Self::Multiple => None,
        }
    }
}

impl<'a> Topology<'a> {
    pub(crate) fn of(seen: &'a Seen<'a>) -> Self {
        Self { seen }
    }

    /// All of it, also where a view shows a part.
    pub(crate) fn whole(self) -> Self {
        Self { seen: self.seen.whole() }
    }

    /// Number of objects of all kinds.
    #[must_use]
    pub fn object_count(self) -> usize {
        self.seen.overlay.map_or(self.seen.archive.tree.len(), |overlay| overlay.len() as usize)
    }

    /// Number of depths of the tree of CPUs. Counterpart: `hwloc_topology_get_depth`.
    #[doc(alias = "hwloc_topology_get_depth")]
    #[must_use]
    #[inline]
    pub fn depth(self) -> u32 {
        self.levels().normal.to_native()
    }

    /// Type of the objects at `depth`, if it is a depth. Counterpart: `hwloc_get_depth_type`.
    #[doc(alias = "hwloc_get_depth_type")]
    #[must_use]
    pub fn depth_type(self, depth: i32) -> Option<ObjectType> {
        self.levels().object_type(self.level_of_depth(depth)?)
    }

    /// Where the objects of a type are. Counterpart: `hwloc_get_type_depth`, but that special
    /// types without objects are [`TypeDepth::Depth`] too, as there.
    #[doc(alias = "hwloc_get_type_depth")]
    #[must_use]
    #[inline]
    pub fn type_depth(self, object_type: ObjectType) -> TypeDepth {
        if let Some(depth) = object_type.special_depth() {
            return TypeDepth::Depth(depth);
        }
        let known = self.levels().depth_of_type.get(usize::from(object_type.raw()));
        match known.copied().unwrap_or(0) {
            0 => TypeDepth::Unknown,
            MULTIPLE => TypeDepth::Multiple,
            plus_one => TypeDepth::Depth(i32::from(plus_one) - 1),
        }
    }

    /// PUs that may be used. Counterpart: `hwloc_topology_get_allowed_cpuset`.
    #[doc(alias = "hwloc_topology_get_allowed_cpuset")]
    #[must_use]
    pub fn allowed_cpuset(self) -> Set {
        self.stored_cpuset(self.seen.archive.machine.allowed_cpuset.to_native()).to_set()
    }

    /// NUMA nodes that may be used. Counterpart: `hwloc_topology_get_allowed_nodeset`.
    #[doc(alias = "hwloc_topology_get_allowed_nodeset")]
    #[must_use]
    pub fn allowed_nodeset(self) -> Set {
        self.stored_nodeset(self.seen.archive.machine.allowed_nodeset.to_native()).to_set()
    }

    /// Counterpart: `hwloc_topology_get_flags`.
    #[doc(alias = "hwloc_topology_get_flags")]
    #[must_use]
    pub fn flags(self) -> u64 {
        self.seen.archive.machine.flags.to_native()
    }

    /// Whether the publisher's hwloc took this for its own machine. Counterpart:
    /// `hwloc_topology_is_thissystem`.
    #[doc(alias = "hwloc_topology_is_thissystem")]
    #[must_use]
    pub fn is_this_system(self) -> bool {
        self.seen.archive.machine.is_this_system.to_native() != 0
    }

    /// Type filter that was used at capture: 0 all, 1 none, 2 structure, 3 important. Counterpart:
    /// `hwloc_topology_get_type_filter`.
    #[doc(alias = "hwloc_topology_get_type_filter")]
    #[must_use]
    pub fn type_filter(self, object_type: ObjectType) -> u8 {
        let raw = self.seen.archive.machine.type_filters.get(usize::from(object_type.raw()));
        u8::try_from(raw).unwrap_or(0)
    }

    /// Support bits by name, such as `cpubind.set_thisthread_cpubind`. Counterpart:
    /// `hwloc_topology_get_support`.
    #[doc(alias = "hwloc_topology_get_support")]
    pub fn support(self) -> impl Iterator<Item = (&'static str, u64)> + 'a {
        support::NAMES.into_iter().zip(self.seen.archive.machine.support.iter())
    }

    /// The levels of what is shown.
    #[inline]
    pub(crate) fn levels(self) -> &'a ArchivedLevels {
        self.seen.overlay.map_or(&self.seen.archive.levels, |overlay| &overlay.levels)
    }

    /// Place of a depth among the levels.
    #[inline]
    pub(crate) fn level_of_depth(self, depth: i32) -> Option<usize> {
        let normal = self.depth();
        if let Ok(depth) = u32::try_from(depth) {
            return (depth < normal).then_some(depth as usize);
        }
        // As `ObjectType::SPECIAL` has them.
        let place = match depth {
            -3 => 0,
            -8 => 1,
            -7..=-4 => usize::try_from(-2 - depth).ok()?,
            _ => return None,
        };
        Some(normal as usize + place)
    }

    pub(crate) fn depth_of_level(self, level: usize) -> i32 {
        let normal = self.depth() as usize;
        match level.checked_sub(normal) {
            None => i32::try_from(level).unwrap_or(i32::MAX),
            Some(place) => {
                let special = ObjectType::SPECIAL.get(place).copied();
                special.and_then(ObjectType::special_depth).unwrap_or(i32::MIN)
            }
        }
    }

    /// Places of the objects of a level.
    #[inline]
    pub(crate) fn level_places(self, level: usize) -> Range<u32> {
        let first = |level: usize| self.seen.levels.get(level).map_or(0, ArchivedLevel::first);
        first(level)..first(level + 1)
    }

    /// A stored set of PUs, those that are shown.
    pub(crate) fn stored_cpuset(self, row: u32) -> StoredSet<'a> {
        StoredSet::new(&self.seen.archive.sets, row, self.seen.overlay.map(|overlay| &overlay.cpus))
    }

    /// A stored set of NUMA nodes, those that are shown.
    pub(crate) fn stored_nodeset(self, row: u32) -> StoredSet<'a> {
        StoredSet::new(
            &self.seen.archive.sets,
            row,
            self.seen.overlay.map(|overlay| &overlay.nodes),
        )
    }

    /// A stored string.
    pub(crate) fn string(self, row: u32) -> &'a str {
        let text = CStr::from_bytes_until_nul(self.string_and_more(row)).unwrap_or_default();
        text.to_str().unwrap_or_default()
    }

    /// Whether a stored string is `text`.
    pub(crate) fn is_string(self, row: u32, text: &str) -> bool {
        let rest = self.string_and_more(row).strip_prefix(text.as_bytes());
        rest.is_some_and(|rest| rest.first() == Some(&0))
    }

    fn string_and_more(self, row: u32) -> &'a [u8] {
        let strings = &self.seen.archive.strings;
        let start = strings.start.get_u32(row as usize) as usize;
        strings.bytes.as_slice().get(start..).unwrap_or_default()
    }
}
