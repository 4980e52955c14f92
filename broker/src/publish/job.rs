//! Jobs over a published topology: a small segment each, beside that of the topology.

use super::file_id::{FileId, id_of, remove_if};
use super::identity::{self, Publisher, PublisherState};
use super::legacy::Legacy;
use super::{NAME_PREFIX, PublishError, SHM_FOLDER, legacy, named};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use topobroker_layout::OpenError;
use topobroker_layout::build::BuildError;
use topobroker_layout::header::{self, HEADER_LEN, Header, Kind};
use topobroker_layout::job::{self, Job, MAX_NAME, MAX_RANKS};
use topobroker_layout::set::{Format, Set};
use topobroker_reader::{Adopted, RestrictError, Scope, Source, Store, View, open_trusted};

/// How a job is added.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobOptions {
    /// Name of the job, which no other job over the same topology has: letters, digits, `.`, `_`, `-`.
    pub name: String,
    /// Rank and PUs of each of its processes on this node, in the order of their local ranks.
    pub ranks: Vec<(u32, Set)>,
    /// Who the job ends with.
    pub launcher: Launcher,
    /// Only for this user: mode 0400 instead of 0444.
    pub private: bool,
    /// The job's part for programs that know only hwloc or PMIx too: see [`legacy`].
    pub legacy: bool,
}

/// With whom a job ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Launcher {
    /// With this process: dropping the [`JobPublication`] removes it.
    #[default]
    ThisProcess,
    /// With another process, once [`sweep`] finds that it is gone.
    Process(u32),
    /// With nobody: it stays until it is removed.
    Nobody,
}

/// Why a job is not added, listed or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// Its segment cannot be published.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The name cannot be one.
    #[error("job name {found:?}: expected 1 to {MAX_NAME} letters, digits, '.', '_' or '-'")]
    Name {
        /// The name.
        found: String,
    },
    /// There is such a job.
    #[error("job {name:?} exists already as {file}; remove it, or choose another name")]
    Exists {
        /// Name of the job.
        name: String,
        /// Its file.
        file: String,
    },
    /// There is no such job.
    #[error("there is no job {name:?} over this topology; `topobroker job list` lists them")]
    Missing {
        /// Name of the job.
        name: String,
    },
    /// The view shows another topology.
    #[error("the view of job {name:?} is of another topology than the one it is added to")]
    OtherTopology {
        /// Name of the job.
        name: String,
    },
    /// A rank is not one of the job.
    #[error("rank {rank} {reason}")]
    Rank {
        /// The rank.
        rank: u32,
        /// What is wrong with it.
        reason: String,
    },
    /// More ranks than a job may have.
    #[error("{found} ranks; expected {MAX_RANKS} on a node at most")]
    Ranks {
        /// How many.
        found: usize,
    },
    /// The view cannot be archived.
    #[error(transparent)]
    View(#[from] RestrictError),
    /// The folder of the jobs cannot be read.
    #[error("{folder}: cannot be listed: {source}")]
    List {
        /// The folder.
        folder: String,
        /// Why.
        source: io::Error,
    },
}

/// A job that was added, removed when this is dropped if it ends with this process.
#[derive(Debug)]
pub struct JobPublication {
    file: PathBuf,
    bytes: usize,
    /// The file itself and the process that removes it, if it ends with that.
    owned: Option<(FileId, u32)>,
    legacy: Option<Legacy>,
}

impl JobPublication {
    /// The file that readers adopt.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// What is published for hwloc beside it, if that was asked for.
    #[must_use]
    pub fn legacy(&self) -> Option<&Legacy> {
        self.legacy.as_ref()
    }

    /// Name and value of each environment variable that processes of the job are to have beside those of
    /// the topology.
    #[must_use]
    pub fn to_env(&self) -> Vec<(&'static str, OsString)> {
        let (name, file) = topobroker_reader::Job::to_env(&self.file);
        let own = std::iter::once((name, file.as_os_str().to_owned()));
        own.chain(self.legacy.iter().flat_map(Legacy::to_env)).collect()
    }

    /// Bytes of its segment.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for JobPublication {
    fn drop(&mut self) {
        // Not the child of a fork, and not the next job of that name.
        if let Some((id, owner)) = self.owned
            && owner == std::process::id()
        {
            remove_if(&self.file, id);
            legacy::remove_beside(&self.file);
        }
    }
}

