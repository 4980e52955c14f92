//! Views: a part of a topology, seen as if it were one of its own.

use super::restriction::{RestrictError, RestrictFlags, Restriction};
use super::storage::Storage;
use super::{fold, rebuild};
use crate::index::Words;
use crate::topology::Topology;
use topobroker_layout::OpenError;
use topobroker_layout::encode::{AlignedVec, EncodeError};
use topobroker_layout::overlay::{self, ArchivedOverlay, ArchivedVisibleSet, Overlay};
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
pub struct View<'a>(Storage<'a>);

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
        let storage = Storage::owned(whole, overlay);
        let storage = storage.map_err(|error| EncodeError::Serialize(error.into()))?;
        Ok(Self(storage))
    }

    /// What an overlay in a segment, which must have been validated, shows of a topology.
    pub(crate) fn shared(base: Topology<'a>, overlay: &'a ArchivedOverlay) -> Self {
        Self(Storage::shared(base, overlay))
    }

    /// Checks the bytes of an overlay that is in memory, as [`overlay::to_bytes`] makes it.
    ///
    /// # Errors
    ///
    /// [`OpenError`] when the bytes are no overlay of the topology.
    pub fn from_archive(topology: Topology<'a>, bytes: &'a [u8]) -> Result<Self, OpenError> {
        let overlay = overlay::access(bytes)?;
        overlay::validate(overlay, topology.index.archive)?;
        Ok(Self::shared(topology.whole(), overlay))
    }

    /// All of a topology.
    #[must_use]
    pub fn whole(topology: Topology<'a>) -> Self {
        Self(Storage::same(topology))
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
        std::ptr::eq(self.topology().index.archive, topology.index.archive)
    }

    /// Whether what is shown follows each other as in the whole topology, under the same objects.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        self.topology().index.is_in_order
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
        let restriction = Restriction::new(topology, &all, RestrictFlags::NONE)?;
        Ok(overlay_of(topology, &restriction))
    }
}

impl PartialEq for View<'_> {
    fn eq(&self, other: &Self) -> bool {
        let (own, theirs) = (self.topology(), other.topology());
        self.is_of(theirs)
            && match (own.index.overlay, theirs.index.overlay) {
                (Some(one), Some(other)) => one == other,
                (None, None) => true,
                (Some(part), None) | (None, Some(part)) => is_all(own, part),
            }
    }
}

impl Eq for View<'_> {}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let visible = self.topology();
        write!(f, "View({} of {} objects)", visible.object_count(), self.0.whole.object_count())
    }
}

fn restricted(
    topology: Topology<'_>,
    set: &Set,
    flags: RestrictFlags,
) -> Result<AlignedVec, RestrictError> {
    let restriction = Restriction::new(topology, set, flags)?;
    Ok(overlay::to_bytes(&overlay_of(topology, &restriction))?)
}

fn overlay_of(topology: Topology<'_>, restriction: &Restriction) -> Overlay {
    fold::overlay(topology, restriction).unwrap_or_else(|| rebuild::overlay(topology, restriction))
}

/// Whether an overlay shows all of the topology as it is.
fn is_all(topology: Topology<'_>, overlay: &ArchivedOverlay) -> bool {
    let root = topology.whole().root();
    let has_all = |visible: &ArchivedVisibleSet, all: Option<Set>| {
        all.is_some_and(|all| Words::is_included_in(&all, visible))
    };
    overlay.len() as usize == topology.index.archive.tree.len()
        && !overlay.has_moved()
        && has_all(&overlay.cpus, root.complete_cpuset())
        && has_all(&overlay.nodes, root.complete_nodeset())
}
