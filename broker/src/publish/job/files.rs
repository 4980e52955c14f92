//! The files of jobs: their names, listing and removing them.

use super::error::JobError;
use crate::aligned::aligned;
use crate::file_bytes::with_ending;
use crate::publish::publisher::{PublisherState, state_of};
use crate::publish::store::file_id::{FileId, id_of, remove_if};
use crate::publish::{NAME_PREFIX, SHM_FOLDER, legacy, remove_file};
use rustix::fs::Access;
use std::collections::BTreeSet;
use std::fs;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use topobroker_layout::OpenError;
use topobroker_layout::header::{HEADER_LEN, Header, MAX_SEGMENT_LEN};
use topobroker_layout::job::{self, MAX_NAME};
use topobroker_process::open_trusted;
use topobroker_reader::{Adopted, FileKey};

/// A job found on this node.
#[derive(Debug)]
pub struct PublishedJob {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// Length of its segment in bytes.
    pub size: u64,
    /// Its header and number of ranks, or why they cannot be read.
    pub contents: Result<(Header, usize), OpenError>,
}

/// Lists the jobs over an adopted topology, sorted by name.
///
/// # Errors
///
/// [`JobError::List`].
pub fn list(base: &Adopted) -> Result<Vec<PublishedJob>, JobError> {
    let found = all_files(&starts_of_files(base))?.into_iter().filter_map(|(name, file)| {
        // A file that was removed meanwhile or that cannot be trusted is left out.
        let (segment, _) = read_trusted(&file, MAX_SEGMENT_LEN).ok()?;
        let contents = match job::open(&aligned(&segment)) {
            Ok((_, job)) if job.base != base.header().segment_id || job.name() != name => {
                return None;
            }
            Ok((header, job)) => Ok((header, job.rank_count())),
            Err(error) => Err(error),
        };
        Some(PublishedJob { name, file, size: segment.len() as u64, contents })
    });
    let mut found: Vec<PublishedJob> = found.collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

/// Removes a job. Processes that have adopted it keep it.
///
/// # Errors
///
/// [`JobError::Missing`] if there is no such job, [`JobError::Name`] if the name is not valid,
/// [`JobError::Publish`] if the file cannot be removed.
pub fn remove(base: &Adopted, name: &str) -> Result<(), JobError> {
    let files = places_of(base, name)?;
    let is_there = |file: &&PathBuf| file.symlink_metadata().is_ok();
    let Some(file) = files.iter().find(is_there).or(files.first()).cloned() else {
        return Err(JobError::Missing { name: name.to_owned() });
    };
    legacy::remove_companions(&file);
    match remove_file(&file)? {
        true => Ok(()),
        false => Err(JobError::Missing { name: name.to_owned() }),
    }
}

/// Removes the jobs whose launcher is gone, and returns their number.
///
/// # Errors
///
/// [`JobError::List`].
pub fn sweep(base: &Adopted) -> Result<usize, JobError> {
    sweep_files(&starts_of_files(base))
}

/// The file of a job: the one that is there and can be trusted, otherwise the one that a new job
/// would get.
///
/// # Errors
///
/// [`JobError::Name`].
pub fn file_of(base: &Adopted, name: &str) -> Result<PathBuf, JobError> {
    let files = places_of(base, name)?;
    let is_there = |file: &&PathBuf| open_trusted(&file.as_path().into()).is_ok();
    match files.iter().find(is_there) {
        Some(file) => Ok(file.clone()),
        None => new_file(files, name),
    }
}

/// The file of a new job: next to the topology, or in shared memory if this user may not write
/// there, because a daemon of root has published it.
pub(super) fn new_file(files: Vec<PathBuf>, name: &str) -> Result<PathBuf, JobError> {
    let may_write = |file: &PathBuf| {
        let folder = file.parent().unwrap_or(Path::new("/"));
        rustix::fs::access(folder, Access::WRITE_OK).is_ok()
    };
    let (mut writable, mut others): (Vec<_>, Vec<_>) = files.into_iter().partition(may_write);
    let file = if writable.is_empty() { others.pop() } else { Some(writable.swap_remove(0)) };
    file.ok_or_else(|| JobError::Name { found: name.to_owned() })
}

/// Where the file of a job may be.
///
/// # Errors
///
/// [`JobError::Name`].
pub(super) fn places_of(base: &Adopted, name: &str) -> Result<Vec<PathBuf>, JobError> {
    if !is_name(name) {
        return Err(JobError::Name { found: name.to_owned() });
    }
    Ok(starts_of_files(base).iter().map(|start| with_ending(start, name)).collect())
}

fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(plain)
}

/// The common starts of the paths of job files: see [`starts_of_jobs`].
fn starts_of_files(base: &Adopted) -> Vec<PathBuf> {
    let in_memory = place_of_memfd(base.header());
    let file = match base.keys().file_key() {
        FileKey::Path(file) => file.as_path().to_owned(),
        _ => in_memory.clone(),
    };
    let mut starts = vec![start_of_jobs(&file), start_of_jobs(&in_memory)];
    starts.dedup();
    starts
}

