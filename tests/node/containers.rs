//! Rootless containers: user namespaces that map few users, with and without the node's folders.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use topobroker_tests::segments::{topobroker, topobroker_file};

/// User id of the processes in the container.
const USER: &str = "1234";
/// User id of another user of the node.
const OTHER: u32 = 4321;

/// A node with containers. Root publishes in a folder as the daemon does, and other users may run
/// the program in it.
struct Node {
    folder: tempfile::TempDir,
}

impl Node {
    /// `None` if no container can be started here.
    fn new() -> Option<Self> {
        let tried = Command::new("setpriv").args(OWN).args(["unshare", "-Urm", "true"]).output();
        if !rustix::process::geteuid().is_root() || !tried.is_ok_and(|it| it.status.success()) {
            topobroker_samples::skip(format_args!(
                "a container of another user takes root and user namespaces"
            ));
            return None;
        }
        let node = Self { folder: tempfile::tempdir_in("/var").unwrap() };
        open(node.folder.path(), 0o755);
        fs::copy(topobroker_file(), node.path("topobroker")).unwrap();
        fs::create_dir(node.path("run")).unwrap();
        open(&node.path("run"), 0o755);
        node.publish("run");
        Some(node)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Publishes a machine of 4 PUs in a folder, and writes the keys next to its segment.
    fn publish(&self, folder: &str) {
        let mut publish = topobroker();
        publish.args(["publish", "-i", "Core:2 PU:2", "--folder"]).arg(self.path(folder));
        let output = publish.output().unwrap();
        fs::write(self.path(folder).join("keys"), output.stdout).unwrap();
        open(&self.path(folder).join("keys"), 0o444);
    }

    /// Gives a folder and the files in it to another user.
    fn give(&self, folder: &str, user: u32) {
        let folder = self.path(folder);
        for file in fs::read_dir(&folder).unwrap() {
            std::os::unix::fs::chown(file.unwrap().path(), Some(user), Some(user)).unwrap();
        }
        std::os::unix::fs::chown(&folder, Some(user), Some(user)).unwrap();
    }

    /// Output of the program in a container, after the shell commands `setup`. It looks for the
    /// daemon's keys in the folder `run`.
    fn inside(&self, namespaces: &str, setup: &str, run: &Path) -> String {
        let mut command = Command::new("setpriv");
        command.args(OWN).args(["unshare", namespaces, "sh", "-c"]);
        command.arg(format!("{setup}; exec \"$0\" calc -N pu all")).arg(self.path("topobroker"));
        command.arg(self.folder.path()).env("TOPOBROKER_RUN", run);
        let output = command.output().unwrap();
        let both = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&both).trim().to_owned()
    }
}

const OWN: [&str; 6] = ["--reuid", USER, "--regid", USER, "--clear-groups", "--"];

