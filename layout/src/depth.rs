//! Depths: how far below the root a level of the tree of CPUs is, or which special type a level
//! has.

use crate::object_type::ObjectType;

/// Depth of a level. Counterpart: hwloc's `int depth`, which is not negative in the tree of CPUs
/// and `HWLOC_TYPE_DEPTH_*` for the special types.
///
/// ```
/// use topobroker_layout::depth::Depth;
/// assert_eq!(Depth::from_raw(2), Some(Depth::Normal(2)));
/// assert_eq!(Depth::NumaNode.raw(), -3);
/// assert_eq!(Depth::from_raw(-1), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Depth {
    /// A depth of the tree of CPUs: the number of levels above it.
    Normal(u32),
    /// NUMA nodes. Counterpart: `HWLOC_TYPE_DEPTH_NUMANODE`.
    NumaNode,
    /// Memory-side caches. Counterpart: `HWLOC_TYPE_DEPTH_MEMCACHE`.
    MemCache,
    /// Bridges. Counterpart: `HWLOC_TYPE_DEPTH_BRIDGE`.
    Bridge,
    /// PCI devices. Counterpart: `HWLOC_TYPE_DEPTH_PCI_DEVICE`.
    PciDevice,
    /// OS devices. Counterpart: `HWLOC_TYPE_DEPTH_OS_DEVICE`.
    OsDevice,
    /// Misc objects. Counterpart: `HWLOC_TYPE_DEPTH_MISC`.
    Misc,
}

impl Default for Depth {
    /// That of the root.
    fn default() -> Self {
        Self::ROOT
    }
}

impl Depth {
    /// The depth of the root.
    pub const ROOT: Self = Self::Normal(0);

    /// The depths of the special types, in the order of [`ObjectType::SPECIAL`].
    pub const SPECIAL: [Self; 6] =
        [Self::NumaNode, Self::MemCache, Self::Bridge, Self::PciDevice, Self::OsDevice, Self::Misc];

    /// The depth with hwloc's number, `None` if hwloc has no such depth.
    #[must_use]
    #[inline]
    pub const fn from_raw(raw: i32) -> Option<Self> {
        Some(match raw {
            0.. => Self::Normal(raw.cast_unsigned()),
            -3 => Self::NumaNode,
            -4 => Self::Bridge,
            -5 => Self::PciDevice,
            -6 => Self::OsDevice,
            -7 => Self::Misc,
            -8 => Self::MemCache,
            _ => return None,
        })
    }

    /// hwloc's number of the depth.
    #[must_use]
    #[inline]
    pub const fn raw(self) -> i32 {
        match self {
            Self::Normal(depth) => depth.cast_signed(),
            Self::NumaNode => -3,
            Self::Bridge => -4,
            Self::PciDevice => -5,
            Self::OsDevice => -6,
            Self::Misc => -7,
            Self::MemCache => -8,
        }
    }

    /// The depth of a special type, `None` for a type of the tree of CPUs.
    #[must_use]
    #[inline]
    pub const fn of_special(object_type: ObjectType) -> Option<Self> {
        Some(match object_type {
            ObjectType::NUMANode => Self::NumaNode,
            ObjectType::MemCache => Self::MemCache,
            ObjectType::Bridge => Self::Bridge,
            ObjectType::PCIDevice => Self::PciDevice,
            ObjectType::OSDevice => Self::OsDevice,
            ObjectType::Misc => Self::Misc,
            _ => return None,
        })
    }

    /// The depth in the tree of CPUs, `None` for a special type.
    #[must_use]
    #[inline]
    pub const fn normal(self) -> Option<u32> {
        match self {
            Self::Normal(depth) => Some(depth),
            _ => None,
        }
    }

    /// The row of this depth in a table of levels whose first `normal` levels are those of the tree
    /// of CPUs. `None` if the tree of CPUs is less deep.
    #[must_use]
    #[inline]
    pub const fn level(self, normal: usize) -> Option<usize> {
        let position = match self {
            Self::Normal(depth) if (depth as usize) < normal => return Some(depth as usize),
            Self::Normal(_) => return None,
            Self::NumaNode => 0,
            Self::MemCache => 1,
            Self::Bridge => 2,
            Self::PciDevice => 3,
            Self::OsDevice => 4,
            Self::Misc => 5,
        };
        Some(normal + position)
    }

    /// The depth of a row of a table of levels: the inverse of [`Depth::level`]. `None` past the
    /// last level.
    #[must_use]
    pub fn of_level(level: usize, normal: usize) -> Option<Self> {
        match level.checked_sub(normal) {
            None => u32::try_from(level).ok().map(Self::Normal),
            Some(position) => Self::SPECIAL.get(position).copied(),
        }
    }
}

impl core::fmt::Display for Depth {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.raw().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_depth_is_found_by_its_number_and_by_its_level() {
        for (depth, object_type) in Depth::SPECIAL.into_iter().zip(ObjectType::SPECIAL) {
            assert_eq!(Depth::of_special(object_type), Some(depth));
        }
        for level in 0..9 {
            let depth = Depth::of_level(level, 3).unwrap();
            assert_eq!(depth.level(3), Some(level));
            assert_eq!(Depth::from_raw(depth.raw()), Some(depth));
        }
        assert_eq!(Depth::of_level(9, 3), None);
        assert_eq!(Depth::Normal(3).level(3), None);
    }

    #[test]
    fn a_type_has_a_special_depth_exactly_if_it_is_not_normal() {
        for kind in ObjectType::ALL {
            assert_eq!(Depth::of_special(kind).is_some(), !kind.is_normal(), "{kind:?}");
        }
    }
}
