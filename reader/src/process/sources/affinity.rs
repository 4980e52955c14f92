//! The PUs that the kernel lets this thread run on.

use super::error::SourceError;
use rustix::thread::CpuSet;
use topobroker_layout::set::{Format, Set};

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
    const FILE: &str = "/proc/thread-self/status";
    let read = |source| SourceError::Read { file: FILE.into(), source };
    let status = std::fs::read_to_string(FILE).map_err(read)?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let cpus = list.and_then(|list| Set::parse(list.trim(), Format::List).ok());
    cpus.ok_or_else(|| read(std::io::ErrorKind::InvalidData.into()))
}