fn open(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_container_finds_what_the_daemon_of_the_node_publishes() {
    let Some(node) = Node::new() else { return };
    let run = node.path("run");
    // In the container, the user is root, is not mapped, or has the same id.
    for namespaces in ["-Ur", "-U", "-Uc"] {
        assert_eq!(node.inside(namespaces, ":", &run), "4", "{namespaces}");
    }
    // A container has mounts of its own: here, the folder is mounted elsewhere, and then read-only.
    let elsewhere = node.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let mount = "mount --bind \"$1/run\" \"$1/elsewhere\"";
    assert_eq!(node.inside("-Urm", mount, &elsewhere), "4");
    let read_only = format!("{mount}; mount -o remount,bind,ro \"$1/elsewhere\"");
    assert_eq!(node.inside("-Urm", &read_only, &elsewhere), "4");
}

#[test]
fn in_a_container_inherited_keys_without_a_file_are_replaced_by_the_daemons() {
    let Some(node) = Node::new() else { return };
    // The environment names a file in the node's shared memory, but the container has its own.
    let setup = "mount -t tmpfs none /dev/shm; export TOPOBROKER_FILE=/dev/shm/topobroker-1 \
                 TOPOBROKER_ADDR=0 TOPOBROKER_SIZE=4096";
    assert_eq!(node.inside("-Urm", setup, &node.path("run")), "4");
}

#[test]
fn a_container_refuses_files_in_folders_that_others_may_write() {
    let Some(node) = Node::new() else { return };
    // A folder that others may write to, as /dev/shm is. The container does not map the owner of
    // the files, so that root and another user look alike.
    fs::create_dir(node.path("shared")).unwrap();
    node.publish("shared");
    open(&node.path("shared"), 0o1777);
    let refused = |run: &str, setup: &str, complaint: &str| {
        let said = node.inside("-Ur", setup, &node.path(run));
        assert!(said.contains(complaint), "{run}: {said}");
    };
    refused("shared", ":", "does not map, in a folder that others may write");
    for file in fs::read_dir(node.path("shared")).unwrap() {
        std::os::unix::fs::chown(file.unwrap().path(), Some(OTHER), Some(OTHER)).unwrap();
    }
    refused("shared", ":", "does not map, in a folder that others may write");
    // The files are also refused if keys in the environment name them.
    let keys = "set -a; . \"$1/shared/keys\"; set +a";
    refused("none", keys, "mount the daemon's folder");
    // A folder of an unmapped user below one that others may write to, because they may replace it.
    fs::create_dir(node.path("shared/below")).unwrap();
    node.publish("shared/below");
    refused("shared/below", ":", "does not map, in a folder that others may write");
    // A link in such a folder that leads to another user's folder.
    fs::create_dir(node.path("theirs")).unwrap();
    node.publish("theirs");
    node.give("theirs", OTHER);
    std::os::unix::fs::symlink(node.path("theirs"), node.path("shared/link")).unwrap();
    refused("shared/link", ":", "does not map, in a folder that others may write");
    // A file that others may write, in a folder that they may not.
    let keys = node.path("run/keys");
    open(&keys, 0o666);
    refused("run", ":", "which others may write");
    open(&keys, 0o444);
    assert_eq!(node.inside("-Ur", ":", &node.path("run")), "4");
}

#[test]
fn a_container_checks_what_a_publisher_that_it_does_not_know_says_to_have_checked() {
    let Some(node) = Node::new() else { return };
    let keys = fs::read_to_string(node.path("run/keys")).unwrap();
    let file = keys.lines().find_map(|line| line.strip_prefix("TOPOBROKER_FILE=")).unwrap();
    let mut segment = fs::read(file).unwrap();
    let rule = super::certificates::break_a_rule(&mut segment);
    fs::remove_file(file).unwrap();
    fs::write(file, segment).unwrap();
    let set = "set -a; . \"$1/run/keys\"; set +a";
    // Outside, root is known to have published it.
    let mut outside = Command::new("setpriv");
    outside.args(OWN).args(["sh", "-c", &format!("{set}; exec \"$0\" calc -N pu all")]);
    let output = outside.arg(node.path("topobroker")).arg(node.folder.path()).output().unwrap();
    assert!(output.status.success() && !output.stdout.is_empty(), "{output:?}");
    for namespaces in ["-Ur", "-Uc", "-U"] {
        let said = node.inside(namespaces, set, &node.path("none"));
        assert!(said.contains(&rule), "{namespaces}: {said}");
    }
}

#[test]
fn outside_containers_files_of_unknown_or_other_users_are_refused() {
    let Some(node) = Node::new() else { return };
    node.give("run", 65_534);
    let mut command = Command::new("setpriv");
    command.args(OWN).arg(node.path("topobroker")).args(["calc", "-N", "pu", "all"]);
    let output = command.env("TOPOBROKER_RUN", node.path("run")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("keys: the keys of the node's daemon are not used"), "{said}");
    assert!(said.contains("belongs to user 65534"), "{said}");
    // Another user's files in that user's own folder are refused too, because their owner is known
    // here.
    node.give("run", OTHER);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("not used") && said.contains("belongs to user 4321"), "{said}");
}
