//! Jobs: the part of the node's topology that a launcher made ready for a job, and the PUs of its
//! ranks.

use crate::adopt::{AdoptError, Adopted, other_segment, pmix_value};
use crate::devices::{device_of_number, nvlink_domain_of};
use crate::locality::{Blocks, Locality, by_pus, by_sets};
use crate::object::Object;
use crate::topology::Topology;
use crate::view::View;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;
use topobroker_layout::OpenError;
use topobroker_layout::header::{Header, MAX_SEGMENT_LEN, segment_name};
use topobroker_layout::job::{self, ArchivedDevicesOfRanks, ArchivedJob};
use topobroker_layout::pu_sets::PuSet;
use topobroker_layout::set::Set;
use topobroker_process::{FilePath, variable};

/// A job on this node. It is a handle: copy it freely.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    base: Topology<'a>,
    header: Header,
    archive: &'a ArchivedJob,
    blocks: Option<Blocks>,
}

/// One rank of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRank {
    /// Rank in the job.
    pub rank: u32,
    /// Number among the ranks on this node, from 0. Counterpart: `PMIX_LOCAL_RANK`.
    pub local_rank: u32,
    /// Its PUs, by OS index; `None` if it is not bound. Counterpart: `PMIX_CPUSET`.
    pub cpuset: Option<Set>,
}

/// Why a process cannot adopt a job.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum AdoptJobError {
    /// The segment of the job cannot be adopted.
    #[error(transparent)]
    Adopt(#[from] AdoptError),
    /// The job is over another topology than the adopted one.
    #[error(
        "{file}: is a job over segment {found}, but this process has adopted {expected}; hand the \
         process the keys of the topology that the job was made for"
    )]
    OtherBase { file: FilePath, found: String, expected: String },
}

impl fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Job({:?}, {} ranks)", self.name(), self.archive.rank_count())
    }
}

/// Adopts the job in a file, over the topology that this process has adopted. The segment of the
/// job stays mapped for the life of the process. Neither the job nor its view takes memory of its
/// own.
///
/// ```no_run
/// let topology = topobroker_reader::adopt()?;
/// let job = topobroker_reader::jobs::adopt_job(topology, "/dev/shm/job")?;
/// println!("{}: {} objects", job.name(), job.view().topology().object_count());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`AdoptJobError`].
pub fn adopt_job(
    base: &'static Adopted,
    file: impl Into<FilePath>,
) -> Result<Job<'static>, AdoptJobError> {
    let file = &file.into();
    let (candidate, bytes) = other_segment(file, MAX_SEGMENT_LEN)?;
    let refused = |error| candidate.refused(error);
    let (header, archive) = job::open(bytes).map_err(refused)?;
    if archive.base != base.header().segment_id {
        let (found, expected) = (segment_name(archive.base), base.header().segment_name());
        return Err(AdoptJobError::OtherBase { file: file.clone(), found, expected });
    }
    Ok(Job::over(base.topology(), header, archive).map_err(refused)?)
}

impl Job<'static> {
    /// Environment variable that names the file of a process's job.
    pub const VARIABLE: &'static str = "TOPOBROKER_JOB";

    /// Name of the PMIx key under which a launcher hands over the file of a job.
    pub const PMIX_NAME: &str = "topobroker.job";

    /// The job of this process: the one in the file that `TOPOBROKER_JOB` names, otherwise in the
    /// file that its PMIx server names; `None` if neither names a file.
    ///
    /// # Errors
    ///
    /// The errors of [`adopt_job`].
    pub fn find(base: &'static Adopted) -> Result<Option<Self>, AdoptJobError> {
        let named =
            variable(Self::VARIABLE).filter(|file| !file.is_empty()).map(FilePath::from_bytes);
        let file = named.or_else(|| pmix_value(Self::PMIX_NAME).map(FilePath::from));
        file.map(|file| adopt_job(base, file)).transpose()
    }
}

impl<'a> Job<'a> {
    /// Opens a job over a topology, from the bytes of its segment in memory, and checks them. It
    /// cannot check whether the job was made for this topology, because a topology does not say
    /// which segment it is from.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// # let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/job-1.0");
    /// use topobroker_layout::encode::AlignedVec;
    /// use topobroker_reader::jobs::Job;
    /// let mut segment = AlignedVec::<16>::new();
    /// segment.extend_from_slice(&std::fs::read(file)?);
    /// let job = Job::from_segment(topology, &segment)?;
    /// println!("{} has {} ranks here", job.name(), job.ranks().len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`OpenError`] with the first rule that the bytes break.
    pub fn from_segment(base: Topology<'a>, segment: &'a [u8]) -> Result<Self, OpenError> {
        let (header, archive) = job::open(segment)?;
        Self::over(base, header, archive)
    }

