//! The locality of processes relative to each other: which objects they share. Not to be confused
//! with `hwloc_get_obj_with_same_locality`, which is about objects.

mod blocks;
mod relative;
mod text;

pub(crate) use blocks::Blocks;
pub(crate) use relative::{by_pus, by_sets};
pub use text::LocalityTextError;

use core::fmt;
use core::ops::{BitOr, BitOrAssign};
use topobroker_layout::object_type::ObjectType;

/// What two processes share: a bit for each type of object of which one object has PUs of both.
/// Counterpart: `pmix_locality_t`, whose encoding this has; [`Locality::to_opal`] gives that of
/// Open MPI.
///
/// ```
/// use topobroker_reader::Locality;
/// let near = Locality::L3CACHE | Locality::PACKAGE | Locality::NUMA | Locality::NODE;
/// assert!(near.shares(Locality::L3CACHE) && !near.shares(Locality::CORE));
/// assert_eq!(near.to_string(), "L3,package,NUMA,node");
/// assert_eq!((near.bits(), near.to_opal()), (0x4070, 0x7f));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Locality(u16);

impl Locality {
    /// Nothing is known. Counterpart: `PMIX_LOCALITY_UNKNOWN`.
    pub const UNKNOWN: Self = Self(0);
    /// The same hardware thread. Counterpart: `PMIX_LOCALITY_SHARE_HWTHREAD`.
    pub const HWTHREAD: Self = Self(1);
    /// The same core. Counterpart: `PMIX_LOCALITY_SHARE_CORE`.
    pub const CORE: Self = Self(2);
    /// The same L1 data cache. Counterpart: `PMIX_LOCALITY_SHARE_L1CACHE`.
    pub const L1CACHE: Self = Self(4);
    /// The same L2 cache. Counterpart: `PMIX_LOCALITY_SHARE_L2CACHE`.
    pub const L2CACHE: Self = Self(8);
    /// The same L3 cache. Counterpart: `PMIX_LOCALITY_SHARE_L3CACHE`.
    pub const L3CACHE: Self = Self(0x10);
    /// The same package. Counterpart: `PMIX_LOCALITY_SHARE_PACKAGE`.
    pub const PACKAGE: Self = Self(0x20);
    /// The same NUMA node. Counterpart: `PMIX_LOCALITY_SHARE_NUMA`.
    pub const NUMA: Self = Self(0x40);
    /// The same node. Counterpart: `PMIX_LOCALITY_SHARE_NODE`.
    pub const NODE: Self = Self(0x4000);
    /// Different nodes. Counterpart: `PMIX_LOCALITY_NONLOCAL`.
    pub const NONLOCAL: Self = Self(0x8000);

    /// The locality of this name, as it is printed: `L3` or `l3`.
    ///
    /// ```
    /// use topobroker_reader::Locality;
    /// assert_eq!(Locality::named("numa"), Some(Locality::NUMA));
    /// assert_eq!(Locality::named("rack"), None);
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut all = IN_OPAL.iter().zip(NAMES.split(','));
        all.find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|((locality, _), _)| *locality)
    }

    /// The bits, in PMIx's encoding.
    #[must_use]
    #[inline]
    pub fn bits(self) -> u16 {
        self.0
    }

    /// Whether all of `what` is shared.
    #[must_use]
    #[inline]
    pub fn shares(self, what: Self) -> bool {
        self.0 & what.0 == what.0
    }

    /// The bits in Open MPI's encoding. Counterpart: `opal_hwloc_locality_t`.
    #[must_use]
    pub fn to_opal(self) -> u16 {
        let shared = IN_OPAL.iter().filter(|(locality, _)| self.shares(*locality));
        shared.fold(0, |bits, (_, opal)| bits | opal)
    }
}

impl BitOr for Locality {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Locality {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Display for Locality {
    /// The names of what is shared: `core,L2,package,NUMA,node`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::UNKNOWN {
            return f.write_str("unknown");
        }
        let mut comma = "";
        let named = IN_OPAL.iter().zip(NAMES.split(','));
        for (_, name) in named.filter(|((locality, _), _)| self.shares(*locality)) {
            f.write_str(comma)?;
            f.write_str(name)?;
            comma = ",";
        }
        Ok(())
    }
}

/// Open MPI's bits for each of ours.
const IN_OPAL: [(Locality, u16); 9] = [
    (Locality::HWTHREAD, 0x400),
    (Locality::CORE, 0x200),
    (Locality::L1CACHE, 0x100),
    (Locality::L2CACHE, 0x80),
    (Locality::L3CACHE, 0x40),
    (Locality::PACKAGE, 0x20),
    (Locality::NUMA, 0x10),
    // The node and all that is above it.
    (Locality::NODE, 0xf),
    (Locality::NONLOCAL, 0x8000),
];

/// Names in the order of [`IN_OPAL`]. One text, because the loader writes to each pointer that a
/// library holds, in every process.
const NAMES: &str = "hwthread,core,L1,L2,L3,package,NUMA,node,nonlocal";

/// The types of objects that processes may share.
const OBJECTS: [(ObjectType, Locality); 7] = [
    (ObjectType::PU, Locality::HWTHREAD),
    (ObjectType::Core, Locality::CORE),
    (ObjectType::L1Cache, Locality::L1CACHE),
    (ObjectType::L2Cache, Locality::L2CACHE),
    (ObjectType::L3Cache, Locality::L3CACHE),
    (ObjectType::Package, Locality::PACKAGE),
    (ObjectType::NUMANode, Locality::NUMA),
];
