//! A cgroup that is made for a test.

use crate::skip;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use topobroker_layout::set::Format;
use topobroker_reader::jobs::Cgroup;

/// A cgroup, of version 1 if this machine has that, otherwise of version 2. It is removed when this
/// is dropped.
pub struct MadeCgroup(PathBuf);

impl MadeCgroup {
    /// One that allows PUs, and the NUMA nodes that this process may use. `None`, and the test says
    /// that it is skipped, where this user can make none.
    pub fn of_pus(pus: &str) -> Option<Self> {
        let own = Cgroup::of_this_process().unwrap();
        let nodes = own.map_or("0".to_owned(), |own| own.mems.to_text(Format::List));
        Self::new("cpuset", &[("cpuset.cpus", pus), ("cpuset.mems", &nodes)])
    }

    /// One whose processes may have half the time of a PU.
    pub fn with_half_a_pu() -> Option<Self> {
        let files: &[_] = match is_version_2() {
            true => &[("cpu.max", "50000 100000")],
            false => &[("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "50000")],
        };
        Self::new("cpu", files)
    }

    /// Words before a command that run it in this cgroup.
    pub fn words(&self) -> [String; 4] {
        let script = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", self.0.display());
        ["sh", "-c", &script, "sh"].map(str::to_owned)
    }

    fn new(controller: &str, files: &[(&str, &str)]) -> Option<Self> {
        let made = Self::make(controller, files);
        made.inspect_err(|error| skip(format_args!("no cgroup can be made here: {error}"))).ok()
    }

    fn make(controller: &str, files: &[(&str, &str)]) -> io::Result<Self> {
        let mut parent = PathBuf::from(CGROUPS);
        match is_version_2() {
            true => fs::write(parent.join("cgroup.subtree_control"), format!("+{controller}"))?,
            false => parent.push(controller),
        }
        let folder = tempfile::Builder::new().prefix("topobroker-test-").tempdir_in(parent)?;
        let made = Self(folder.keep());
        files.iter().try_for_each(|(file, text)| fs::write(made.0.join(file), text))?;
        Ok(made)
    }
}

const CGROUPS: &str = "/sys/fs/cgroup";

fn is_version_2() -> bool {
    Path::new(CGROUPS).join("cgroup.controllers").exists()
}

impl Drop for MadeCgroup {
    fn drop(&mut self) {
        // The last process may just be going away.
        for _ in 0..100 {
            match fs::remove_dir(&self.0) {
                Ok(()) => return,
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }
}
