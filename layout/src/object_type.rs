//! hwloc's object types, with hwloc's names and numbers.

words! {
    /// Type of an object. Counterpart: `hwloc_obj_type_t`, with the same numbers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
    #[repr(u8)]
    #[non_exhaustive]
    pub enum ObjectType {
        /// The root: a machine.
        #[default]
        Machine = 0 => "Machine",
        /// A physical package, which goes into a socket.
        Package = 1 => "Package",
        /// A core, shared by its hardware threads.
        Core = 2 => "Core",
        /// A processing unit: a logical processor.
        PU = 3 => "PU",
        /// Level 1 data or unified cache.
        L1Cache = 4 => "L1Cache",
        /// Level 2 data or unified cache.
        L2Cache = 5 => "L2Cache",
        /// Level 3 data or unified cache.
        L3Cache = 6 => "L3Cache",
        /// Level 4 data or unified cache.
        L4Cache = 7 => "L4Cache",
        /// Level 5 data or unified cache.
        L5Cache = 8 => "L5Cache",
        /// Level 1 instruction cache.
        L1ICache = 9 => "L1iCache",
        /// Level 2 instruction cache.
        L2ICache = 10 => "L2iCache",
        /// Level 3 instruction cache.
        L3ICache = 11 => "L3iCache",
        /// A group of objects that have something in common.
        Group = 12 => "Group",
        /// A NUMA node: memory, attached to the object whose PUs are near it.
        NUMANode = 13 => "NUMANode",
        /// A bridge between I/O buses, or from the host to one.
        Bridge = 14 => "Bridge",
        /// A PCI device.
        PCIDevice = 15 => "PCIDev",
        /// A device as the operating system names it.
        OSDevice = 16 => "OSDev",
        /// Anything that a user added.
        Misc = 17 => "Misc",
        /// A cache in front of memory.
        MemCache = 18 => "MemCache",
        /// A die within a package.
        Die = 19 => "Die",
    }
}

/// Which of the four child lists an object is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChildKind {
    /// Objects of the tree of CPUs, from machine to PU.
    Normal,
    /// NUMA nodes and memory-side caches.
    Memory,
    /// Bridges, PCI and OS devices.
    Io,
    /// Misc objects.
    Misc,
}

impl ObjectType {
    /// The types outside the tree of CPUs, in the order in which an archive has their levels.
    pub const SPECIAL: [Self; 6] =
        [Self::NUMANode, Self::MemCache, Self::Bridge, Self::PCIDevice, Self::OSDevice, Self::Misc];

    /// The type with hwloc's number `raw`, if there is one.
    #[must_use]
    pub fn from_raw(raw: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(raw).ok()?).copied()
    }

    /// hwloc's number of this type.
    #[must_use]
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// Which child list of its parent an object of this type is in.
    #[must_use]
    pub const fn child_kind(self) -> ChildKind {
        match self {
            Self::NUMANode | Self::MemCache => ChildKind::Memory,
            Self::Bridge | Self::PCIDevice | Self::OSDevice => ChildKind::Io,
            Self::Misc => ChildKind::Misc,
            _ => ChildKind::Normal,
        }
    }

    /// Whether objects of this type are in the tree of CPUs. Counterpart:
    /// `hwloc_obj_type_is_normal`.
    #[doc(alias = "hwloc_obj_type_is_normal")]
    #[must_use]
    pub const fn is_normal(self) -> bool {
        matches!(self.child_kind(), ChildKind::Normal)
    }

    /// Whether this is a NUMA node or a memory-side cache. Counterpart: `hwloc_obj_type_is_memory`.
    #[doc(alias = "hwloc_obj_type_is_memory")]
    #[must_use]
    pub const fn is_memory(self) -> bool {
        matches!(self.child_kind(), ChildKind::Memory)
    }

    /// Whether this is a bridge, a PCI device or an OS device. Counterpart: `hwloc_obj_type_is_io`.
    #[doc(alias = "hwloc_obj_type_is_io")]
    #[must_use]
    pub const fn is_io(self) -> bool {
        matches!(self.child_kind(), ChildKind::Io)
    }

    /// Whether this is a CPU cache, of data or instructions. Counterpart:
    /// `hwloc_obj_type_is_cache`.
    #[doc(alias = "hwloc_obj_type_is_cache")]
    #[must_use]
    pub const fn is_cache(self) -> bool {
        self.is_data_cache() || self.is_instruction_cache()
    }

    /// Whether this is a data or unified cache of CPUs. Counterpart: `hwloc_obj_type_is_dcache`.
    #[doc(alias = "hwloc_obj_type_is_dcache")]
    #[must_use]
    pub const fn is_data_cache(self) -> bool {
        matches!(
            self,
            Self::L1Cache | Self::L2Cache | Self::L3Cache | Self::L4Cache | Self::L5Cache
        )
    }

    /// Whether this is an instruction cache. Counterpart: `hwloc_obj_type_is_icache`.
    #[doc(alias = "hwloc_obj_type_is_icache")]
    #[must_use]
    pub const fn is_instruction_cache(self) -> bool {
        matches!(self, Self::L1ICache | Self::L2ICache | Self::L3ICache)
    }

    /// Place of the type in hwloc's order, in which containing types come before contained ones.
    /// Counterpart: `hwloc_compare_types`, which compares normal types by this order.
    #[must_use]
    pub const fn order(self) -> u8 {
        match self {
            Self::Machine => 0,
            Self::Group => 1,
            Self::MemCache => 2,
            Self::NUMANode => 3,
            Self::Package => 4,
            Self::Die => 5,
            Self::L5Cache => 6,
            Self::L4Cache => 7,
            Self::L3Cache => 8,
            Self::L3ICache => 9,
            Self::L2Cache => 10,
            Self::L2ICache => 11,
            Self::L1Cache => 12,
            Self::L1ICache => 13,
            Self::Core => 14,
            Self::Bridge => 15,
            Self::PCIDevice => 16,
            Self::OSDevice => 17,
            Self::PU => 18,
            Self::Misc => 19,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_found_by_its_own_number() {
        for kind in ObjectType::ALL {
            assert_eq!(ObjectType::from_raw(u64::from(kind.raw())), Some(kind));
        }
        assert_eq!(ObjectType::from_raw(20), None);
    }
}
