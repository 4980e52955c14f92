//! The PUs and NUMA nodes of a cgroup.

use super::error::SourceError;
use crate::topology::Topology;
use crate::view::{RestrictError, View};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use rustix::fs::{AtFlags, CWD};
use topobroker_layout::set::{Format, Set};
use topobroker_process::{FileError, FilePath, file_within};

/// The PUs and NUMA nodes that the cpuset controller of a cgroup, version 1 or 2, allows.
///
/// ```
/// use topobroker_reader::jobs::Cgroup;
/// if let Some(cgroup) = Cgroup::of_this_process()? {
///     println!("{} of {}", cgroup.cpus, cgroup.path);
/// }
/// # Ok::<(), topobroker_reader::jobs::SourceError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cgroup {
    /// Its folder.
    pub path: FilePath,
    /// PUs that may be used, by OS index.
    pub cpus: Set,
    /// NUMA nodes that may be used, by OS index.
    pub mems: Set,
}

/// Names of the files with PUs and NUMA nodes: in version 2, in version 1, and in version 1 before
/// Linux 3.17.
const FILES: [(&str, &str); 3] = [
    ("cpuset.cpus.effective", "cpuset.mems.effective"),
    ("cpuset.effective_cpus", "cpuset.effective_mems"),
    ("cpuset.cpus", "cpuset.mems"),
];

impl Cgroup {
    /// Reads the cgroup in a folder.
    ///
    /// # Errors
    ///
    /// [`SourceError::Read`] if the folder has no files of the cpuset controller, or if they are
    /// not lists.
    pub fn read(folder: impl Into<FilePath>) -> Result<Self, SourceError> {
        let path = &folder.into();
        let [(newest, _), ..] = FILES;
        let lacks = || SourceError::NoCpuset { file: path.join(newest) };
        Self::read_if_any(path)?.ok_or_else(lacks)
    }

    /// The cgroup of this process, or the nearest one above it that has a cpuset controller; `None`
    /// if there is none.
    ///
    /// # Errors
    ///
    /// The errors of [`Cgroup::read`].
    pub fn of_this_process() -> Result<Option<Self>, SourceError> {
        let mut folders = own_and_above("cpuset")?;
        folders.find_map(|folder| Self::read_if_any(&folder).transpose()).transpose()
    }

    /// Whether the folder of this process's cgroup is not mounted, as in an Apptainer container.
    /// Then neither this library nor hwloc can read what the cgroup allows.
    ///
    /// # Errors
    ///
    /// [`SourceError::Read`] if a list of the kernel is longer than any kernel writes.
    pub fn is_hidden() -> Result<bool, SourceError> {
        let membership = Self::membership()?;
        let path = path_in(&membership, Some("cpuset")).or_else(|| path_in(&membership, None));
        Ok(path.is_some_and(|path| path != "/")
            && !own_and_above("cpuset")?.any(|folder| exists(&folder)))
    }

    /// What this cgroup leaves of a topology, as hwloc would find it there.
    ///
    /// # Errors
    ///
    /// [`RestrictError::Nothing`] if the topology has no PU of it: it is of another machine.
    pub fn view<'a>(&self, topology: Topology<'a>) -> Result<View<'a>, RestrictError> {
        let all = topology.root().nodeset().unwrap_or_default();
        let nodes = if self.mems.is_empty() { &all } else { &self.mems };
        let has_all = topology.root().cpuset().is_some_and(|pus| pus.is_included_in(&self.cpus));
        match has_all && all.is_included_in(nodes) {
            true => Ok(View::whole(topology)),
            false => View::allowed(topology, &self.cpus, nodes),
        }
    }

    /// The cgroups that this process is in, as `/proc/self/cgroup` lists them; empty if the kernel
    /// does not say.
    ///
    /// # Errors
    ///
    /// [`SourceError::Read`] if the list is longer than any kernel writes.
    pub fn membership() -> Result<String, SourceError> {
        text_of_kernel("/proc/self/cgroup")
    }

    /// Reads the cgroup in a folder; `None` if it has no cpuset controller.
    fn read_if_any(path: &FilePath) -> Result<Option<Self>, SourceError> {
        let files = FILES.into_iter().find(|(cpus, _)| exists(&path.join(cpus)));
        let Some((cpus, mems)) = files else { return Ok(None) };
        let (cpus, mems) = (list(path.join(cpus))?, list(path.join(mems))?);
        Ok(Some(Self { path: path.clone(), cpus, mems }))
    }
}

/// The folders of the cgroups of this process that may have a controller: its own, then those above
/// it.
pub(super) fn own_and_above(
    controller: &str,
) -> Result<impl Iterator<Item = FilePath>, SourceError> {
    let places =
        places(&Cgroup::membership()?, &text_of_kernel("/proc/self/mountinfo")?, controller);
    Ok(places.into_iter().flat_map(|(folder, mount)| {
        let upwards = core::iter::successors(Some(folder), FilePath::parent);
        upwards.take_while(move |above| above.as_bytes().starts_with(mount.as_bytes()))
    }))
}

