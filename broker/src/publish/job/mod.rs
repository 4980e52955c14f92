//! Jobs over a published topology. Each job is a small segment next to that of the topology.

mod devices;
mod error;
mod files;

pub use devices::DevicePolicy;
pub use error::JobError;
pub use files::{PublishedJob, file_of, list, remove, sweep};
pub(super) use files::{base_of, remove_all};
pub(crate) use files::{names_of_jobs, place_of_memfd};
pub use files::{remove_orphans, sweep_jobs_of};

use crate::linux::{Root, with_facts_of_now};
use crate::publish::error::PublishError;
use crate::publish::header::{framed, header_of};
use crate::publish::legacy::{self, Legacy};
use crate::publish::options::mode;
use crate::publish::publisher::{self, Publisher};
use crate::publish::store::file_id::{FileId, id_of, remove_if};
use crate::publish::store::named;
use files::{new_file, places_of};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use topobroker_layout::encode::EncodeError;
use topobroker_layout::header::{self, Header, Kind};
use topobroker_layout::job::{DevicesOfRanks, Job, MAX_RANKS, Rank};
use topobroker_layout::set::{Format, Set};
use topobroker_process::open_trusted;
use topobroker_reader::jobs::runs_of_pus;
use topobroker_reader::{
    Adopted, Archive, Object, ObjectType, OsDeviceKind, Scope, Source, Topology, View,
};

/// How a job is added.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobOptions {
    /// Name of the job, different from all other jobs over the topology: letters, digits, `.`, `_`,
    /// `-`.
    pub name: String,
    /// Rank and PUs of each of its processes on this node, in the order of their local ranks; no
    /// PUs if the process is not bound.
    pub ranks: Vec<(u32, Option<Set>)>,
    /// The process that the job belongs to.
    pub launcher: Launcher,
    /// Only for this user: mode 0400 instead of 0444.
    pub private: bool,
    /// Also publish files for programs that know only hwloc or PMIx: see [`legacy`].
    pub legacy: bool,
    /// Which NICs and GPUs the ranks are given.
    pub devices: DevicePolicy,
}

/// The process that a job belongs to. The job ends with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Launcher {
    /// This process: dropping the [`JobPublication`] removes the job.
    #[default]
    ThisProcess,
    /// The process with this pid: [`self::sweep`] removes the job once the process is gone.
    Process(u32),
    /// No process: the job stays until it is removed.
    None,
}

/// An added job. Dropping this removes the job if it ends with this process.
#[derive(Debug)]
pub struct JobPublication {
    file: PathBuf,
    bytes: usize,
    /// The id of the file and the process that removes it; `None` if dropping this removes nothing.
    owned: Option<(FileId, u32)>,
    legacy: Option<Legacy>,
}

impl JobPublication {
    /// The file that readers adopt.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The files for hwloc next to it, if they were asked for.
    #[must_use]
    pub fn legacy(&self) -> Option<&Legacy> {
        self.legacy.as_ref()
    }

    /// Name and value of each environment variable that processes of the job need in addition to
    /// those of the topology.
    #[must_use]
    pub fn to_env(&self) -> Vec<(&'static str, OsString)> {
        let file = self.file.as_os_str().to_owned();
        let own = std::iter::once((topobroker_reader::jobs::Job::VARIABLE, file));
        own.chain(self.legacy.iter().flat_map(Legacy::to_env)).collect()
    }

    /// Length of its segment in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for JobPublication {
    fn drop(&mut self) {
        // A forked child removes nothing, and a later job of the same name is not removed.
        if let Some((id, owner)) = self.owned
            && owner == std::process::id()
            && remove_if(&self.file, id)
        {
            legacy::remove_companions(&self.file);
        }
    }
}

