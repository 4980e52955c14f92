//! Decides which PUs and NUMA nodes a restriction keeps, as hwloc does.

use crate::object::Object;
use crate::topology::Topology;
use alloc::borrow::ToOwned;
use alloc::string::String;
use core::ops::BitOr;
use topobroker_layout::encode::EncodeError;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::overlay;
use topobroker_layout::set::{Format, Set};

/// Flags of a restriction. Counterpart: `hwloc_restrict_flags_e`.
///
/// ```
/// use topobroker_reader::RestrictFlags;
/// let flags = RestrictFlags::REMOVE_CPULESS | RestrictFlags::ADAPT_IO;
/// assert_eq!(flags.bits(), 5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RestrictFlags(u64);

impl RestrictFlags {
    /// NUMA nodes stay even if their PUs go.
    pub const NONE: Self = Self(0);
    /// Remove NUMA nodes that have no PUs left. Counterpart: `HWLOC_RESTRICT_FLAG_REMOVE_CPULESS`.
    pub const REMOVE_CPULESS: Self = Self(1);
    /// Attach Misc objects of removed objects higher. Counterpart:
    /// `HWLOC_RESTRICT_FLAG_ADAPT_MISC`.
    pub const ADAPT_MISC: Self = Self(2);
    /// Attach I/O objects of removed objects higher. Counterpart: `HWLOC_RESTRICT_FLAG_ADAPT_IO`.
    pub const ADAPT_IO: Self = Self(4);
    /// The set has NUMA nodes, not PUs. Counterpart: `HWLOC_RESTRICT_FLAG_BYNODESET`.
    pub const BYNODESET: Self = Self(8);
    /// With [`RestrictFlags::BYNODESET`]: remove PUs that have no NUMA node left. Counterpart:
    /// `HWLOC_RESTRICT_FLAG_REMOVE_MEMLESS`.
    pub const REMOVE_MEMLESS: Self = Self(16);

    /// hwloc's names of the flags, in the order of their bits.
    pub const NAMES: [&str; 5] =
        ["remove_cpuless", "adapt_misc", "adapt_io", "bynodeset", "remove_memless"];

    /// Flags from their bits in hwloc.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Bits of the flags in hwloc.
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

/// Why a topology cannot be restricted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum RestrictError {
    /// hwloc does not have these flags, or they do not go together.
    #[error("the flags {found:#x} do not go together: {rule}")]
    Flags { found: u64, rule: &'static str },
    /// The set has no PU or NUMA node that may be used.
    #[error(
        "nothing would be left: of {what} {found} none may be used here; expected some of \
         {expected}"
    )]
    Nothing { what: &'static str, found: String, expected: String },
    /// A flag would remove all that is left of the other kind: all NUMA nodes, or all PUs.
    #[error("no {what} would be left: {found} has none; leave out the flag that removes {which}")]
    NoneLeft { what: &'static str, found: String, which: &'static str },
    /// The publisher has certified a topology that breaks a rule of the tree.
    #[error("the topology has no sound tree, although its publisher says so; publish it again")]
    Unsound,
    /// The overlay cannot be archived.
    #[error(transparent)]
    Overlay(#[from] EncodeError),
}

/// The PUs and NUMA nodes that a restriction keeps, by OS index.
pub(super) struct Restriction {
    pub(super) flags: RestrictFlags,
    /// PUs; `None` means all.
    pub(super) cpus: Option<Set>,
    /// NUMA nodes; `None` means all.
    pub(super) nodes: Option<Set>,
    /// Whether this is what hwloc does while it discovers a machine of which it may use a part.
    pub(super) is_discovery: bool,
}

impl Restriction {
    /// What hwloc keeps of a machine if it may use these PUs and NUMA nodes.
    #[inline(never)]
    pub(super) fn of_allowed(
        topology: Topology<'_>,
        cpus: &Set,
        nodes: &Set,
    ) -> Result<Self, RestrictError> {
        let all = |set: Option<Set>| set.unwrap_or_default();
        check_some("PUs", cpus, &all(topology.root().cpuset()))?;
        check_some("NUMA nodes", nodes, &all(topology.root().nodeset()))?;
        let (cpus, nodes) = (Some(cpus.clone()), Some(nodes.clone()));
        Ok(Self { flags: RestrictFlags::NONE, cpus, nodes, is_discovery: true })
    }

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
        // PUs that are not in the topology do not count: hwloc may allow PUs that are offline.
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
        Ok(Self { flags, cpus: Some(set.clone()), nodes: all_but(&dropped), is_discovery: false })
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
        Ok(Self { flags, cpus: all_but(&dropped), nodes: Some(set.clone()), is_discovery: false })
    }

    /// Whether hwloc sorts children again after this restriction.
    pub(super) fn sorts(&self) -> bool {
        !self.is_discovery
            && (!self.flags.has(RestrictFlags::BYNODESET)
                || self.flags.has(RestrictFlags::REMOVE_MEMLESS))
    }

    /// The PUs that are kept, and if the topology is a view, only its own; `None` means all.
    pub(super) fn cpus_left(&self, topology: Topology<'_>) -> Option<Set> {
        let Some(overlay) = topology.index.overlay else {
            return self.cpus.clone();
        };
        let mut left = overlay.cpus.to_set();
        self.cpus.iter().for_each(|cpus| left &= cpus);
        Some(left)
    }

    /// OS indexes of PUs that the sets of the restricted topology may have.
    pub(super) fn cpus_of(&self, topology: Topology<'_>) -> overlay::VisibleSet {
        let before = topology.index.overlay.map(|overlay| &overlay.cpus);
        left_of(topology.root().complete_cpuset(), before, self.cpus.as_ref())
    }

    /// OS indexes of NUMA nodes that the sets of the restricted topology may have.
    pub(super) fn nodes_of(&self, topology: Topology<'_>) -> overlay::VisibleSet {
        let before = topology.index.overlay.map(|overlay| &overlay.nodes);
        left_of(topology.root().complete_nodeset(), before, self.nodes.as_ref())
    }
}

/// The members of `set` that are also in `before` and in `kept`. For the latter two, `None` means
/// all; for `set`, it means none.
///
/// Not inlined, like all steps of making a view. Each step needs room for a few sets on the stack,
/// so a process that makes a view needs only as much stack as the largest step. The pages of its
/// stack are memory of its own.
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

/// Checks that a set has a PU or NUMA node that may be used.
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
