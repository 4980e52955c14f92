//! Removes what publishers and launchers have left that were killed.

use super::found::{Published, is_segment_name, read};
use super::job::base_of;
use super::legacy::split_name;
use super::options::NAME_PREFIX;
use super::publisher::{PublisherState, boot_id};
use super::store::file_id::{id_of, remove_if};
use rustix::fs::OFlags;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use topobroker_reader::ballot::{ballot_prefix, keys_in_ballot, open_ballot};

/// Whose files are swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Those of this user.
    Own,
    /// Those of all users. Only root may remove them from a folder such as `/dev/shm`.
    Everybody,
}

/// Removes from a folder segments whose publisher is gone, jobs whose launcher is gone, and their
/// files for hwloc. A segment stays if the keys of the folder name it, or a ballot that is in use,
/// or if the launcher of a job over it may still run.
///
/// It looks at the names in the folder, and opens only files of topobroker. Errors are not
/// reported: whoever sweeps next tries again.
pub fn sweep(folder: &Path, whose: Whose) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let names: BTreeSet<String> = names.filter(|name| name.starts_with(NAME_PREFIX)).collect();
    if names.is_empty() {
        return;
    }
    let named = named_by_ballots(folder, &names);
    let me = rustix::process::geteuid().as_raw();
    let sweeping = Sweeping { folder, whose, names, named, me };
    for name in sweeping.names.iter().filter(|name| is_segment_name(name) || is_job_name(name)) {
        if let Ok(found) = read(&folder.join(name))
            && sweeping.is_left(name, &found)
        {
            // The files for hwloc go first: if this process is killed now, the next sweep finds the
            // rest.
            if is_own_name(&found, name) {
                sweeping.remove_with(name, found.owner);
            }
            remove_if(&found.file, found.id);
        }
    }
}

/// Name of the file that a daemon locks in its folder.
pub(crate) const DAEMON_LOCK: &str = "lock";

/// Environment variable with the seconds that the segment of a winner stays after it was published.
const KEEPS: &str = "TOPOBROKER_LOAD_KEEPS";

/// How long what a process has discovered for all stays after it was published, although that
/// process has ended. Processes that come one after the other would otherwise each discover the
/// machine again.
pub(crate) fn kept() -> Duration {
    let given = std::env::var(KEEPS).ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(given.unwrap_or(10))
}

/// How long others may look for what a process of another user has discovered, although it is gone.
pub const YOUNG: Duration = Duration::from_secs(15);

struct Sweeping<'a> {
    folder: &'a Path,
    whose: Whose,
    /// The names of files of topobroker in the folder.
    names: BTreeSet<String>,
    /// The segments that processes find in ballots.
    named: BTreeSet<PathBuf>,
    me: u32,
}

impl Sweeping<'_> {
    fn is_swept(&self, owner: u32) -> bool {
        self.whose == Whose::Everybody || owner == self.me
    }

    /// Whether a segment or job can be removed: its publisher is gone, and no process may look for
    /// it.
    fn is_left(&self, name: &str, found: &Published) -> bool {
        let is_gone = || {
            found.publisher == PublisherState::Gone
                && !self.is_looked_for(found)
                && !self.has_jobs(name)
                && !self.is_of_another_boot(found)
        };
        self.is_swept(found.owner) && (is_gone() || found.is_abandoned())
    }

    /// Whether the launcher of a job over a segment may still run.
    fn has_jobs(&self, name: &str) -> bool {
        let start = format!("{name}.job-");
        let mut jobs = self.names.iter().filter(|it| it.starts_with(&start) && is_job_name(it));
        jobs.any(|job| {
            let state = read(&self.folder.join(job)).map(|found| found.publisher);
            matches!(state, Ok(PublisherState::Alive | PublisherState::Unknown))
        })
    }

    /// Whether a segment in memory says that it is of another boot. That cannot be: its publisher
    /// is in a container to which the boot has another id.
    fn is_of_another_boot(&self, found: &Published) -> bool {
        const TMPFS: u32 = 0x0102_1994;
        let is_other =
            found.header.as_ref().is_ok_and(|it| boot_id().is_ok_and(|id| id != it.boot_id));
        let kind = || rustix::fs::statfs(self.folder).map(|it| u32::try_from(it.f_type).ok());
        is_other && kind() == Ok(Some(TMPFS))
    }

    /// Whether processes may look for a segment, although its publisher is gone.
    fn is_looked_for(&self, found: &Published) -> bool {
        let time = match found.owner == self.me {
            true if self.named.contains(&found.file) => kept(),
            true => Duration::ZERO,
            false => YOUNG,
        };
        found.is_announced() || found.is_younger(time)
    }

    /// Removes the jobs over a segment, and the files for hwloc of a segment or job. Those of other
    /// users stay: what is removed may only have the name of what they belong to.
    fn remove_with(&self, name: &str, owner: u32) {
        let is_with = |other: &&String| {
            let rest = other.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with(".job-") || rest.starts_with('+'))
        };
        // The endings come after the jobs in the order of names.
        for file in self.names.iter().rev().filter(is_with).map(|name| self.folder.join(name)) {
            if let Ok(metadata) = fs::symlink_metadata(&file)
                && metadata.uid() == owner
            {
                remove_if(&file, id_of(&metadata));
            }
        }
    }
}

/// Whether a file has its own name: a segment may have that of another one, whose jobs are not its
/// own.
fn is_own_name(found: &Published, name: &str) -> bool {
    let own = found.header.as_ref().map(|header| format!("{NAME_PREFIX}{}", header.segment_name()));
    is_job_name(name) || own.is_ok_and(|own| own == name)
}

fn is_job_name(name: &str) -> bool {
    base_of(name).is_some() && !split_name(name).1
}

/// The segments that ballots of this user name.
fn named_by_ballots(folder: &Path, names: &BTreeSet<String>) -> BTreeSet<PathBuf> {
    let start = ballot_prefix();
    let ballots = names.iter().filter(|name| name.starts_with(&start));
    let keys = ballots
        .filter_map(|name| keys_in_ballot(&open_ballot(&folder.join(name), OFlags::empty())?));
    keys.filter_map(|keys| Some(keys.path()?.to_owned())).collect()
}
