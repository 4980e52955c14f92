//! What a restriction keeps of the PUs and NUMA nodes, as hwloc decides it.

use crate::object::Object;
use crate::topology::Topology;
use std::ops::BitOr;
use topobroker_layout::encode::EncodeError;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::overlay;
use topobroker_layout::set::{Format, Set};

/// How a topology is restricted. Counterpart: `hwloc_restrict_flags_e`.
///
/// ```
/// use topobroker_reader::RestrictFlags;
/// let flags = RestrictFlags::REMOVE_CPULESS | RestrictFlags::ADAPT_IO;
/// assert_eq!(flags.bits(), 5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RestrictFlags(u64);

impl RestrictFlags {
    /// NUMA nodes stay where their PUs go.
    pub const NONE: Self = Self(0);
    /// Remove NUMA nodes that have no PUs left. Counterpart: `HWLOC_RESTRICT_FLAG_REMOVE_CPULESS`.
    pub const REMOVE_CPULESS: Self = Self(1);
    /// Hang Misc objects of what is removed higher. Counterpart: `HWLOC_RESTRICT_FLAG_ADAPT_MISC`.
    pub const ADAPT_MISC: Self = Self(2);
    /// Hang I/O objects of what is removed higher. Counterpart: `HWLOC_RESTRICT_FLAG_ADAPT_IO`.
    pub const ADAPT_IO: Self = Self(4);
    /// The set is of NUMA nodes. Counterpart: `HWLOC_RESTRICT_FLAG_BYNODESET`.
    pub const BYNODESET: Self = Self(8);
    /// With [`RestrictFlags::BYNODESET`]: remove PUs that have no NUMA node left. Counterpart:
    /// `HWLOC_RESTRICT_FLAG_REMOVE_MEMLESS`.
    pub const REMOVE_MEMLESS: Self = Self(16);

    /// hwloc's names of the flags, by bit.
    pub const NAMES: [&str; 5] =
        ["remove_cpuless", "adapt_misc", "adapt_io", "bynodeset", "remove_memless"];

    /// Flags of hwloc's number.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// hwloc's number of the flags.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether all of `flag` are set.
    #[must_use]
    pub const fn has(self, flag: Self) -> bool {
        self.0 & flag.0 == flag.0
    }
}

impl BitOr for RestrictFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Why a topology cannot be restricted so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestrictError {
    /// Flags that hwloc does not have or that do not go together.
    #[error("the flags {found:#x} do not go together: {rule}")]
    Flags {
        /// The flags.
        found: u64,
        /// What is expected.
        rule: &'static str,
    },
    /// The set has nothing that may be used.
    #[error(
        "nothing would be left: of {what} {found} none may be used here; expected some of {expected}"
    )]
    Nothing {
        /// What the set is of.
        what: &'static str,
        /// The set, as a list.
        found: String,
        /// What may be used.
        expected: String,
    },
    /// What else is to go leaves nothing.
    #[error("no {what} would be left: {found} has none; leave out the flag that removes {which}")]
    NoneLeft {
        /// Of what nothing is left.
        what: &'static str,
        /// The set, as a list.
        found: String,
        /// What the flag removes.
        which: &'static str,
    },
    /// The overlay cannot be made.
    #[error(transparent)]
    Overlay(#[from] EncodeError),
}

/// PUs and NUMA nodes that are kept, by OS index.
pub(super) struct Restriction {
    pub(super) flags: RestrictFlags,
    /// PUs; `None` is all.
    pub(super) cpus: Option<Set>,
    /// NUMA nodes; `None` is all.
    pub(super) nodes: Option<Set>,
}

impl Restriction {
    #[inline(never)]
    pub(super) fn new(
        topology: Topology<'_>,
        set: &Set,
        flags: RestrictFlags,
    ) -> Result<Self, RestrictError> {
        check_flags(flags)?;
        match flags.has(RestrictFlags::BYNODESET) {
            false => Self::by_cpus(topology, set, flags),
            true => Self::by_nodes(topology, set, flags),
        }
    }

    fn by_cpus(
        topology: Topology<'_>,
        set: &Set,
        flags: RestrictFlags,
    ) -> Result<Self, RestrictError> {
        let mut allowed = topology.allowed_cpuset();
        // What is not there leaves nothing either: hwloc may allow PUs that are offline.
        topology.root().cpuset().iter().for_each(|there| allowed &= there);
        check_some("PUs", set, &allowed)?;
        let mut dropped = Set::new();
        if flags.has(RestrictFlags::REMOVE_CPULESS) {
            let cpuless = topology.numa_nodes().filter(|node| !node.intersects(set));
            cpuless.filter_map(Object::os_index).for_each(|node| dropped.insert(node));
            if topology.allowed_nodeset().is_included_in(&dropped) {
                let (what, which) = ("NUMA node", "those without PUs");
                return Err(RestrictError::NoneLeft { what, found: list(set), which });
            }
        }
        Ok(Self { flags, cpus: Some(set.clone()), nodes: all_but(&dropped) })
    }