    fn over(
        base: Topology<'a>,
        header: Header,
        archive: &'a ArchivedJob,
    ) -> Result<Self, OpenError> {
        base.check_tree()?;
        job::validate(archive, base.index.archive)?;
        let blocks = Blocks::new(base.index, &archive.overlay);
        Ok(Self { base, header, archive, blocks })
    }

    /// Name of the job.
    #[must_use]
    pub fn name(self) -> &'a str {
        self.archive.name()
    }

    /// Header of the job's segment: who launched the job, and when.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The part of the topology that the job may use.
    #[must_use]
    pub fn view(self) -> View<'a> {
        View::shared(self.base, &self.archive.overlay)
    }

    /// The ranks of the job on this node, in the order of their local ranks.
    pub fn ranks(self) -> impl ExactSizeIterator<Item = JobRank> + use<'a> {
        (0..self.archive.rank_count()).map(move |local_rank| self.rank_at(local_rank))
    }

    /// A rank of the job; `None` if it is not on this node.
    #[must_use]
    pub fn rank(&self, rank: u32) -> Option<JobRank> {
        self.archive.local_rank_of(rank).map(|local_rank| self.rank_at(local_rank))
    }

    fn rank_at(&self, local_rank: usize) -> JobRank {
        let cpuset = self.archive.pus_of(local_rank).map(|pus| self.cpuset(&pus));
        let rank = self.archive.ranks.get_u32(local_rank);
        JobRank { rank, local_rank: u32::try_from(local_rank).unwrap_or(u32::MAX), cpuset }
    }

    /// The whole topology of the node, which the job is over.
    #[must_use]
    pub fn topology(self) -> Topology<'a> {
        self.base
    }

    /// Number of ranks on this node.
    #[must_use]
    pub fn rank_count(self) -> usize {
        self.archive.rank_count()
    }

    /// Local rank of a rank; `None` if it is not on this node. Counterpart: `PMIX_LOCAL_RANK`.
    #[must_use]
    pub fn local_rank_of(self, rank: u32) -> Option<usize> {
        self.archive.local_rank_of(rank)
    }

    /// The rank with a local rank.
    pub(crate) fn rank_number(self, local_rank: usize) -> u32 {
        self.archive.ranks.get_u32(local_rank)
    }

    /// PUs of the rank with a local rank; `None` if it is not bound.
    #[inline]
    pub(crate) fn pus_of(self, local_rank: usize) -> Option<PuSet<'a>> {
        self.archive.pus_of(local_rank)
    }

    /// The number of the binding of the rank with a local rank: ranks with the same PUs have the
    /// same.
    pub(crate) fn binding_of(self, local_rank: usize) -> Option<u32> {
        self.archive.set_of(local_rank)
    }

    /// The GPUs of the rank with a local rank.
    pub(crate) fn gpus_of(self, local_rank: usize) -> impl Iterator<Item = Object<'a>> {
        self.devices_of(&self.archive.gpus, local_rank)
    }

    /// The NICs of the rank with a local rank.
    pub(crate) fn nics_of(self, local_rank: usize) -> impl Iterator<Item = Object<'a>> {
        self.devices_of(&self.archive.nics, local_rank)
    }

    pub(crate) fn cpuset(&self, pus: &PuSet<'_>) -> Set {
        let mut cpuset = Set::new();
        pus.runs().for_each(|run| self.base.index.add_os_indexes(run, &mut cpuset));
        cpuset
    }

    /// The NICs that a rank was given, the best first. None if the rank is not on this node, or
    /// ranks were given none: the node had no active NIC, or none were wanted. [`Topology::assign`]
    /// is how they are dealt.
    ///
    /// ```no_run
    /// # let topology = topobroker_reader::adopt()?;
    /// use topobroker_reader::jobs::Job;
    /// let job = Job::find(topology)?.ok_or("no job")?;
    /// for nic in job.nics(0) {
    ///     println!("{}", nic.name().unwrap_or_default());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nics(self, rank: u32) -> impl Iterator<Item = Object<'a>> {
        self.given(&self.archive.nics, rank)
    }

    /// The GPUs that a rank was given, the best first. None if the rank is not on this node, or
    /// ranks were given none.
    pub fn gpus(self, rank: u32) -> impl Iterator<Item = Object<'a>> {
        self.given(&self.archive.gpus, rank)
    }

    /// The NVLink domain over nodes that all GPUs of a rank are in ([`Object::nvlink_domain`]):
    /// ranks with the same one, on whatever nodes, reach each other by NVLink. `None` if its GPUs
    /// are in none, or in several.
    #[must_use]
    pub fn nvlink_domain(self, rank: u32) -> Option<&'a str> {
        nvlink_domain_of(self.gpus(rank))
    }

    fn given(
        self,
        devices: &'a ArchivedDevicesOfRanks,
        rank: u32,
    ) -> impl Iterator<Item = Object<'a>> {
        let place = self.archive.local_rank_of(rank);
        place.into_iter().flat_map(move |place| self.devices_of(devices, place))
    }

    fn devices_of(
        self,
        devices: &'a ArchivedDevicesOfRanks,
        local_rank: usize,
    ) -> impl Iterator<Item = Object<'a>> {
        devices.of(local_rank).filter_map(move |number| device_of_number(self.base, number))
    }

    /// What two ranks share. They share the node alone if one of them is not bound. `None` if one
    /// of them is not on this node. Counterpart: `PMIx_Get_relative_locality`.
    ///
    /// ```no_run
    /// # let topology = topobroker_reader::adopt()?;
    /// use topobroker_reader::{jobs::Job, Locality};
    /// if let Some(job) = Job::find(topology)? {
    ///     println!("{}", job.locality(0, 1).unwrap_or(Locality::NONLOCAL));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn locality(&self, rank: u32, other: u32) -> Option<Locality> {
        let pus = |rank| Some(self.archive.pus_of(self.archive.local_rank_of(rank)?));
        Some(self.shared(pus(rank)?.as_ref(), pus(other)?.as_ref()))
    }

    /// What a rank shares with each rank on this node, in the order of local ranks. Takes no
    /// memory, unless cpusets of the topology have PUs that are no objects. `None` if the rank is
    /// not on this node. Counterpart: `PMIx_Get_relative_locality` of the locality string of each
    /// of `PMIX_LOCAL_PEERS`.
    ///
    /// ```no_run
    /// # let topology = topobroker_reader::adopt()?;
    /// use topobroker_reader::{jobs::Job, Locality};
    /// let job = Job::find(topology)?.ok_or("no job")?;
    /// let near = job.localities(0).ok_or("rank 0 is on another node")?;
    /// println!("{} ranks on its NUMA node", near.filter(|it| it.shares(Locality::NUMA)).count());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn localities(
        self,
        rank: u32,
    ) -> Option<impl ExactSizeIterator<Item = Locality> + use<'a>> {
        let own = self.archive.pus_of(self.archive.local_rank_of(rank)?);
        let others = 0..self.archive.rank_count();
        Some(
            others.map(move |other| self.shared(own.as_ref(), self.archive.pus_of(other).as_ref())),
        )
    }

    /// Ranks on this node that share all of `what` with a rank, itself among them, in the order of
    /// local ranks. Empty if the rank is not on this node.
    pub fn sharing(self, rank: u32, what: Locality) -> impl Iterator<Item = u32> + use<'a> {
        let all = self.localities(rank).into_iter().flatten().enumerate();
        let sharing = all.filter(move |(_, locality)| locality.shares(what));
        sharing.map(move |(local_rank, _)| self.archive.ranks.get_u32(local_rank))
    }

    /// What ranks with these PUs share; no PUs if a rank is not bound.
    fn shared(&self, one: Option<&PuSet<'_>>, other: Option<&PuSet<'_>>) -> Locality {
        let Some((one, other)) = one.zip(other) else { return Locality::NODE };
        let (index, overlay) = (self.base.index, &self.archive.overlay);
        let job_sees = |id| overlay.is_visible(id);
        // Fast path: up to 6.1 times as fast.
        if let Some(blocks) = &self.blocks {
            return blocks.shared(one, other);
        }
        match index.has_runs {
            true => by_pus(index, one, other, job_sees),
            false => by_sets(index, &self.cpuset(one), &self.cpuset(other), job_sees),
        }
    }
}

/// The PUs of a set as a job stores them: runs of logical indexes. `None` if the set is empty or
/// has an index that is no PU of the topology.
///
/// ```no_run
/// let topology = topobroker_reader::adopt()?.topology();
/// let pus = topology.root().cpuset().unwrap_or_default();
/// let all = topobroker_reader::jobs::runs_of_pus(topology, &pus);
/// println!("{all:?}"); // Some([0..8])
/// # Ok::<(), topobroker_reader::AdoptError>(())
/// ```
#[must_use]
pub fn runs_of_pus(base: Topology<'_>, set: &Set) -> Option<Vec<Range<u32>>> {
    let mut runs = Vec::new();
    let (mut next, mut count) = (base.index.next_pu_of(set, 0), 0);
    while let Some(first) = next {
        let end = base.index.next_pu_not_of(set, first);
        count += end - first;
        runs.push(first..end);
        next = base.index.next_pu_of(set, end);
    }
    (count > 0 && set.weight() == Some(count)).then_some(runs)
}