/// Adds a job that sees what `view` shows of an adopted topology.
///
/// ```no_run
/// use topobroker::publish::job::{JobOptions, add};
/// use topobroker_reader::{RestrictFlags, View};
/// let base = topobroker_reader::adopt()?;
/// let cpus = (0..4).collect();
/// let view = View::new(base.topology(), &cpus, RestrictFlags::REMOVE_CPULESS)?;
/// let ranks = vec![(0, cpus)];
/// let job = add(base, &view, &JobOptions { name: "hello".to_owned(), ranks, ..Default::default() })?;
/// println!("TOPOBROKER_JOB={}", job.file().display());
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
    let file = file_of(base, name)?;
    if !view.is_of(base.topology()) {
        return Err(JobError::OtherTopology { name: name.clone() });
    }
    check_ranks(view, &options.ranks)?;
    let job = Job::new(base.header().segment_id, name, view.to_overlay()?, &options.ranks);
    let archive = job.to_bytes().map_err(|error: BuildError| PublishError::from(error))?;
    let launcher = match options.launcher {
        Launcher::ThisProcess => identity::publisher()?,
        Launcher::Process(pid) => identity::process(pid)?,
        Launcher::Nobody => Publisher::NOBODY,
    };
    let header = Header {
        kind: Kind::Job,
        scope: Scope::Job,
        source: Source::Loaded,
        size: header::segment_len(archive.len()) as u64,
        ..super::header_of(launcher)?
    };
    let mut segment = super::framed(&header, &archive)?;
    let mode = if options.private { 0o400 } else { 0o444 };
    let (folder, file_name) = match (file.parent(), file.file_name().and_then(|it| it.to_str())) {
        (Some(folder), Some(file_name)) => (folder, file_name),
        _ => return Err(JobError::Name { found: name.clone() }),
    };
    match named::publish(folder, file_name, &mut segment, mode) {
        Ok(file) => {
            let id = fs::symlink_metadata(&file).ok().map(|it| id_of(&it));
            let owned = id.map(|id| (id, std::process::id()));
            let mut job = JobPublication { file, bytes: segment.len(), owned, legacy: None };
            if options.legacy {
                // If it fails, the job goes too.
                let published = legacy::publish(view.topology(), &job.file, options.private);
                job.legacy = Some(published.map_err(PublishError::from)?);
            }
            if options.launcher != Launcher::ThisProcess {
                job.owned = None;
            }
            Ok(job)
        }
        Err(PublishError::Store { source, .. })
            if source.kind() == io::ErrorKind::AlreadyExists =>
        {
            Err(JobError::Exists { name: name.clone(), file: file.display().to_string() })
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether each rank is there once and has PUs of the job.
fn check_ranks(view: &View<'_>, ranks: &[(u32, Set)]) -> Result<(), JobError> {
    let known = view.topology().root().cpuset().unwrap_or_default();
    let expected = || known.to_text(Format::List);
    let mut seen = BTreeSet::new();
    if ranks.len() > MAX_RANKS {
        return Err(JobError::Ranks { found: ranks.len() });
    }
    for (rank, set) in ranks {
        let reason = match set {
            set if set.is_empty() || !set.is_included_in(&known) => {
                format!("has PUs {}; expected some of {}", set.to_text(Format::List), expected())
            }
            _ if !seen.insert(*rank) => "is there already; expected each once".to_owned(),
            _ => continue,
        };
        return Err(JobError::Rank { rank: *rank, reason });
    }
    Ok(())
}

/// A job that is there.
#[derive(Debug)]
pub struct PublishedJob {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// Bytes of its segment.
    pub size: u64,
    /// Its header and number of ranks, or why they cannot be read.
    pub contents: Result<(Header, usize), OpenError>,
}

/// The jobs over an adopted topology, by name.
///
/// # Errors
///
/// [`JobError::List`].
pub fn list(base: &Adopted) -> Result<Vec<PublishedJob>, JobError> {
    let start = start_of_files(base);
    let found = files(&start)?.into_iter().filter_map(|(name, file)| {
        // Removed in the meantime, or not to be trusted.
        let (segment, _) = read_trusted(&file, MAX_SEGMENT).ok()?;
        let contents = match job::open(&aligned(&segment)) {
            Ok((_, job)) if job.base != base.header().segment_id || job.name() != name => {
                return None;
            }
            Ok((header, job)) => Ok((header, job.rank_count())),
            Err(error) => Err(error),
        };
        Some(PublishedJob { name, file, size: segment.len() as u64, contents })
    });
    Ok(found.collect())
}

/// Removes a job. Processes that have adopted it keep it.
///
/// # Errors
///
/// [`JobError::Missing`], or why it cannot be removed.
pub fn remove(base: &Adopted, name: &str) -> Result<(), JobError> {
    let file = file_of(base, name)?;
    legacy::remove_beside(&file);
    match fs::remove_file(&file) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(JobError::Missing { name: name.to_owned() })
        }
        Err(source) => {
            let file = file.display().to_string();
            Err(PublishError::Store { file, step: "be removed", source }.into())
        }
    }
}

/// Removes the jobs whose launcher is gone, and returns how many.
///
/// # Errors
///
/// [`JobError::List`].
pub fn sweep(base: &Adopted) -> Result<usize, JobError> {
    sweep_files(&start_of_files(base))
}

