//! Views: a part of a topology, seen as a topology of its own. A view is an archive seen through an
//! overlay. If no object moves, the overlay is made by folding bits level by level (`fold`),
//! otherwise by taking the tree apart as hwloc does (`rebuild`).

mod fold;
mod rebuild;
mod restriction;
#[allow(unsafe_code, reason = "referring to what it owns is what this module is for")]
mod storage;

pub use restriction::{RestrictError, RestrictFlags};

use crate::index::Words;
use crate::topology::Topology;
use restriction::Restriction;
use storage::Storage;
use topobroker_layout::OpenError;
use topobroker_layout::encode::{AlignedVec, EncodeError};
use topobroker_layout::overlay::{self, ArchivedOverlay, ArchivedVisibleSet, Overlay};
use topobroker_layout::set::Set;

/// A part of a topology. Its [`View::topology`] answers every query as hwloc does for a restricted
/// topology: logical indexes, parents and children, sets and amounts of memory are those of the
/// visible part. No object is copied: a view has little more than a bitmap of the visible objects,
/// which clones share.
///
/// ```
/// use topobroker_reader::{ObjectType, RestrictFlags, View};
/// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
/// let first_four = (0..4).collect();
/// let view = View::new(topology, &first_four, RestrictFlags::REMOVE_CPULESS)?;
/// println!("{} cores in {} bytes", view.topology().objects_with_type(ObjectType::Core).count(), view.bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct View<'a>(Storage<'a>);

impl<'a> View<'a> {
    /// A topology restricted to some PUs or, with [`RestrictFlags::BYNODESET`], to some NUMA nodes.
    /// Counterpart: `hwloc_topology_restrict` on a duplicate.
    ///
    /// # Errors
    ///
    /// [`RestrictError`] if nothing would be left, or if the flags do not go together.
    #[doc(alias = "hwloc_topology_restrict")]
    pub fn new(
        topology: Topology<'a>,
        set: &Set,
        flags: RestrictFlags,
    ) -> Result<Self, RestrictError> {
        Self::owned(topology.whole(), restricted(topology, set, flags)?)
    }

    /// A topology restricted to some PUs, with the NUMA nodes of these PUs; if they have none, as
    /// the PUs of a die without memory, with all NUMA nodes.
    ///
    /// # Errors
    ///
    /// [`RestrictError`] if no PU would be left.
    pub fn of_pus(topology: Topology<'a>, pus: &Set) -> Result<Self, RestrictError> {
        match Self::new(topology, pus, RestrictFlags::REMOVE_CPULESS) {
            Err(RestrictError::NoneLeft { .. }) => Self::new(topology, pus, RestrictFlags::NONE),
            view => view,
        }
    }

    /// What hwloc finds of a machine where only these PUs and NUMA nodes may be used, as in a
    /// cgroup. Unlike [`View::new`], it keeps all I/O devices, and the objects without PUs that
    /// they are attached to: a cgroup does not limit where a process may reach them. Counterpart:
    /// `hwloc_topology_load` without `HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED`.
    ///
    /// # Errors
    ///
    /// [`RestrictError::Nothing`] if the topology does not have any of the PUs or any of the NUMA
    /// nodes.
    pub fn allowed(topology: Topology<'a>, cpus: &Set, nodes: &Set) -> Result<Self, RestrictError> {
        check_tree(topology)?;
        let restriction = Restriction::of_allowed(topology, cpus, nodes)?;
        Self::owned(topology.whole(), overlay::to_bytes(&overlay_of(topology, &restriction))?)
    }

    fn owned(whole: Topology<'a>, overlay: AlignedVec) -> Result<Self, RestrictError> {
        let storage = Storage::owned(whole, overlay);
        let storage = storage.map_err(|error| EncodeError::Serialize(error.into()))?;
        Ok(Self(storage))
    }

    /// A view through an overlay in a segment. The overlay must have been validated.
    pub(crate) fn shared(base: Topology<'a>, overlay: &'a ArchivedOverlay) -> Self {
        Self(Storage::shared(base, overlay))
    }

    /// A view through an overlay in memory, as [`overlay::to_bytes`] makes it. Checks its bytes.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if the bytes are not an overlay of the topology.
    pub fn from_archive(topology: Topology<'a>, bytes: &'a [u8]) -> Result<Self, OpenError> {
        topology.check_tree()?;
        let overlay = overlay::access(bytes)?;
        overlay::validate(overlay, topology.index.archive)?;
        Ok(Self::shared(topology.whole(), overlay))
    }

    /// A view of all visible objects of a topology.
    #[must_use]
    pub fn whole(topology: Topology<'a>) -> Self {
        Self(Storage::same(topology))
    }

    /// This view, restricted further.
    ///
    /// # Errors
    ///
    /// The errors of [`View::new`].
    pub fn restrict(&self, set: &Set, flags: RestrictFlags) -> Result<Self, RestrictError> {
        Self::owned(self.0.whole, restricted(self.topology(), set, flags)?)
    }

    /// The part that is visible both here and in another view of the same topology: this view,
    /// restricted to the PUs and the NUMA nodes of the other one.
    ///
    /// # Errors
    ///
    /// [`RestrictError`] if the views have no PU or no NUMA node in common.
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

    /// The visible part, with the queries of every topology.
    #[must_use]
    pub fn topology(&self) -> Topology<'_> {
        self.0.topology()
    }

    /// Whether this is a view of a topology.
    #[must_use]
    pub fn is_of(&self, topology: Topology<'_>) -> bool {
        core::ptr::eq(self.topology().index.archive, topology.index.archive)
    }

    /// Whether no object has moved: visible objects have the parents and the order that they have
    /// in the whole topology.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        self.topology().index.is_in_order
    }

    /// Bytes of memory that the view takes. Clones share its overlay.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.0.own_bytes()
    }

    /// The overlay of the view as plain values, for the segment of a job.
    ///
    /// # Errors
    ///
    /// [`RestrictError::Nothing`] if the machine has no PUs.
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

impl core::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let visible = self.topology();
        write!(f, "View({} of {} objects)", visible.object_count(), self.0.whole.object_count())
    }
}

fn restricted(
    topology: Topology<'_>,
    set: &Set,
    flags: RestrictFlags,
) -> Result<AlignedVec, RestrictError> {
    check_tree(topology)?;
    let restriction = Restriction::new(topology, set, flags)?;
    Ok(overlay::to_bytes(&overlay_of(topology, &restriction))?)
}

/// Checks the tree, once in a process, if the publisher has certified it: a view looks at all of
/// it.
fn check_tree(topology: Topology<'_>) -> Result<(), RestrictError> {
    topology.check_tree().map_err(|_| RestrictError::Unsound)
}

fn overlay_of(topology: Topology<'_>, restriction: &Restriction) -> Overlay {
    fold::overlay(topology, restriction).unwrap_or_else(|| rebuild::overlay(topology, restriction))
}

/// Whether an overlay hides nothing and moves nothing.
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
