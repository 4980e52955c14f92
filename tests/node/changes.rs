//! What changes while a daemon runs: ports that go down and come back, and files that somebody
//! removes.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;
use topobroker_samples::saved_root::SavedRoot;
use topobroker_samples::{Daemon, skip, until};
use topobroker_tests::segments::{topobroker, topobroker_file};

/// A daemon that looks each second.
fn serving(folder: &Path, options: &[&str]) -> Daemon {
    Daemon::start(topobroker(), folder, &[options, &["--interval", "1"]].concat())
}

/// A daemon that looks at a machine in a file.
fn serving_machine(folder: &Path, input: &Path) -> Daemon {
    serving(folder, &["-i", input.to_str().unwrap()])
}

/// What a command prints that finds what a daemon serves.
fn ask(daemon: &Daemon, words: &[&str]) -> String {
    let mut command = topobroker();
    command.args(words);
    printed_by(daemon.client(command))
}

fn printed_by(mut command: Command) -> String {
    let output = command.output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

fn generation(daemon: &Daemon) -> u64 {
    let all: serde_json::Value = serde_json::from_str(&ask(daemon, &["status", "--json"])).unwrap();
    let file = daemon.keys().path().unwrap().to_str().unwrap().to_owned();
    let all = all["segments"].as_array().unwrap();
    all.iter().find(|it| it["file"] == *file).unwrap()["generation"].as_u64().unwrap()
}

const STATE: &str = "sys/class/infiniband/mlx5_0/ports/1/state";

const RATE: &str = "200 Gb/sec (4X HDR)";

/// A machine with a NIC whose port is active.
fn machine() -> SavedRoot {
    let mut root = SavedRoot::new();
    let port = [("state", "4: ACTIVE"), ("rate", RATE), ("link_layer", "InfiniBand")];
    root.fabric("mlx5_0", "0x15b3", &[(1, &port)]);
    root
}

#[test]
fn a_port_that_goes_down_and_comes_back_is_published_each_time_and_one_that_flaps_is_not() {
    let (root, folder) = (machine(), tempfile::tempdir().unwrap());
    let daemon = serving_machine(&folder.path().join("run"), root.path());
    let networks = || ask(&daemon, &["networks"]);
    assert!(networks().contains("mlx5_0"), "{}", networks());
    root.write(STATE, "1: DOWN");
    until("the port is down", || networks().contains("not active: mlx5_0"));
    assert_eq!(generation(&daemon), 1);
    root.write(STATE, "4: ACTIVE");
    until("the port is active", || networks().contains("together: mlx5_0"));
    assert_eq!(generation(&daemon), 2);
    // Its rate is another one at each look.
    let rate = STATE.replace("state", "rate");
    for number in 1..20 {
        root.write(&rate, &format!("{number} Gb/sec"));
        sleep(Duration::from_millis(300));
    }
    root.write(&rate, RATE);
    sleep(Duration::from_millis(2500));
    assert_eq!(generation(&daemon), 2);
}

#[test]
fn a_daemon_of_this_machine_that_is_started_again_goes_on_with_its_segment_and_jobs() {
    let folder = tempfile::tempdir().unwrap();
    // Its keys have quotes.
    let run = folder.path().join("its run");
    let keys = || std::fs::read_to_string(run.join("keys")).unwrap();
    const GUARD: [&str; 3] = ["--guard", "--guard-caller", "app"];
    for more in [&["--legacy"][..], &GUARD, &[]] {
        let first = serving(&run, more);
        let before = keys();
        ask(&first, &["job", "add", "held", "--map-by", "slot", "-n", "1"]);
        // It is killed.
        drop(first);
        let second = serving(&run, more);
        until("it says so", || second.messages().contains("goes on with"));
        assert_eq!(keys(), before, "{more:?}");
        assert!(ask(&second, &["job", "list"]).starts_with("held: 1 ranks"));
        assert!(ask(&second, &["status"]).contains(" alive "), "{}", ask(&second, &["status"]));
        ask(&second, &["job", "remove", "held"]);
    }
    // Other files are wanted, or for other loads: it is published again.
    let load = ["--guard-load", "0x2/00000000011120000110"];
    for more in [&["--legacy"][..], &GUARD, &GUARD[..1], &[&GUARD[..1], &load].concat()] {
        let before = keys();
        drop(serving(&run, more));
        assert_ne!(keys(), before, "{more:?}");
    }
    // So it is if programs would find other things of the machine.
    let before = keys();
    let mut program = topobroker();
    program.env("HWLOC_COMPONENTS", "-opencl");
    drop(Daemon::start(program, &run, &[&GUARD[..1], &load].concat()));
    assert_ne!(keys(), before);
}

#[test]
fn what_somebody_removes_from_the_folder_of_a_daemon_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let root = machine();
    let daemon = serving_machine(&run, root.path());
    let pus = || ask(&daemon, &["calc", "--adopted", "-N", "pu", "all", "--view", "machine"]);
    assert_eq!(pus(), "2\n");
    for script in ["rm keys", "rm lock", "rm topobroker-*", "rm *", "rm -r $PWD", "rm keys lock"] {
        let removed = Command::new("sh").args(["-c", script]).current_dir(&run).status().unwrap();
        assert!(removed.success(), "{script}");
        until(script, || pus() == "2\n" && run.join("lock").exists());
    }
    let count = |status: String| {
        let counted = status.split("put back: ").nth(1).and_then(|rest| rest.split(' ').next());
        counted.unwrap_or_else(|| panic!("{status}")).parse::<u32>().unwrap()
    };
    let counted = count(ask(&daemon, &["status", "--verbose"]));
    assert!(counted >= 6, "{counted}");
    if rustix::process::geteuid().is_root() {
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let mut other = Command::new("setpriv");
        other.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(topobroker_file());
        other.args(["status", "--verbose"]);
        assert_eq!(count(printed_by(daemon.client(other))), counted);
    } else {
        skip(format_args!("being another user takes root"));
    }
    // No other daemon can take the folder.
    let mut other = topobroker();
    let output = other.args(["serve", "--folder"]).arg(&run).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("another daemon"), "{output:?}");
    let keys = std::fs::read_to_string(run.join("keys")).unwrap();
    let file = keys.lines().find_map(|line| line.strip_prefix("TOPOBROKER_FILE=")).unwrap();
    assert!(ask(&daemon, &["unpublish", file]).contains("--force"));
    assert!(ask(&daemon, &["unpublish", "--force", file]).contains("withdrawn"));
    until("it is back", || pus() == "2\n");
    assert!(ask(&daemon, &["doctor"]).contains("and looked "), "{}", ask(&daemon, &["doctor"]));
}

#[test]
fn a_job_has_no_nic_whose_port_is_down_by_now_and_one_whose_port_has_come_up() {
    let root = machine();
    let state = root.path().join(STATE);
    // Where this file system is that of the machine.
    let script = format!(
        "mount --rbind {0}/sys /sys && eval export $($T publish -i machine) && $T job add up --map-by slot -n 1 && \
         echo 1: DOWN > {1} && $T job add down --map-by slot -n 1 && echo 4: ACTIVE > {1} && \
         $T job add again --map-by slot -n 1 && for job in up down again; do echo $job $($T job nics $job); done; \
         $T unpublish",
        root.path().display(),
        state.display()
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script]).env("T", topobroker_file());
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    if text.is_empty() {
        return skip(format_args!("this user cannot mount"));
    }
    assert!(text.contains("up 0 mlx5_0\ndown 0 -\nagain 0 mlx5_0\n"), "{text}");
}
