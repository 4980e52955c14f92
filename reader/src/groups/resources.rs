//! The hardware resources of the ranks of a job.

use super::error::ResourceError;
use super::instance::Instances;
use super::lowest::lowest;
use super::resource_type::ResourceType;
use super::uri::Uri;
use crate::jobs::Job;
use crate::object::Object;
use crate::topology::Topology;
use crate::view::View;

/// The hardware resources of the ranks of a job on this node. Everything is computed from the job
/// and its part of the topology: no process is asked, and no communicator is made.
///
/// Instances of types of hwloc are numbered as in the job's part of the topology, devices as in the
/// whole topology: OS devices, and then PCI devices, which stand for GPUs without OS devices.
///
/// ```no_run
/// # let topology = topobroker_reader::adopt()?;
/// use topobroker_reader::{groups::Uri, jobs::Job};
/// let job = Job::find(topology)?.ok_or("no job")?;
/// let resources = job.hw_resources();
/// for group in resources.groups(2) {
///     println!("{} {:?}", group.uris[0], group.ranks);
/// }
/// let colours = resources.instances(Uri::parse("hwloc://L3Cache")?)?;
/// println!("{:?}", colours.iter().collect::<Vec<_>>());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct HwResources<'a> {
    job: Job<'a>,
    view: View<'a>,
}

impl<'a> Job<'a> {
    /// The hardware resources of the ranks on this node.
    #[must_use]
    pub fn hw_resources(self) -> HwResources<'a> {
        HwResources { job: self, view: self.view() }
    }
}

impl<'a> HwResources<'a> {
    /// The job.
    #[must_use]
    pub fn job(&self) -> Job<'a> {
        self.job
    }

    /// The job's part of the topology.
    #[must_use]
    pub fn topology(&self) -> Topology<'_> {
        self.view.topology()
    }

    /// The types that the job's part of the topology has, in hwloc's order of types (groups and
    /// NUMA nodes before packages), and then those that are no objects of hwloc.
    pub fn types(&self) -> impl Iterator<Item = ResourceType> {
        ResourceType::of_hwloc(self.topology()).chain(ResourceType::OWN)
    }

    /// Which instance of a type each rank is on: the colours of `MPI_Comm_split_type` with
    /// `MPI_COMM_TYPE_HW_GUIDED`. If the URI has an instance, all others are left out. No rank is
    /// on an instance of a type that the topology does not have.
    ///
    /// # Errors
    ///
    /// [`ResourceError::SeveralLevels`].
    pub fn instances<'r>(&'r self, uri: Uri<'r>) -> Result<Instances<'r>, ResourceError> {
        Instances::new(self.job, self.topology(), uri)
    }

    /// The ranks on an instance, in the order of local ranks.
    ///
    /// # Errors
    ///
    /// [`ResourceError::SeveralLevels`].
    pub fn ranks_on<'r>(
        &'r self,
        uri: Uri<'r>,
    ) -> Result<impl Iterator<Item = u32> + 'r, ResourceError> {
        let instances = self.instances(uri)?;
        let all = (0..self.job.rank_count()).filter(move |it| instances.of(*it).is_some());
        Ok(all.map(|local_rank| self.job.rank_number(local_rank)))
    }

    /// Whether a rank is on one instance of each type that there is. Types of ours are left out if
    /// no rank is on an instance of them. Counterpart: `MPI_Get_hw_resource_info`.
    ///
    /// # Errors
    ///
    /// [`ResourceError::NotHere`].
    pub fn info(
        &self,
        rank: u32,
    ) -> Result<impl Iterator<Item = (ResourceType, bool)>, ResourceError> {
        let local_rank = self.local_rank(rank)?;
        let of_hwloc = ResourceType::of_hwloc(self.topology()).count();
        Ok(self.types().enumerate().filter_map(move |(row, resource)| {
            let instances = self.instances(Uri::of(resource)).ok()?;
            let is_there = row < of_hwloc || instances.iter().any(|it| it.is_some());
            is_there.then(|| (resource, instances.of(local_rank).is_some()))
        }))
    }

    /// The lowest object that has all PUs of the rank with a local rank; `None` if it is not bound.
    pub(crate) fn lowest(&self, local_rank: usize) -> Option<Object<'_>> {
        lowest(self.job, self.topology(), &self.job.pus_of(local_rank)?)
    }

    pub(super) fn local_rank(&self, rank: u32) -> Result<usize, ResourceError> {
        let not_here = || ResourceError::NotHere { job: self.job.name().into(), rank };
        self.job.local_rank_of(rank).ok_or_else(not_here)
    }
}
