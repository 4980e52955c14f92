//! The PUs that the kernel lets this thread run on.

use super::error::SourceError;
use alloc::boxed::Box;
use rustix::thread::CpuSet;
use topobroker_layout::set::{Format, Set};
use topobroker_process::{FileError, FilePath, file_within};

/// PUs that this thread may run on, by OS index. Counterpart: `hwloc_get_cpubind` with
/// `HWLOC_CPUBIND_THREAD`.
///
/// # Errors
///
/// [`SourceError::Read`] if the affinity cannot be read.
#[doc(alias = "hwloc_get_cpubind")]
pub fn affinity() -> Result<Set, SourceError> {
    match rustix::thread::sched_getaffinity(None) {
        Ok(cpus) => {
            let most = u32::try_from(CpuSet::MAX_CPU).unwrap_or(u32::MAX);
            Ok((0..most).filter(|cpu| cpus.is_set(*cpu as usize)).collect())
        }
        // The machine may have more CPUs than the call has room for.
        Err(_) => from_status(),
    }
}

fn from_status() -> Result<Set, SourceError> {
    /// Limit in bytes: more than the list of all possible CPUs takes.
    const MOST: u64 = 1 << 20;
    let file = FilePath::from("/proc/thread-self/status");
    let failed = |source| SourceError::Read { file: file.clone(), source };
    let status = file_within(MOST, &file).map_err(failed)?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let list = list.ok_or_else(|| failed(FileError::Ended))?;
    let cpus = Set::parse(list.trim(), Format::List);
    cpus.map_err(|error| failed(FileError::Content(Box::new(error))))
}
