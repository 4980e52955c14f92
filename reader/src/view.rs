//! Views: a part of a topology, seen as if it were one of its own.

mod general;
mod kept;
mod quick;
#[allow(unsafe_code, reason = "referring to what it owns is what this module is for")]
mod shown;

use crate::topology::Topology;
use kept::Kept;
use shown::Shown;
use std::ops::BitOr;
use topobroker_layout::OpenError;
use topobroker_layout::build::{AlignedVec, BuildError};
use topobroker_layout::overlay::{self, ArchivedOverlay, Overlay};
use topobroker_layout::set::Set;

/// A part of a topology. Its [`View::topology`] answers every query as hwloc does of a topology that
/// was restricted: with logical indexes, parents and children, sets and amounts of memory of what is
/// left. Nothing is copied but a bitmap of what is shown; clones share it.
///
/// ```no_run
/// use topobroker_reader::{ObjectType, RestrictFlags, View};
/// let topology = topobroker_reader::adopt()?.topology();
/// let first_four = (0..4).collect();
/// let view = View::new(topology, &first_four, RestrictFlags::REMOVE_CPULESS)?;
/// println!("{} cores in {} bytes", view.topology().objects_with_type(ObjectType::Core).count(), view.bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct View<'a>(Shown<'a>);

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
    Overlay(#[from] BuildError),
}

impl<'a> View<'a> {
    /// What is left of a topology when it is restricted to some PUs, or NUMA nodes. Counterpart:
    /// `hwloc_topology_restrict` on a duplicate.
    ///
    /// # Errors
    ///
    /// [`RestrictError`] when nothing would be left.
    #[doc(alias = "hwloc_topology_restrict")]
    pub fn new(
        topology: Topology<'a>,
        set: &Set,
        flags: RestrictFlags,
    ) -> Result<Self, RestrictError> {
        Self::owned(topology.whole(), restricted(topology, set, flags)?)
    }

    fn owned(whole: Topology<'a>, overlay: AlignedVec) -> Result<Self, RestrictError> {
        let shown = Shown::owned(whole, overlay);
        let shown = shown.map_err(|error| BuildError::Serialize(error.to_string()))?;
        Ok(Self(shown))
    }

    /// What an overlay in a segment, which must have been validated, shows of a topology.
    pub(crate) fn shared(base: Topology<'a>, overlay: &'a ArchivedOverlay) -> Self {
        Self(Shown::shared(base, overlay))
    }

    /// Checks the bytes of an overlay that is in memory, as [`overlay::to_bytes`] makes it.
    ///
    /// # Errors
    ///
    /// [`OpenError`] when the bytes are no overlay of the topology.
    pub fn from_archive(topology: Topology<'a>, bytes: &'a [u8]) -> Result<Self, OpenError> {
        let overlay = overlay::access(bytes)?;
        overlay::validate(overlay, topology.seen.archive)?;
        Ok(Self::shared(topology.whole(), overlay))
    }

    /// All of a topology.
    #[must_use]
    pub fn whole(topology: Topology<'a>) -> Self {
        Self(Shown::same(topology))
    }

    /// What is left of this view when it is restricted further.
    ///
    /// # Errors
    ///
    /// As [`View::new`].
    pub fn restrict(&self, set: &Set, flags: RestrictFlags) -> Result<Self, RestrictError> {
        Self::owned(self.0.whole, restricted(self.topology(), set, flags)?)
    }

    /// What both views show of the same topology: this one restricted to the PUs and the NUMA nodes
    /// of the other.
    ///
    /// # Errors
    ///
    /// As [`View::new`]: they have no PU in common.
    pub fn intersection(&self, other: &View<'_>) -> Result<Self, RestrictError> {
        let theirs = other.topology().root();
        let both = self.restrict(&theirs.cpuset().unwrap_or_default(), RestrictFlags::NONE)?;
        let nodes = theirs.nodeset().unwrap_or_default();
        let left = both.topology().root().nodeset().unwrap_or_default();
        match left.is_included_in(&nodes) {
            true => Ok(both),
            false => both.restrict(&nodes, RestrictFlags::BYNODESET),
        }
    }

    /// What is shown, with the queries of every topology.
    #[must_use]
    pub fn topology(&self) -> Topology<'_> {
        self.0.topology()
    }

    /// Whether this is a view of a topology.
    #[must_use]
    pub fn is_of(&self, topology: Topology<'_>) -> bool {
        std::ptr::eq(self.topology().seen.archive, topology.seen.archive)
    }

    /// Whether what is shown follows each other as in the whole topology, under the same objects.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        self.topology().is_in_order()
    }

    /// Bytes of memory that the view takes; clones share them.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.0.own_bytes()
    }

    /// The view as plain values, for the segment of a job.
    ///
    /// # Errors
    ///
    /// [`RestrictError::Nothing`] of a machine without PUs.
    pub fn to_overlay(&self) -> Result<Overlay, RestrictError> {
        let topology = self.topology();
        let all = topology.root().complete_cpuset().unwrap_or_default();
        let kept = Kept::new(topology, &all, RestrictFlags::NONE)?;
        Ok(overlay_of(topology, &kept))
    }
}

impl PartialEq for View<'_> {
    fn eq(&self, other: &Self) -> bool {
        let (own, theirs) = (self.topology(), other.topology());
        self.is_of(theirs)
            && match (own.seen.overlay, theirs.seen.overlay) {
                (Some(one), Some(other)) => one == other,
                (None, None) => true,
                (Some(part), None) | (None, Some(part)) => own.is_all(part),
            }
    }
}

impl Eq for View<'_> {}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = self.topology();
        write!(f, "View({} of {} objects)", shown.object_count(), self.0.whole.object_count())
    }
}

fn restricted(
    topology: Topology<'_>,
    set: &Set,
    flags: RestrictFlags,
) -> Result<AlignedVec, RestrictError> {
    let kept = Kept::new(topology, set, flags)?;
    Ok(overlay::to_bytes(&overlay_of(topology, &kept))?)
}

fn overlay_of(topology: Topology<'_>, kept: &Kept) -> Overlay {
    quick::overlay(topology, kept).unwrap_or_else(|| general::overlay(topology, kept))
}
