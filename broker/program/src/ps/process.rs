//! Processes and threads of this machine, from `/proc`.

use rustix::process::getuid;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use topobroker::binding::{Target, binding, last_location};
use topobroker::linux::kernel_text;
use topobroker_layout::set::Set;
use topobroker_reader::jobs::Job;

/// Environment variable with the rank that `job exec` became.
pub(crate) const RANK: &str = "TOPOBROKER_RANK";

/// Variables that launchers set for each rank. Slurm's is the last one, because what `mpirun`
/// starts in an allocation may have that of its node.
const LAUNCHED: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", SLURM_RANK];

const SLURM_RANK: &str = "SLURM_PROCID";

/// The rank that a launcher has given this process. Slurm's batch scripts, which are outside of any
/// step, have a `SLURM_PROCID` too.
pub(crate) fn launched_rank() -> Option<u32> {
    let is_in_step = std::env::var_os("SLURM_STEP_TASKS_PER_NODE").is_some();
    let mut names = LAUNCHED.iter().filter(|name| **name != SLURM_RANK || is_in_step);
    names.find_map(|name| std::env::var(name).ok()?.parse().ok())
}

/// Variables that together distinguish one launch from another.
const LAUNCHES: [&[&str]; 3] =
    [&["PMIX_NAMESPACE"], &["SLURM_JOB_ID", "SLURM_STEP_ID"], &["PMI_JOBID"]];

/// A process, or one of its threads.
pub(super) struct Process {
    pub(super) id: u32,
    pub(super) name: String,
    /// PUs of the topology that it may run on, or ran on last.
    pub(super) pus: Set,
    /// Whether these are not all PUs of the topology.
    pub(super) is_bound: bool,
    /// Its threads, if they are asked for and are several.
    pub(super) threads: Vec<Process>,
    /// File of its job, from its environment.
    pub(super) job: Option<PathBuf>,
    pub(super) rank: Option<u32>,
    /// What distinguishes its launch from others: the namespace of PMIx, or the step of Slurm.
    pub(super) launch: Option<String>,
}

/// Which processes are looked at, and what of them.
pub(super) struct Look<'a> {
    pub(super) all_pus: &'a Set,
    pub(super) with_threads: bool,
    pub(super) by_last_location: bool,
    pub(super) by_short_name: bool,
    /// Processes of this user alone.
    pub(super) user: Option<u32>,
}

/// Ids of the processes that are there now.
pub(super) fn ids() -> anyhow::Result<Vec<u32>> {
    let names = std::fs::read_dir("/proc")?.flatten().map(|entry| entry.file_name());
    let mut ids: Vec<u32> = names.filter_map(|name| name.to_str()?.parse().ok()).collect();
    ids.sort_unstable();
    Ok(ids)
}

/// This user's id.
pub(super) fn own_user() -> u32 {
    getuid().as_raw()
}

