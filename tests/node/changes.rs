//! What changes while a daemon runs: ports that go down and come back, and files that somebody
//! removes.

use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use topobroker_samples::saved_root::SavedRoot;
use topobroker_samples::{skip, until};
use topobroker_tests::segments::{topobroker, topobroker_file};

/// A daemon that looks each second.
struct Daemon {
    child: Child,
    folder: PathBuf,
}

impl Daemon {
    fn start(folder: &Path, input: &Path) -> Self {
        Self::start_with(folder, &["-i", input.to_str().unwrap()])
    }

    fn start_with(folder: &Path, more: &[&str]) -> Self {
        Self::started(&mut serve(folder, more), folder)
    }

    fn started(command: &mut Command, folder: &Path) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("serves generation") && !line.contains("goes on with") {
            line.clear();
            assert!(said.read_line(&mut line).unwrap() > 0);
        }
        // What it says later is read too, or it could not go on.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Self { child, folder: folder.to_owned() }
    }

    fn ask(&self, words: &[&str]) -> String {
        self.said_by(topobroker().args(words))
    }

    fn said_by(&self, command: &mut Command) -> String {
        command.env("TOPOBROKER_RUN", &self.folder).env("XDG_RUNTIME_DIR", "/none");
        let output = command.output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    }

    fn generation(&self) -> u64 {
        let all: serde_json::Value =
            serde_json::from_str(&self.ask(&["status", "--json"])).unwrap();
        let of_folder = |it: &&serde_json::Value| {
            it["file"].as_str().unwrap().starts_with(self.folder.to_str().unwrap())
        };
        let all = all["segments"].as_array().unwrap().iter().filter(of_folder);
        all.map(|it| it["generation"].as_u64().unwrap()).max().unwrap()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn serve(folder: &Path, more: &[&str]) -> Command {
    let mut command = topobroker();
    command.args(["serve", "--interval", "1", "--folder"]).arg(folder).args(more);
    command
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
    let daemon = Daemon::start(&folder.path().join("run"), root.path());
    let networks = || daemon.ask(&["networks"]);
    assert!(networks().contains("mlx5_0"), "{}", networks());
    root.write(STATE, "1: DOWN");
    until("the port is down", || networks().contains("not active: mlx5_0"));
    assert_eq!(daemon.generation(), 1);
    root.write(STATE, "4: ACTIVE");
    until("the port is active", || networks().contains("together: mlx5_0"));
    assert_eq!(daemon.generation(), 2);
    // Its rate is another one at each look.
    let rate = STATE.replace("state", "rate");
    for number in 1..20 {
        root.write(&rate, &format!("{number} Gb/sec"));
        sleep(Duration::from_millis(300));
    }
    root.write(&rate, RATE);
    sleep(Duration::from_millis(2500));
    assert_eq!(daemon.generation(), 2);
}

#[test]
fn a_daemon_of_this_machine_that_is_started_again_goes_on_with_its_segment_and_jobs() {
    let folder = tempfile::tempdir().unwrap();
    // Its keys have quotes.
    let run = folder.path().join("its run");
    let keys = || std::fs::read_to_string(run.join("keys")).unwrap();
    const GUARD: [&str; 3] = ["--guard", "--guard-caller", "app"];
    for more in [&["--legacy"][..], &GUARD, &[]] {
        let first = Daemon::start_with(&run, more);
        let before = keys();
        first.ask(&["job", "add", "held", "--map-by", "slot", "-n", "1"]);
        // It is killed.
        drop(first);
        let second = Daemon::start_with(&run, more);
        assert_eq!(keys(), before, "{more:?}");
        assert!(second.ask(&["job", "list"]).starts_with("held: 1 ranks"));
        assert!(second.ask(&["status"]).contains(" alive "), "{}", second.ask(&["status"]));
        second.ask(&["job", "remove", "held"]);
    }
    // Other files are wanted, or for other loads: it is published again.
    let load = ["--guard-load", "0x2/00000000011120000110"];
    for more in [&["--legacy"][..], &GUARD, &GUARD[..1], &[&GUARD[..1], &load].concat()] {
        let before = keys();
        drop(Daemon::start_with(&run, more));
        assert_ne!(keys(), before, "{more:?}");
    }
    // So it is if programs would find other things of the machine.
    let before = keys();
    let mut command = serve(&run, &[&GUARD[..1], &load].concat());
    drop(Daemon::started(command.env("HWLOC_COMPONENTS", "-opencl"), &run));
    assert_ne!(keys(), before);
}

#[test]
fn what_somebody_removes_from_the_folder_of_a_daemon_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let root = machine();
    let daemon = Daemon::start(&run, root.path());
    let pus = || daemon.ask(&["calc", "--adopted", "-N", "pu", "all", "--view", "machine"]);
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
    let counted = count(daemon.ask(&["status", "--verbose"]));
    assert!(counted >= 6, "{counted}");
    if rustix::process::geteuid().is_root() {
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let mut other = Command::new("setpriv");
        other.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(topobroker_file());
        assert_eq!(count(daemon.said_by(other.args(["status", "--verbose"]))), counted);
    } else {
        skip(format_args!("being another user takes root"));
    }
    // No other daemon can take the folder.
    let mut other = topobroker();
    let output = other.args(["serve", "--folder"]).arg(&run).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("another daemon"), "{output:?}");
    let keys = std::fs::read_to_string(run.join("keys")).unwrap();
    let file = keys.lines().find_map(|line| line.strip_prefix("TOPOBROKER_FILE=")).unwrap();
    assert!(daemon.ask(&["unpublish", file]).contains("--force"));
    assert!(daemon.ask(&["unpublish", "--force", file]).contains("withdrawn"));
    until("it is back", || pus() == "2\n");
    assert!(daemon.ask(&["doctor"]).contains("and looked "), "{}", daemon.ask(&["doctor"]));
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
