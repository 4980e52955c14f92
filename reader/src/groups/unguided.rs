//! Splits ranks by the outermost resource of which not all of them are on the same instance.

use super::error::ResourceError;
use super::lowest::lowest;
use super::resource_type::ResourceType;
use super::resources::HwResources;
use super::uri::Uri;
use crate::jobs::Job;
use crate::object::Object;
use crate::topology::Topology;
use topobroker_layout::object_type::ObjectType;

/// Ranks that are split: each part are those whose PUs are all below one child of the lowest object
/// that has the PUs of all. A part has fewer ranks than there were, and no other rank is below the
/// child. A rank that is below no child is in no part.
///
/// A NUMA node with all PUs of the machine is no step of its own: the standard counts the processes
/// that are restricted to a resource, and a rank that is not bound can use nothing outside of that
/// node either. So the part is never a NUMA node that all ranks are on.
pub struct Unguided<'r> {
    job: Job<'r>,
    topology: Topology<'r>,
    /// The lowest object that has the PUs of all.
    around: Option<Object<'r>>,
}

impl HwResources<'_> {
    /// Splits ranks by the outermost resource of which not all of them are on the same instance.
    /// Counterpart: `MPI_Comm_split_type` with `MPI_COMM_TYPE_HW_UNGUIDED`.
    ///
    /// # Errors
    ///
    /// [`ResourceError::NotHere`].
    pub fn unguided(&self, ranks: &[u32]) -> Result<Unguided<'_>, ResourceError> {
        Unguided::new(self, ranks)
    }
}

impl<'r> Unguided<'r> {
    pub(super) fn new(
        resources: &'r HwResources<'r>,
        ranks: &[u32],
    ) -> Result<Self, ResourceError> {
        let (job, topology) = (resources.job(), resources.topology());
        let mut around: Option<Object<'r>> = None;
        for rank in ranks {
            let pus = job.pus_of(resources.local_rank(*rank)?);
            let own = pus.and_then(|pus| lowest(job, topology, &pus));
            // A rank that is not bound may be anywhere.
            let own = own.unwrap_or_else(|| topology.root());
            around = Some(around.map_or(own, |around| around.common_ancestor(own)));
        }
        Ok(Self { job, topology, around })
    }

    /// The part that a rank is in: ranks of a part have the same object.
    #[must_use]
    pub fn part(&self, rank: u32) -> Option<Object<'r>> {
        let pus = self.job.pus_of(self.job.local_rank_of(rank)?)?;
        let lowest = lowest(self.job, self.topology, &pus)?;
        let mut above = core::iter::once(lowest).chain(lowest.ancestors());
        above.find(|it| it.parent() == self.around)
    }

    /// The type and instance of a part. A NUMA node is named in place of the group that hwloc put
    /// around it, if nothing in the group is near another node.
    #[must_use]
    pub fn uri(part: Object<'_>) -> Option<Uri<'static>> {
        let is_group = matches!(ResourceType::of(part), Some(ResourceType::Group(_)));
        let is_near = |node: &Object<'_>| {
            let place = node.normal_part();
            place.is_in_subtree(part) || part.is_in_subtree(place)
        };
        let nodes = || part.topology().objects_with_type(ObjectType::NUMANode);
        let is_near_one = || nodes().filter(is_near).take(2).count() == 1;
        let node = part.memory_children().find(|it| it.object_type() == ObjectType::NUMANode);
        let named = node.filter(|_| is_group && is_near_one()).unwrap_or(part);
        Some(Uri::of_instance(ResourceType::of(named)?, named.logical_index()))
    }
}
