//! `topobroker serve`: one topology for the whole node, as it is now.

use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use topobroker_embedding::{compile, has, succeed, topobroker};
use topobroker_samples::{Daemon, until};

/// A daemon that looks at a file each second.
fn serving(folder: &Path, input: &Path) -> Daemon {
    serving_with(topobroker(), folder, input, &[])
}

/// A daemon that leaves its segments to the next one when it ends.
fn serving_and_keeping(folder: &Path, input: &Path) -> Daemon {
    serving_with(topobroker(), folder, input, &["--keep"])
}

fn serving_with(program: Command, folder: &Path, input: &Path, options: &[&str]) -> Daemon {
    let input = input.to_str().unwrap();
    Daemon::start(program, folder, &[options, &["--interval", "1", "-i", input]].concat())
}

/// Number of PUs that a process finds if no keys were handed to it.
fn pus(daemon: &Daemon) -> String {
    let mut command = daemon.client(topobroker());
    succeed(command.args(["calc", "-N", "pu", "all"])).trim().to_owned()
}

/// Writes a synthetic machine to an XML file, which is replaced in one step.
fn machine(folder: &Path, synthetic: &str) -> PathBuf {
    let (file, new) = (folder.join("machine.xml"), folder.join("new.xml"));
    std::fs::write(&new, succeed(topobroker().args(["export", "-i", synthetic]))).unwrap();
    std::fs::rename(&new, &file).unwrap();
    file
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn a_process_without_keys_finds_the_daemons_topology_until_the_daemon_ends() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let input = machine(folder.path(), "Core:2 PU:2");
    let mut daemon = serving(&run, &input);
    assert_eq!(pus(&daemon), "4");
    daemon.end();
    assert!(!run.exists(), "{:?}", std::fs::read_dir(&run).unwrap().collect::<Vec<_>>());
}

#[test]
fn a_machine_that_changes_is_published_again_and_what_was_adopted_stays() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let input = machine(folder.path(), "Core:2 PU:2");
    let daemon = serving(&run, &input);
    let adopted = topobroker_reader::adopt_keys(daemon.keys()).unwrap();
    assert_eq!(adopted.header().generation, 0);
    machine(folder.path(), "Core:3 PU:2");
    until("the change is seen without a signal", || pus(&daemon) == "6");
    machine(folder.path(), "Core:4 PU:2");
    until("the next change is seen", || pus(&daemon) == "8");
    assert_eq!(adopted.topology().objects_with_type(topobroker_reader::ObjectType::PU).count(), 4);
    let published = topobroker::node::status::read(daemon.keys().path().unwrap()).unwrap();
    assert_eq!(published.header.unwrap().generation, 2);
    until("there are two generations, the keys and the lock", || files(&run) == 4);
    // If nothing has changed, nothing is published.
    let before = daemon.keys();
    daemon.signal(Signal::HUP);
    let said = [daemon.notification(), daemon.notification(), daemon.notification()];
    assert!(said[0].starts_with("STATUS=generation 1 "), "{said:?}");
    assert!(said[1..].iter().all(|text| text.starts_with("STATUS=generation 2 ")), "{said:?}");
    assert_eq!(daemon.keys(), before);
}

#[test]
fn a_process_that_has_adopted_keeps_its_topology_whatever_the_daemon_does_since() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let input = machine(folder.path(), "Core:2 PU:2");
    let mut daemon = serving(&run, &input);
    let mut adopts = topobroker_for_adopting_again(&run);
    let mut again = || {
        use std::io::Write;
        adopts.0.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut adopts.1, &mut line).unwrap();
        line
    };
    let first = again();
    assert!(first.starts_with("adopted "), "{first}");
    machine(folder.path(), "Core:3 PU:2");
    until("the change is seen", || pus(&daemon) == "6");
    assert_eq!(again(), first);
    daemon.end();
    assert_eq!(again(), first);
    drop(adopts.0.stdin.take());
    assert!(adopts.0.wait().unwrap().success());
}

/// Starts a C program that adopts again for every line on its standard input.
fn topobroker_for_adopting_again(
    run: &Path,
) -> (Child, std::io::BufReader<std::process::ChildStdout>) {
    let folder = run.parent().unwrap();
    let program = compile(folder, "cc", "again.c", "again", &["topobroker-reader"], &[]);
    let mut command = Command::new(program);
    command.env("TOPOBROKER_RUN", run).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let out = std::io::BufReader::new(child.stdout.take().unwrap());
    (child, out)
}