/// The common starts of the paths of job files: the path of the topology, and the one that it would
/// have in shared memory, where users have their jobs who may not write next to it; then `.job-`.
fn starts_of_jobs(base_file: &Path) -> Vec<PathBuf> {
    let name = base_file.file_name().unwrap_or_default();
    let mut starts =
        vec![start_of_jobs(base_file), start_of_jobs(&Path::new(SHM_FOLDER).join(name))];
    starts.dedup();
    starts
}

/// The path that a memfd would have in shared memory. The jobs over it are next to this path,
/// because a memfd has no folder.
pub(crate) fn place_of_memfd(header: &Header) -> PathBuf {
    Path::new(SHM_FOLDER).join(format!("{NAME_PREFIX}{}", header.segment_name()))
}

fn start_of_jobs(base_file: &Path) -> PathBuf {
    with_ending(base_file, ".job-")
}

/// Removes all jobs over the topology of a file, because the topology is withdrawn.
pub(in crate::publish) fn remove_all(base_file: &Path) {
    for (_, file) in all_files(&starts_of_jobs(base_file)).unwrap_or_default() {
        legacy::remove_companions(&file);
        // This fails if the job is another user's. Without its topology the job is of no use.
        let _ = fs::remove_file(&file);
    }
}

/// Names of the jobs over the topology of a file, sorted; none if a folder cannot be listed.
pub(crate) fn names_of_jobs(base_file: &Path) -> Vec<String> {
    let files = all_files(&starts_of_jobs(base_file)).unwrap_or_default();
    files.into_iter().map(|(name, _)| name).collect()
}

/// Removes the jobs over the topology of a file if their launcher is gone. Returns their number.
pub fn sweep_jobs_of(base_file: &Path) -> Result<usize, JobError> {
    sweep_files(&starts_of_jobs(base_file))
}

fn sweep_files(starts: &[PathBuf]) -> Result<usize, JobError> {
    let gone = all_files(starts)?.into_iter().filter_map(|(_, file)| {
        let (bytes, id) = read_trusted(&file, HEADER_LEN as u64).ok()?;
        let header = Header::read(&bytes).ok()?;
        (state_of(Some(&header)) == PublisherState::Gone).then_some((file, id))
    });
    let removed = gone.filter(|(file, id)| {
        let removed = remove_if(file, *id);
        if removed {
            legacy::remove_companions(file);
        }
        removed
    });
    Ok(removed.count())
}

/// Removes this user's jobs and files for hwloc from a folder if their topology is gone. `known`
/// has the names of the topologies that exist.
pub fn remove_orphans(folder: &Path, known: &BTreeSet<String>) -> io::Result<()> {
    let me = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(folder)?.flatten() {
        let name = entry.file_name();
        let base = name.to_str().and_then(base_of);
        if let Some(base) = base
            && !known.contains(base)
            // The topology may have been published after `known` was made.
            && !folder.join(format!("{NAME_PREFIX}{base}")).exists()
            && let Ok(metadata) = fs::symlink_metadata(entry.path())
            && metadata.uid() == me
        {
            remove_if(&entry.path(), id_of(&metadata));
        }
    }
    Ok(())
}

/// The name of the topology that a file belongs to. The file is a job over it, or a file for hwloc
/// next to the topology or a job.
pub(in crate::publish) fn base_of(name: &str) -> Option<&str> {
    let name = name.strip_prefix(NAME_PREFIX)?;
    let (own, copy) = legacy::split_name(name);
    match own.split_once(".job-") {
        Some((base, job)) => is_name(job).then_some(base),
        None => copy.then_some(own),
    }
}

/// The first bytes of a file that root or this user owns, at most `most`, and the id of the file.
/// Other owners are refused, because anybody can put files into a folder of shared memory.
fn read_trusted(file: &Path, most: u64) -> io::Result<(Vec<u8>, FileId)> {
    let opened = File::from(open_trusted(&file.into())?);
    let metadata = opened.metadata()?;
    let mut bytes = Vec::new();
    opened.take(most).read_to_end(&mut bytes)?;
    Ok((bytes, id_of(&metadata)))
}

/// Names and files of the jobs whose paths begin with one of `starts`.
fn all_files(starts: &[PathBuf]) -> Result<Vec<(String, PathBuf)>, JobError> {
    let found = starts.iter().map(|start| files(start)).collect::<Result<Vec<_>, _>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// Names and files of the jobs whose paths begin with `start`, sorted by name.
fn files(start: &Path) -> Result<Vec<(String, PathBuf)>, JobError> {
    let folder = start.parent().unwrap_or(Path::new("/"));
    let prefix = start.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let entries = fs::read_dir(folder)
        .map_err(|source| JobError::List { folder: folder.to_owned(), source })?;
    let found = entries.flatten().filter_map(|entry| {
        let name = entry.file_name();
        let name = name.to_str()?.strip_prefix(&prefix).filter(|name| is_name(name))?;
        Some((name.to_owned(), entry.path()))
    });
    let mut found: Vec<_> = found.collect();
    found.sort();
    Ok(found)
}
