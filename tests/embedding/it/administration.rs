//! What administrators and users of a node do with what is published: withdraw it, run commands
//! with it, and add jobs of their own to a daemon's topology.

use std::path::Path;
use std::process::Command;
use topobroker_embedding::{is_root, said, succeed, topobroker};
use topobroker_reader::Keys;
use topobroker_samples::Daemon;

/// A daemon of root in a folder.
fn serving(folder: &Path) -> Daemon {
    Daemon::start(topobroker(), folder, &["--guard"])
}

/// A command of a user that finds what a daemon serves.
fn command(daemon: &Daemon, user: u32) -> Command {
    let mut command = Command::new("setpriv");
    command.args([&format!("--reuid={user}"), &format!("--regid={user}"), "--clear-groups"]);
    command.arg(topobroker().get_program());
    daemon.client(command)
}

fn publish(folder: &Path) -> Keys {
    let mut command = topobroker();
    command.args(["publish", "-i", "Core:2 PU:2", "--folder"]).arg(folder);
    Keys::from_lines(&succeed(&mut command)).unwrap()
}

fn segments(folder: &Path) -> usize {
    std::fs::read_dir(folder)
        .map_or(0, |all| all.flatten().filter(|it| it.file_name() != "lock").count())
}

#[test]
fn unpublish_withdraws_what_is_named_or_in_the_environment_or_a_folder_and_prints_each() {
    let [one, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let keys = publish(one.path());
    let text = succeed(topobroker().arg("unpublish").envs(keys.to_env()));
    assert_eq!(text, format!("withdrawn: {}\n", keys.path().unwrap().display()));
    let bare = topobroker().arg("unpublish").output().unwrap();
    assert!(!bare.status.success() && said(&bare).contains("TOPOBROKER_FILE is not set"));
    let (first, _) = (publish(one.path()), publish(one.path()));
    let kept = publish(other.path());
    let shm: Keys =
        Keys::from_lines(&succeed(topobroker().args(["publish", "-i", "PU:3"]))).unwrap();
    let text = succeed(topobroker().args(["unpublish", "--all", "--folder"]).arg(one.path()));
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.contains(first.path().unwrap().to_str().unwrap()), "{text}");
    assert!(kept.path().unwrap().exists() && shm.path().unwrap().exists());
    assert_eq!(segments(one.path()), 0);
    succeed(topobroker().arg("unpublish").arg(shm.path().unwrap()));
    if is_root("being another user") {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(other.path(), mode).unwrap();
        command.arg(topobroker().get_program()).args(["unpublish", "--all", "--folder"]);
        let output = command.arg(other.path()).output().unwrap();
        assert!(said(&output).contains("user 65534 has published nothing there; 1 of other users"));
        assert!(kept.path().unwrap().exists());
    }
}

#[test]
fn what_a_killed_daemon_has_left_is_stale_and_what_it_has_left_to_the_next_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let served = folder.path().join("run");
    let stale = || {
        let mut command = topobroker();
        command.env("TOPOBROKER_RUN", &served).args(["unpublish", "--stale", "--folder"]);
        succeed(command.arg(&served))
    };
    let daemon = serving(&served);
    assert_eq!(stale(), "");
    drop(daemon);
    let text = stale();
    assert!(text.starts_with("withdrawn: ") && text.lines().count() == 1, "{text}");
    assert!(!served.exists(), "{:?}", segments(&served));
    Daemon::start(topobroker(), &served, &["--keep"]).end();
    assert_eq!(stale(), "");
    assert!(served.join("keys").exists());
}

#[test]
fn a_user_adds_a_job_to_the_topology_that_roots_daemon_serves_and_its_ranks_find_it() {
    if !is_root("being another user") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), mode).unwrap();
    let daemon = serving(&folder.path().join("run"));
    let (user, other) = (65_534, 65_533);
    let lines =
        succeed(command(&daemon, user).args(["job", "add", "mine", "-n", "2", "--map-by", "slot"]));
    let file = lines.lines().find_map(|line| line.strip_prefix("TOPOBROKER_JOB=")).unwrap();
    assert!(file.starts_with("/dev/shm/topobroker-") && file.ends_with(".job-mine"), "{file}");
    let shown = succeed(command(&daemon, user).args(["job", "list"]));
    assert!(shown.contains("mine"), "{shown}");
    let found = succeed(
        command(&daemon, user).env("TOPOBROKER_JOB", file).args(["job", "show"]).arg("mine"),
    );
    assert!(found.contains("rank 1") || found.lines().count() >= 2, "{found}");
    // Another user neither sees nor believes it.
    let others = succeed(command(&daemon, other).args(["job", "list"]));
    assert!(!others.contains("mine"), "{others}");
    let refused =
        command(&daemon, other).env("TOPOBROKER_JOB", file).args(["job", "show", "mine"]).output();
    assert!(!refused.unwrap().status.success());
    let again = command(&daemon, user)
        .args(["job", "add", "mine", "-n", "1", "--map-by", "slot"])
        .output()
        .unwrap();
    assert!(!again.status.success() && said(&again).contains("mine"), "{}", said(&again));
    succeed(command(&daemon, user).args(["job", "remove", "mine"]));
    assert!(!Path::new(file).exists());
}

#[test]
fn run_uses_what_the_node_serves_unless_an_option_says_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = serving(&folder.path().join("run"));
    let served = daemon.keys();
    let file = |arguments: &[&str]| {
        let mut command = daemon.client(topobroker());
        command.arg("run").args(arguments).args(["--", "printenv", "TOPOBROKER_FILE"]);
        succeed(&mut command).trim().to_owned()
    };
    let expected = served.path().unwrap().to_str().unwrap();
    assert_eq!([file(&[]), file(&["--guard"])], [expected; 2]);
    for other in [&["--private"][..], &["-i", "PU:2"], &["--guard", "--guard-caller", "x"]] {
        let found = file(other);
        assert!(found != expected && !Path::new(&found).exists(), "{other:?}: {found}");
    }
}