#[test]
fn a_generation_with_jobs_over_it_stays_until_they_have_gone() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let input = machine(folder.path(), "Core:2 PU:2");
    let daemon = serving(&run, &input);
    let keys = daemon.keys();
    let job = |arguments: &[&str]| {
        let mut command = topobroker();
        command.envs(keys.to_env());
        succeed(command.arg("job").args(arguments))
    };
    job(&["add", "stays"]);
    for (cores, now) in [(3, "6"), (4, "8"), (5, "10")] {
        machine(folder.path(), &format!("Core:{cores} PU:2"));
        until("the change is seen", || pus(&daemon) == now);
    }
    assert!(job(&["list"]).starts_with("stays: "));
    job(&["remove", "stays"]);
    machine(folder.path(), "Core:6 PU:2");
    until("the change is seen", || pus(&daemon) == "12");
    // The keys of the newest are written before the old ones are removed.
    until("there are two generations, the keys and the lock", || files(&run) == 4);
    assert!(!keys.path().unwrap().exists());
}

#[test]
fn the_daemon_keeps_segments_that_others_published_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("my run");
    let input = machine(folder.path(), "Core:2 PU:2");
    std::fs::create_dir(&run).unwrap();
    let mut publish = topobroker();
    publish.args(["publish", "--json", "-i", "Core:7 PU:1", "--folder"]).arg(&run);
    let kept: serde_json::Value = serde_json::from_str(&succeed(&mut publish)).unwrap();
    let mut daemon = serving(&run, &input);
    // The folder is found although its name needs quotes.
    assert_eq!(pus(&daemon), "4");
    daemon.end();
    assert!(Path::new(kept["file"].as_str().unwrap()).exists());
    assert_eq!(files(&run), 1);
}

#[test]
fn a_change_that_could_not_be_published_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let input = machine(folder.path(), "Core:2 PU:2");
    let daemon = serving(&run, &input);
    // For a while the input is no topology.
    std::fs::write(folder.path().join("new.xml"), "<nonsense").unwrap();
    std::fs::rename(folder.path().join("new.xml"), &input).unwrap();
    assert!(daemon.notification().starts_with("STATUS=generation 0 "));
    assert!(
        daemon.notification().starts_with("STATUS=generation 0 "),
        "the daemon must look again"
    );
    assert_eq!(pus(&daemon), "4");
    machine(folder.path(), "Core:3 PU:2");
    until("the change is seen", || pus(&daemon) == "6");
}

#[test]
fn other_users_may_look_into_the_folder_whatever_the_umask_is() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let input = machine(folder.path(), "Core:2 PU:2");
    let mut umask = Command::new("sh");
    umask.args(["-c", "umask 077; exec \"$0\" \"$@\""]).arg(topobroker().get_program());
    let daemon = serving_with(umask, &run, &input, &[]);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&run), mode(&run.join("keys"))), (0o755, 0o444));
    assert_eq!(mode(daemon.keys().path().unwrap()), 0o444);
}

#[test]
fn a_daemon_that_is_killed_and_started_again_loses_no_reader_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let input = machine(folder.path(), "Core:2 PU:2");
    let mut killed = serving(&run, &input);
    let keys = killed.keys();
    killed.kill();
    // While no daemon runs, processes still find the segment.
    assert_eq!(pus(&killed), "4");
    // Nothing has changed: the next daemon goes on with the segment.
    let mut resumed = serving(&run, &input);
    assert_eq!((resumed.keys(), files(&run)), (keys.clone(), 3));
    resumed.kill();
    machine(folder.path(), "Core:3 PU:2");
    let mut daemon = serving(&run, &input);
    // The earlier segment stays, because processes may already have read its keys.
    assert!(keys.path().unwrap().exists());
    assert_ne!(daemon.keys(), keys);
    assert_eq!(pus(&daemon), "6");
    let published = topobroker::node::status::read(daemon.keys().path().unwrap()).unwrap();
    assert_eq!(published.header.unwrap().generation, 1);
    assert_eq!(files(&run), 4);
    daemon.end();
    assert!(!run.exists());
}