/// The text of a file of the kernel; empty if it is not there or must not be read.
pub(super) fn text_of_kernel(file: &str) -> Result<String, SourceError> {
    /// Limit in bytes: more than the mounts of a node full of containers take.
    const MOST: u64 = 1 << 26;
    match file_within(MOST, &file.into()) {
        Err(source @ FileError::TooLong { .. }) => {
            Err(SourceError::Read { file: file.into(), source })
        }
        text => Ok(text.unwrap_or_default()),
    }
}

fn exists(file: &FilePath) -> bool {
    rustix::fs::statat(CWD, file.as_bytes(), AtFlags::empty()).is_ok()
}

fn list(file: FilePath) -> Result<Set, SourceError> {
    /// Limit in bytes: more than a list of all possible indexes takes.
    const MOST: u64 = 1 << 20;
    let failed = |source| SourceError::Read { file: file.clone(), source };
    let text = file_within(MOST, &file).map_err(failed)?;
    if text.trim().is_empty() {
        return Ok(Set::new());
    }
    Set::parse(text.trim(), Format::List)
        .map_err(|error| failed(FileError::Content(Box::new(error))))
}

/// Folders that may be the cgroup of a process for a controller, version 1 first, each with its
/// mount point.
fn places(cgroup: &str, mounts: &str, controller: &str) -> Vec<(FilePath, FilePath)> {
    let found = mounts.lines().filter_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, point) = (place.next()?, place.next()?);
        // A mount of the host, seen from a cgroup namespace: where the process is below it is
        // unknown.
        if root == "/.." || root.starts_with("/../") {
            return None;
        }
        let mut kind = kind.split(' ');
        let (name, options) = (kind.next()?, kind.nth(1).unwrap_or_default());
        let (version, controller) = match name {
            "cgroup" if options.split(',').any(|option| option == controller) => {
                (1, Some(controller))
            }
            "cgroup2" => (2, None),
            _ => return None,
        };
        let path = path_in(cgroup, controller)?;
        let below = path.strip_prefix(root.trim_end_matches('/'));
        let below = below.filter(|below| below.is_empty() || below.starts_with('/'));
        let below = below.unwrap_or_default().trim_matches('/');
        let point = FilePath::from(point);
        let folder = if below.is_empty() { point.clone() } else { point.join(below) };
        Some((version, (folder, point)))
    });
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|(version, _)| *version);
    found.into_iter().map(|(_, place)| place).collect()
}

/// The path of a process in the hierarchy of a controller of version 1; without a controller, in
/// that of version 2.
fn path_in<'a>(membership: &'a str, controller: Option<&str>) -> Option<&'a str> {
    membership.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let fits = match controller {
            Some(controller) => controllers.split(',').any(|it| it == controller),
            None => controllers.is_empty(),
        };
        fits.then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
30 23 0:26 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw
31 23 0:27 / /sys/fs/cgroup/cpuset rw,nosuid shared:11 - cgroup cgroup rw,cpuset
32 23 0:28 / /sys/fs/cgroup/memory rw,nosuid shared:12 - cgroup cgroup rw,memory
";

    #[test]
    fn below_a_mount_of_the_host_the_cgroup_of_a_namespace_is_unknown() {
        let mounts = "30 23 0:26 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert!(places("0::/\n", mounts, "cpuset").is_empty());
        assert_eq!(places("0::/\n", &mounts.replace("/../..", "/"), "cpuset").len(), 1);
    }

    #[test]
    fn the_folder_of_version_1_is_looked_at_before_that_of_version_2() {
        let cgroup = "12:memory:/a\n5:cpuset,cpu:/job/step\n0::/user\n";
        let folders: Vec<FilePath> =
            places(cgroup, MOUNTS, "cpuset").into_iter().map(|(folder, _)| folder).collect();
        let expected = ["/sys/fs/cgroup/cpuset/job/step", "/sys/fs/cgroup/unified/user"];
        assert_eq!(folders, expected.map(FilePath::from));
    }

    #[test]
    fn a_container_sees_its_cgroup_at_the_mount_point() {
        let mounts = "30 23 0:26 /docker/x /sys/fs/cgroup rw - cgroup2 cgroup rw";
        let folders = places("0::/docker/x/child", mounts, "cpuset");
        assert_eq!(folders, [("/sys/fs/cgroup/child".into(), "/sys/fs/cgroup".into())]);
    }

    #[test]
    fn files_of_both_versions_are_read() {
        let folder = std::env::temp_dir().join(format!("topobroker-cgroup-{}", std::process::id()));
        for (cpus, mems) in FILES {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(cpus), "0-3,8\n").unwrap();
            std::fs::write(folder.join(mems), "\n").unwrap();
            let cgroup = Cgroup::read(folder.as_path()).unwrap();
            assert_eq!(cgroup.cpus, [0, 1, 2, 3, 8].into_iter().collect());
            assert!(cgroup.mems.is_empty());
            std::fs::remove_dir_all(&folder).unwrap();
        }
        let error = Cgroup::read(folder.as_path()).unwrap_err();
        assert!(error.to_string().contains("no cpuset controller"), "{error}");
    }
}