/// Adds a job over an adopted topology. Its processes see the objects that are visible in `view`.
///
/// ```no_run
/// use topobroker::publish::job::{JobOptions, add};
/// use topobroker_reader::{RestrictFlags, View};
/// let base = topobroker_reader::adopt()?;
/// let cpus = (0..4).collect();
/// let view = View::new(base.topology(), &cpus, RestrictFlags::REMOVE_CPULESS)?;
/// let ranks = vec![(0, Some(cpus))];
/// let job = add(base, &view, &JobOptions { name: "hello".to_owned(), ranks, ..Default::default() })?;
/// for (name, value) in job.to_env() {
///     println!("{name}={}", value.display());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`JobError`], with nothing left behind.
pub fn add(
    base: &Adopted,
    view: &View<'_>,
    options: &JobOptions,
) -> Result<JobPublication, JobError> {
    let name = &options.name;
    let files = places_of(base, name)?;
    if let Some(file) = files.iter().find(|file| open_trusted(&file.as_path().into()).is_ok()) {
        return Err(JobError::Exists { name: name.clone(), file: file.clone() });
    }
    let file = new_file(files, name)?;
    if !view.is_of(base.topology()) {
        return Err(JobError::OtherTopology { name: name.clone() });
    }
    let ranks = ranks(base, view, &options.ranks)?;
    let job = Job::new(base.header().segment_id, name, view.to_overlay()?, &ranks);
    let (nics, gpus) = devices(base.topology(), view, options)?;
    let job = Job { nics, gpus, ..job };
    let archive = job.to_bytes().map_err(|error: EncodeError| PublishError::from(error))?;
    let launcher = match options.launcher {
        Launcher::ThisProcess => publisher::publisher()?,
        Launcher::Process(pid) => publisher::process(pid)?,
        Launcher::None => Publisher::NONE,
    };
    let header = Header {
        kind: Kind::Job,
        scope: Scope::Job,
        source: Source::Loaded,
        size: header::segment_len(archive.len()) as u64,
        ..header_of(launcher)?
    };
    let mut segment = framed(&header, &archive)?;
    let published = named::publish_new(&file, &mut segment, mode(options.private))?;
    let file = published.ok_or_else(|| JobError::Exists { name: name.clone(), file })?;
    let id = fs::symlink_metadata(&file).ok().map(|metadata| id_of(&metadata));
    let legacy = options.legacy.then(|| legacy::publish(view.topology(), &file, options.private));
    let legacy = legacy.transpose().map_err(|error| {
        // If the files for hwloc cannot be made, the job is removed too.
        id.map(|id| remove_if(&file, id));
        PublishError::from(error)
    })?;
    let ends_with_us = options.launcher == Launcher::ThisProcess;
    let owned = id.filter(|_| ends_with_us).map(|id| (id, std::process::id()));
    Ok(JobPublication { file, bytes: segment.len(), owned, legacy })
}

/// The NICs and GPUs of the ranks, by the state that ports and links have now: the topology may
/// have been published when a port was down.
fn devices(
    node: Topology<'_>,
    view: &View<'_>,
    options: &JobOptions,
) -> Result<(DevicesOfRanks, DevicesOfRanks), PublishError> {
    let mut devices = node.objects_with_type(ObjectType::OSDevice);
    let deals_nics = options.devices.nics_per_rank > 0 && node.is_this_system();
    let now = match deals_nics
        && devices.any(|it| it.os_device_kind().is_some_and(OsDeviceKind::is_network))
    {
        true => with_facts_of_now(node, &Root::of_this_node())?,
        false => None,
    };
    let now = now.as_ref().and_then(|archive| Archive::open(archive).ok());
    let node = now.as_ref().map_or(node, Archive::topology);
    Ok(options.devices.assign(node, view, &options.ranks))
}

/// The ranks with their PUs by logical index. Checks that each rank is given once, and has PUs of
/// the job if it is bound.
fn ranks(
    base: &Adopted,
    view: &View<'_>,
    given: &[(u32, Option<Set>)],
) -> Result<Vec<Rank>, JobError> {
    let known = view.topology().root().cpuset().unwrap_or_default();
    if given.len() > MAX_RANKS {
        return Err(JobError::Ranks { found: given.len() });
    }
    // Cpusets may have PUs that are no objects, which no rank can run on.
    let pus = base.topology().objects_with_type(ObjectType::PU);
    let pus: Set = pus.filter_map(Object::os_index).collect();
    let mut seen = BTreeSet::new();
    let checked = given.iter().map(|(rank, set)| {
        let refused = |reason| JobError::Rank { rank: *rank, reason };
        if !seen.insert(*rank) {
            return Err(refused("is there already; expected each once".to_owned()));
        }
        let Some(set) = set else { return Ok((*rank, None)) };
        let runs = runs_of_pus(base.topology(), &(set & &pus));
        let runs = runs.filter(|_| set.is_included_in(&known));
        let list = |set: &Set| set.to_text(Format::List);
        let outside =
            || refused(format!("has PUs {}; expected some of {}", list(set), list(&known)));
        Ok((*rank, Some(runs.ok_or_else(outside)?)))
    });
    checked.collect()
}