#[test]
fn a_daemon_that_ends_with_keep_and_is_started_again_loses_no_reader() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let input = machine(folder.path(), "Core:2 PU:2");
    let mut first = serving_and_keeping(&run, &input);
    let keys = first.keys();
    first.end();
    // Between the two daemons, processes still find the segment, and its publisher is shown as
    // gone.
    assert_eq!(pus(&first), "4");
    let status = || succeed(topobroker().arg("status").env("TOPOBROKER_RUN", &run));
    let line = |text: String| {
        let file = keys.path().unwrap().to_str().unwrap().to_owned();
        text.lines().find(|line| line.ends_with(&file)).unwrap_or_default().to_owned()
    };
    assert!(line(status()).contains(" gone "), "{}", status());
    let mut second = serving(&run, &input);
    assert_eq!(pus(&second), "4");
    assert!(keys.path().unwrap().exists());
    second.end();
    assert!(!run.exists());
}

#[test]
fn a_job_stays_on_its_generation_when_the_daemon_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let input = machine(folder.path(), "Core:2 PU:2");
    let mut first = serving_and_keeping(&run, &input);
    let keys = first.keys();
    let ours = |arguments: &[&str]| {
        let mut command = topobroker();
        succeed(command.args(arguments).env("TOPOBROKER_RUN", &run).envs(keys.to_env()))
    };
    ours(&["job", "add", "held", "-n", "1", "--map-by", "slot"]);
    first.end();
    let mut second = serving(&run, &input);
    // Its processes have the keys of the generation that they were started with.
    assert!(ours(&["job", "show", "held"]).starts_with("rank 0 bound"));
    assert!(ours(&["status", "--verbose"]).contains("jobs: held"));
    second.end();
    assert!(!run.exists());
}

#[test]
fn status_lists_a_daemon_and_unpublish_stale_removes_the_files_of_a_killed_one() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let mut daemon = serving(&run, &machine(folder.path(), "Core:2 PU:2"));
    let ours =
        |arguments: &[&str]| succeed(topobroker().args(arguments).env("TOPOBROKER_RUN", &run));
    let file = daemon.keys().path().unwrap().to_owned();
    let name = file.to_str().unwrap();
    assert!(ours(&["status"]).lines().any(|line| line.contains(" alive ") && line.ends_with(name)));
    ours(&["unpublish", "--stale"]);
    assert_eq!(pus(&daemon), "4");
    daemon.kill();
    // Processes still find the segment, until it is swept.
    assert_eq!(pus(&daemon), "4");
    ours(&["unpublish", "--stale"]);
    assert!(!file.exists() && !run.exists());
}

#[test]
fn login_sessions_and_services_get_what_the_daemon_publishes_for_hwloc() {
    if !has("lstopo-no-graphics") || !has("strace") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let mut daemon = Daemon::start(topobroker(), &run, &["--legacy"]);
    let prefix = topobroker_embedding::prefix();
    let note = folder.path().join("note");
    // How often hwloc opens a file below /sys.
    let looks = |before: &str| {
        let script = format!(
            "{before} exec strace -f -e trace=open,openat -o \"$1\" lstopo-no-graphics --no-io >/dev/null"
        );
        let mut session = Command::new("sh");
        session.args(["-c", &script]).arg(prefix.join("etc/profile.d/topobroker.sh")).arg(&note);
        succeed(session.env("TOPOBROKER_RUN", &run));
        let text = std::fs::read_to_string(&note).unwrap();
        text.lines().filter(|line| line.contains("\"/sys/") && !line.contains("ENOENT")).count()
    };
    let (without, with) = (looks(""), looks(". \"$0\";"));
    assert!(with * 10 < without, "{without} looks without, {with} with");
    let generator = prefix.join("lib/systemd/user-environment-generators/60-topobroker");
    let printed = succeed(Command::new(generator).env("TOPOBROKER_RUN", &run));
    assert!(printed.lines().any(|line| line.starts_with("HWLOC_XMLFILE=/")), "{printed}");
    assert!(!printed.contains("TOPOBROKER_"), "{printed}");
    daemon.end();
}

#[test]
fn two_daemons_do_not_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let input = machine(folder.path(), "Core:2 PU:2");
    let daemon = serving(&run, &input);
    let output =
        topobroker().args(["serve", "--folder"]).arg(&run).arg("-i").arg(&input).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("another daemon publishes here"), "{text}");
    assert_eq!(pus(&daemon), "4");
}

#[test]
fn keys_of_a_folder_that_anybody_may_write_are_not_believed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let daemon = serving(&run, &machine(folder.path(), "Core:2 PU:2"));
    std::fs::set_permissions(run.join("keys"), std::fs::Permissions::from_mode(0o666)).unwrap();
    let mut command = topobroker();
    let output = command.env("TOPOBROKER_RUN", &run).args(["ls"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8(output.stderr).unwrap().contains("mode 0666, which others may write")
    );
    drop(daemon);
}