/// The file of a job.
///
/// # Errors
///
/// [`JobError::Name`].
pub fn file_of(base: &Adopted, name: &str) -> Result<PathBuf, JobError> {
    if !is_name(name) {
        return Err(JobError::Name { found: name.to_owned() });
    }
    let mut file = start_of_files(base).into_os_string();
    file.push(name);
    Ok(file.into())
}

fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(plain)
}

/// How the paths of files of jobs begin: as that of the topology.
fn start_of_files(base: &Adopted) -> PathBuf {
    let file = match base.keys().store() {
        Store::File(file) => file.clone(),
        _ => place_of_memfd(base.header()),
    };
    start_beside(&file)
}

/// A memfd has no folder: the jobs over it are where it would be in shared memory.
pub(super) fn place_of_memfd(header: &Header) -> PathBuf {
    Path::new(SHM_FOLDER).join(format!("{NAME_PREFIX}{}", header.segment_name()))
}

fn start_beside(base_file: &Path) -> PathBuf {
    let mut start = base_file.as_os_str().to_owned();
    start.push(".job-");
    start.into()
}

/// Removes all jobs over the topology of a file, which is withdrawn.
pub(super) fn remove_all(base_file: &Path) {
    for (_, file) in files(&start_beside(base_file)).unwrap_or_default() {
        // Another user's, perhaps; without its topology it is of no use to anybody.
        let _ = fs::remove_file(&file);
        legacy::remove_beside(&file);
    }
}

/// Whether there are jobs over the topology of a file.
pub(crate) fn has_jobs(base_file: &Path) -> bool {
    files(&start_beside(base_file)).is_ok_and(|files| !files.is_empty())
}

/// Removes the jobs over the topology of a file whose launcher is gone.
pub(crate) fn sweep_beside(base_file: &Path) -> Result<usize, JobError> {
    sweep_files(&start_beside(base_file))
}

fn sweep_files(start: &Path) -> Result<usize, JobError> {
    let gone = files(start)?.into_iter().filter_map(|(_, file)| {
        let (bytes, id) = read_trusted(&file, HEADER_LEN as u64).ok()?;
        let header = Header::read(&bytes).ok()?;
        (identity::state_of(Some(&header)) == PublisherState::Gone).then_some((file, id))
    });
    let removed = gone.filter(|(file, id)| {
        let removed = remove_if(file, *id);
        if removed {
            legacy::remove_beside(file);
        }
        removed
    });
    Ok(removed.count())
}

/// Removes this user's jobs and hwloc copies in a folder of topologies that are not there any more:
/// `known` are the names of those that are.
pub(crate) fn remove_orphans(folder: &Path, known: &BTreeSet<String>) -> io::Result<()> {
    let me = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(folder)?.flatten() {
        let name = entry.file_name();
        let base = name.to_str().and_then(base_of);
        if let Some(base) = base
            && !known.contains(base)
            // Published since they were listed.
            && !folder.join(format!("{NAME_PREFIX}{base}")).exists()
            && let Ok(metadata) = fs::symlink_metadata(entry.path())
            && metadata.uid() == me
        {
            remove_if(&entry.path(), id_of(&metadata));
        }
    }
    Ok(())
}

/// The segment that a file belongs to by its name: a job over it, or a copy for hwloc of one of the two.
fn base_of(name: &str) -> Option<&str> {
    let name = name.strip_prefix(NAME_PREFIX)?;
    let (own, copy) = legacy::split_name(name);
    match own.split_once(".job-") {
        Some((base, job)) => is_name(job).then_some(base),
        None => copy.then_some(own),
    }
}

/// Most bytes of the segment of a job.
const MAX_SEGMENT: u64 = 1 << 28;

/// The first bytes of a file that root or this user owns, and which file it is. Anybody may put
/// anything into a folder of shared memory.
fn read_trusted(file: &Path, most: u64) -> io::Result<(Vec<u8>, FileId)> {
    let opened = open_trusted(file)?;
    let metadata = opened.metadata()?;
    let mut bytes = Vec::new();
    opened.take(most).read_to_end(&mut bytes)?;
    Ok((bytes, id_of(&metadata)))
}

/// Names and files of jobs whose paths begin so.
fn files(start: &Path) -> Result<Vec<(String, PathBuf)>, JobError> {
    let folder = start.parent().unwrap_or(Path::new("/"));
    let prefix = start.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let entries = fs::read_dir(folder)
        .map_err(|source| JobError::List { folder: folder.display().to_string(), source })?;
    let found = entries.flatten().filter_map(|entry| {
        let name = entry.file_name();
        let name = name.to_str()?.strip_prefix(&prefix).filter(|name| is_name(name))?;
        Some((name.to_owned(), entry.path()))
    });
    let mut found: Vec<_> = found.collect();
    found.sort();
    Ok(found)
}

/// The bytes of a segment where an archive may be read.
fn aligned(segment: &[u8]) -> topobroker_layout::build::AlignedVec {
    let mut bytes = topobroker_layout::build::AlignedVec::with_capacity(segment.len());
    bytes.extend_from_slice(segment);
    bytes
}
