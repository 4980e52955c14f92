//! A segment or job that is found on this node: its header, its publisher, and how it is removed.

use super::error::PublishError;
use super::job::{names_of_jobs, place_of_memfd};
use super::legacy::companion_files;
use super::options::NAME_PREFIX;
use super::publisher::{PublisherState, boot_id, state_of};
use super::remove::{remove, remove_file};
use super::store::file_id::{FileId, id_of, remove_if};
use rustix::fs::{Mode, OFlags};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use topobroker_layout::HeaderError;
use topobroker_layout::header::{HEADER_LEN, Header};
use topobroker_reader::Keys;

/// A segment found on this node.
#[derive(Debug, Clone)]
pub struct Published {
    /// Its file; for a memfd the path in `/proc` of a descriptor of a process that has it open.
    pub file: PathBuf,
    /// Length of the file in bytes.
    pub size: u64,
    /// User that owns it.
    pub owner: u32,
    /// Permission bits.
    pub mode: u32,
    /// Its header, or why the header cannot be read.
    pub header: Result<Header, HeaderError>,
    /// Whether the publisher runs.
    pub publisher: PublisherState,
    /// Numbers of the processes that map it, among those that this user may inspect.
    pub mapped_by: Vec<u32>,
    /// The id of the file.
    pub(crate) id: FileId,
}

impl Published {
    /// Time since it was published; zero if that is not known.
    #[must_use]
    pub fn age(&self) -> Duration {
        let created = self.header.as_ref().map_or(0, |header| header.created);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        now.saturating_sub(Duration::from_nanos(created))
    }

    /// Names of the jobs on it, sorted.
    #[must_use]
    pub fn jobs(&self) -> Vec<String> {
        names_of_jobs(&self.named_file())
    }

    /// The files next to it: hwloc's segment and XML for unmodified programs, the slots of the
    /// hwloc guard, and declared links.
    #[must_use]
    pub fn companion_files(&self) -> Vec<PathBuf> {
        companion_files(&self.named_file())
    }

    /// Its file; for a memfd the one that it would have in shared memory.
    fn named_file(&self) -> PathBuf {
        match &self.header {
            Ok(header) if self.file.starts_with("/proc") => place_of_memfd(header),
            _ => self.file.clone(),
        }
    }

    /// Whether it was published in this boot, and less than that time ago.
    pub(crate) fn is_younger(&self, time: Duration) -> bool {
        let header = self.header.as_ref().ok();
        let is_of_this_boot = header.is_some_and(|it| boot_id().is_ok_and(|id| id == it.boot_id));
        is_of_this_boot && self.age() < time
    }

    /// Removes the segment, its jobs and its files for hwloc. If the file has the name of another
    /// segment, only the file is removed, because the jobs belong to the other segment.
    pub fn remove(&self) -> Result<(), PublishError> {
        if self.is_announced()
            && let Some(folder) = self.file.parent()
        {
            // The keys go first, so that no process looks for a removed segment.
            let _ = fs::remove_file(Keys::file_in(&folder.into()));
        }
        let own = self.header.as_ref().map(Header::segment_name);
        let named = self.file.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let named = named.strip_prefix(NAME_PREFIX).map(|name| name.trim_end_matches(".new"));
        match own {
            Ok(own) if named.is_some_and(|name| name != own) => {
                let removed = remove_if(&self.file, self.id);
                let is_left = !removed && self.file.symlink_metadata().is_ok();
                if is_left { remove_file(&self.file).map(drop) } else { Ok(()) }
            }
            _ => remove(&self.file),
        }
    }

    /// Whether the keys of its folder name this segment. Then processes find it, even if its daemon
    /// has left it to the next one.
    pub fn is_announced(&self) -> bool {
        let named = self.file.parent().and_then(|folder| Keys::in_folder(&folder.into()));
        let named = named.as_ref().and_then(Keys::path);
        named.is_some_and(|named| named.file_name() == self.file.file_name())
    }

    /// Whether this is an unfinished segment of a publisher that was killed: a file that has had
    /// its temporary name for more than a minute, and has no whole header.
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        let modified = fs::symlink_metadata(&self.file).and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| modified.elapsed().ok());
        self.file.extension().is_some_and(|extension| extension == "new")
            && self.header.is_err()
            && age.is_some_and(|age| age > ABANDONED)
    }
}

/// Age from which an unfinished segment is taken to be abandoned.
const ABANDONED: Duration = Duration::from_secs(60);

/// Reads the header and the state of the segment in a file. Links are not followed.
///
/// # Errors
///
/// If the file cannot be opened or is not a regular file. A bad header is not an error here. Who
/// maps it is not looked for.
pub fn read(file: &Path) -> io::Result<Published> {
    read_opened(file, OFlags::NOFOLLOW, Vec::new())
}

pub(crate) fn read_opened(file: &Path, more: OFlags, mapped_by: Vec<u32>) -> io::Result<Published> {
    // NONBLOCK, because another user may have put a FIFO in place of the file by now.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | more;
    let opened = File::from(rustix::fs::open(file, flags, Mode::empty())?);
    let metadata = opened.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "is not a regular file"));
    }
    let header = read_header(&opened)?;
    Ok(Published {
        file: file.to_owned(),
        size: metadata.len(),
        owner: metadata.uid(),
        mode: metadata.mode() & 0o7777,
        publisher: state_of(header.as_ref().ok()),
        header,
        mapped_by,
        id: id_of(&metadata),
    })
}

pub(crate) fn is_segment_name(name: &str) -> bool {
    name.strip_prefix(NAME_PREFIX).is_some_and(|id| {
        let id = id.strip_suffix(".new").unwrap_or(id);
        id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

fn read_header(file: &File) -> io::Result<Result<Header, HeaderError>> {
    let mut bytes = Vec::with_capacity(HEADER_LEN);
    file.take(HEADER_LEN as u64).read_to_end(&mut bytes)?;
    Ok(Header::read(&bytes))
}