    fn by_nodes(
        topology: Topology<'_>,
        set: &Set,
        flags: RestrictFlags,
    ) -> Result<Self, RestrictError> {
        check_some("NUMA nodes", set, &topology.allowed_nodeset())?;
        let mut dropped = Set::new();
        if flags.has(RestrictFlags::REMOVE_MEMLESS) {
            let memless = topology.objects_with_type(ObjectType::PU).filter(|pu| {
                let nodes = pu.nodeset().unwrap_or_default();
                pu.cpuset_weight() == Some(0) || !nodes.intersects(set)
            });
            memless.filter_map(Object::os_index).for_each(|pu| dropped.insert(pu));
            if topology.allowed_cpuset().is_included_in(&dropped) {
                let (what, which) = ("PU", "those without NUMA nodes");
                return Err(RestrictError::NoneLeft { what, found: list(set), which });
            }
        }
        Ok(Self { flags, cpus: all_but(&dropped), nodes: Some(set.clone()) })
    }

    /// Whether hwloc sorts children anew.
    pub(super) fn sorts(&self) -> bool {
        !self.flags.has(RestrictFlags::BYNODESET) || self.flags.has(RestrictFlags::REMOVE_MEMLESS)
    }

    /// PUs that the topology, if it is a view, has left and that are kept; `None` is all.
    pub(super) fn cpus_left(&self, topology: Topology<'_>) -> Option<Set> {
        let Some(overlay) = topology.index.overlay else {
            return self.cpus.clone();
        };
        let mut left = overlay.cpus.to_set();
        self.cpus.iter().for_each(|cpus| left &= cpus);
        Some(left)
    }

    /// What is left of the PUs of all sets of a topology.
    pub(super) fn cpus_of(&self, topology: Topology<'_>) -> overlay::VisibleSet {
        let before = topology.index.overlay.map(|overlay| &overlay.cpus);
        left_of(topology.root().complete_cpuset(), before, self.cpus.as_ref())
    }

    /// What is left of the NUMA nodes of all sets of a topology.
    pub(super) fn nodes_of(&self, topology: Topology<'_>) -> overlay::VisibleSet {
        let before = topology.index.overlay.map(|overlay| &overlay.nodes);
        left_of(topology.root().complete_nodeset(), before, self.nodes.as_ref())
    }
}

/// What is left of a set that was left before and is kept now, each time all if it is `None`.
///
/// By itself, as the steps that make a view are: each has room for a few sets on the stack, and a process that makes
/// one goes only as deep as the deepest of them needs. Pages of the stack are for it alone.
#[inline(never)]
fn left_of(
    set: Option<Set>,
    before: Option<&overlay::ArchivedVisibleSet>,
    kept: Option<&Set>,
) -> overlay::VisibleSet {
    let mut left = set.unwrap_or_default();
    before.into_iter().for_each(|before| left &= &before.to_set());
    kept.into_iter().for_each(|kept| left &= kept);
    overlay::VisibleSet::from(&left)
}

/// Whether some of a set may be used.
fn check_some(what: &'static str, set: &Set, allowed: &Set) -> Result<(), RestrictError> {
    match set.intersects(allowed) {
        true => Ok(()),
        false => Err(RestrictError::Nothing { what, found: list(set), expected: list(allowed) }),
    }
}

fn list(set: &Set) -> String {
    match set.is_empty() {
        true => "(none)".to_owned(),
        false => set.to_text(Format::List),
    }
}

fn all_but(dropped: &Set) -> Option<Set> {
    let all = Set::from_words([], true);
    (!dropped.is_empty()).then(|| all.and_not(dropped))
}

fn check_flags(flags: RestrictFlags) -> Result<(), RestrictError> {
    let has = |flag| flags.has(flag);
    let (by_nodes, memless) = (RestrictFlags::BYNODESET, RestrictFlags::REMOVE_MEMLESS);
    let rule = if flags.bits() >> RestrictFlags::NAMES.len() != 0 {
        "hwloc has no others than those of 1 to 16"
    } else if has(by_nodes) && has(RestrictFlags::REMOVE_CPULESS) {
        "NUMA nodes without PUs are only removed by a set of PUs"
    } else if has(memless) && !has(by_nodes) {
        "PUs without NUMA nodes are only removed by a set of NUMA nodes"
    } else {
        return Ok(());
    };
    Err(RestrictError::Flags { found: flags.bits(), rule })
}