impl Look<'_> {
    /// A process; `None` if it has ended, is a thread of the kernel or another user's, or runs on
    /// no PU of the topology.
    pub(super) fn process(&self, id: u32) -> Option<Process> {
        let folder = PathBuf::from(format!("/proc/{id}"));
        let command = std::fs::read(folder.join("cmdline")).ok()?;
        let program = command.split(|byte| *byte == 0).next().filter(|_| !command.is_empty())?;
        if self.user.is_some_and(|user| user_of(&folder) != Some(user)) {
            return None;
        }
        let name = match self.by_short_name {
            true => short_name(&folder)?,
            false => String::from_utf8_lossy(program).into_owned(),
        };
        let mut process = self.task(id, name, Target::Process(id))?;
        if self.with_threads {
            process.threads = self.threads(&folder);
        }
        let environment = std::fs::read(folder.join("environ")).unwrap_or_default();
        let value = |name: &str| value_of(&environment, name);
        process.job =
            value(Job::VARIABLE).map(|file| PathBuf::from(String::from_utf8_lossy(file).as_ref()));
        process.launch = LAUNCHES.iter().find_map(|names| {
            let parts = names.iter().map(|name| value(name).map(String::from_utf8_lossy));
            parts.collect::<Option<Vec<_>>>().map(|parts| parts.join("."))
        });
        let mut names = [RANK].into_iter().chain(LAUNCHED);
        process.rank = names.find_map(|name| std::str::from_utf8(value(name)?).ok()?.parse().ok());
        Some(process)
    }

    fn threads(&self, folder: &Path) -> Vec<Process> {
        let entries = std::fs::read_dir(folder.join("task")).into_iter().flatten().flatten();
        let mut ids: Vec<u32> =
            entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        if ids.len() < 2 {
            return Vec::new();
        }
        ids.sort_unstable();
        let thread = |id| {
            let name = short_name(&folder.join(format!("task/{id}")))?;
            self.task(id, name, Target::Thread(id))
        };
        ids.into_iter().filter_map(thread).collect()
    }

    fn task(&self, id: u32, name: String, target: Target) -> Option<Process> {
        let mut pus = &binding(target).ok()? & self.all_pus;
        let is_bound = pus != *self.all_pus;
        if self.by_last_location {
            pus = &last_location(target).ok()? & self.all_pus;
        }
        let (threads, job, rank, launch) = (Vec::new(), None, None, None);
        let process = Process { id, name, pus, is_bound, threads, job, rank, launch };
        (!process.pus.is_empty()).then_some(process)
    }
}

/// Bytes of a process's memory on each NUMA node, by OS index. Empty if the kernel does not allow
/// or does not know it.
pub(super) fn memory_by_node(id: u32) -> Vec<(u32, u64)> {
    parse_numa_maps(&kernel_text(format!("/proc/{id}/numa_maps")).unwrap_or_default())
}

fn parse_numa_maps(text: &str) -> Vec<(u32, u64)> {
    let mut nodes: BTreeMap<u32, u64> = BTreeMap::new();
    for line in text.lines() {
        let words = || line.split(' ').filter_map(|word| word.split_once('='));
        let size = words().find(|(name, _)| *name == "kernelpagesize_kB");
        let size = size.and_then(|(_, value)| value.parse::<u64>().ok()).unwrap_or(4) << 10;
        // Pages of files are where their first reader was.
        if words().any(|(name, _)| name == "file") {
            continue;
        }
        for (name, value) in words() {
            let node = name.strip_prefix('N').and_then(|node| node.parse().ok());
            if let (Some(node), Ok(pages)) = (node, value.parse::<u64>()) {
                *nodes.entry(node).or_default() += pages.saturating_mul(size);
            }
        }
    }
    nodes.into_iter().collect()
}

fn user_of(folder: &Path) -> Option<u32> {
    let status = kernel_text(folder.join("status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

fn short_name(folder: &Path) -> Option<String> {
    Some(kernel_text(folder.join("comm")).ok()?.trim_end_matches('\n').to_owned())
}

fn value_of<'a>(environment: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let has_name = |variable: &'a [u8]| variable.strip_prefix(name.as_bytes())?.strip_prefix(b"=");
    environment.split(|byte| *byte == 0).find_map(has_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_that_of_no_file_on_each_node_whatever_its_pages() {
        let text = "55d0 default file=/usr/bin/cat mapped=2 N0=2 kernelpagesize_kB=4\n\
                    7f00 bind:1 anon=3 dirty=3 N0=1 N1=2 kernelpagesize_kB=4\n\
                    7fa0 bind:1 file=/anon_hugepage\\040(deleted) huge N1=1 kernelpagesize_kB=2048\n\
                    7fb0 default heap anon=1 dirty=1 N1=1 kernelpagesize_kB=2048\n";
        assert_eq!(parse_numa_maps(text), [(0, 4096), (1, 8192 + (2 << 20))]);
    }
}
