//! What the hwloc guard serves to loads of this machine, and what it leaves to hwloc.

use crate::guard::{library, program};
use std::path::{Path, PathBuf};
use std::process::Command;
use topobroker_embedding::{
    assert_gone, compile, has, has_package, is_root, prefix, said, succeed, topobroker,
};
use topobroker_samples::Daemon;
use topobroker_samples::made_cgroup::MadeCgroup;

/// A command below `topobroker run --guard` that says what the guard does.
fn run(folder: &Path, options: &[&str]) -> Command {
    let mut command = topobroker();
    command.args(["run", "--guard", "--guard-caller", "guarded", "--folder"]).arg(folder);
    command.args(options).arg("--");
    command.env("TOPOBROKER_GUARD_VERBOSE", "1");
    command
}

struct Given {
    folder: tempfile::TempDir,
    program: PathBuf,
}

fn given() -> Given {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path());
    Given { folder, program }
}

impl Given {
    /// Runs the program below the guard with variables and arguments. Its output and what the guard
    /// has said.
    fn guarded(&self, options: &[&str], wrapper: &[&str], arguments: &[&str]) -> (String, String) {
        let mut command = run(self.folder.path(), options);
        let output = command.args(wrapper).arg(&self.program).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    }
}

/// A load as MPI libraries make it: with important I/O devices.
const LOAD: [&str; 4] = ["load", "0", "3", "1"];

/// XML without the info that names the program that has loaded the topology.
fn without_program(xml: &str) -> String {
    xml.lines().filter(|line| !line.contains("ProcessName")).collect()
}

fn bytes_each(said: &str) -> u64 {
    let line = said.lines().find(|line| line.contains("bytes of heap each")).unwrap();
    line.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_load_is_served_with_what_hwloc_would_have_loaded_and_can_bind() {
    let given = given();
    for io in ["1", "3", "0"] {
        let arguments = ["load", "0", io, "1"];
        let alone = succeed(Command::new(&given.program).args(arguments));
        let (text, guard) = given.guarded(&[], &[], &arguments);
        assert!(guard.contains("load by guarded: served"), "{guard}");
        assert_eq!(without_program(&text), without_program(&alone));
    }
}

#[test]
fn a_process_has_four_slots_for_a_load_each_below_8_kb_and_hwloc_loads_the_fifth() {
    let given = given();
    let (_, guard) = given.guarded(&[], &[], &["load", "0", "3", "4"]);
    assert_eq!(guard.matches(": served").count(), 4, "{guard}");
    assert!(bytes_each(&guard) < 8192, "{guard}");
    let (_, guard) = given.guarded(&[], &[], &["load", "0", "3", "5"]);
    assert_eq!(guard.matches(": served").count(), 4, "{guard}");
    assert!(guard.contains("left to hwloc: all 4 slots are in use"), "{guard}");
}

#[test]
fn what_is_written_into_the_objects_of_one_topology_does_not_show_in_another() {
    let (_, guard) = given().guarded(&[], &[], &["apart"]);
    assert_eq!(guard.matches(": served").count(), 3, "{guard}");
}

#[test]
fn texts_of_a_served_topology_are_freed_reallocated_and_replaced_by_hand() {
    let given = given();
    let alone = succeed(Command::new(&given.program).arg("by-hand"));
    let (text, guard) = given.guarded(&[], &[], &["by-hand"]);
    assert_eq!(guard.matches(": served").count(), 4, "{guard}");
    assert_eq!(text, alone);
    if has("valgrind") {
        let valgrind = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full"];
        let (_, guard) = given.guarded(&[], &valgrind, &["by-hand"]);
        assert_eq!(guard.matches(": served").count(), 4, "{guard}");
    }
}

#[test]
fn kinds_of_cpus_are_registered_on_what_was_served_as_on_what_hwloc_loads() {
    let given = given();
    let alone = succeed(Command::new(&given.program).arg("kinds"));
    let (text, guard) = given.guarded(&[], &[], &["kinds"]);
    assert_eq!(guard.matches(": served").count(), 2, "{guard}");
    assert_eq!(without_program(&text), without_program(&alone));
}

#[test]
fn a_program_that_was_not_tried_with_the_guard_is_left_to_hwloc_until_the_broker_is_asked_for_it() {
    let given = given();
    let run = |caller: &str| {
        let mut command = topobroker();
        command.args(["run", "--guard", "--folder"]).arg(given.folder.path());
        command.args(["--guard-caller", caller, "--"]).arg(&given.program).args(LOAD);
        said(&command.env("TOPOBROKER_GUARD_VERBOSE", "1").output().unwrap())
    };
    for other in ["guarde", "guarded.so.1", "other"] {
        let guard = run(other);
        assert!(guard.contains("left to hwloc: guarded was not tried with the guard"), "{guard}");
        assert!(guard.contains("libopen-pal.so.40 ") && guard.contains(other), "{guard}");
    }
    for own in ["guarded", "*"] {
        let guard = run(own);
        assert!(guard.contains(": served"), "{guard}");
    }
    let mut command = topobroker();
    command.args(["run", "--guard", "--folder"]).arg(given.folder.path()).arg("--");
    command.arg(&given.program).args(LOAD).env("TOPOBROKER_GUARD_CALLERS", "other:guarded");
    let guard = said(&command.env("TOPOBROKER_GUARD_VERBOSE", "1").output().unwrap());
    assert!(guard.contains(": served"), "{guard}");
    for wrong in ["", "a/b"] {
        let text = run(wrong);
        assert!(text.contains("is no name of a library or program"), "{text}");
    }
    let long = "x".repeat(2000);
    assert!(run(&long).contains("expected at most 1536"));
}

#[test]
fn a_topology_that_is_not_this_machine_as_it_is_is_left_to_hwloc() {
    let given = given();
    for (way, function) in [
        ("synthetic", "hwloc_topology_set_synthetic"),
        ("pid", "hwloc_topology_set_pid"),
        ("components", "hwloc_topology_set_components"),
    ] {
        let alone = succeed(Command::new(&given.program).args(["from", way]));
        let (text, guard) = given.guarded(&[], &[], &["from", way]);
        let expected = format!("left to hwloc: the program has called {function}");
        assert!(guard.contains(&expected) && text == alone, "{guard}");
    }
    let (_, guard) = given.guarded(&[], &[], &["from", "gl"]);
    assert!(guard.contains(": served"), "{guard}");
}

#[test]
fn variables_that_change_what_hwloc_loads_leave_the_load_to_hwloc() {
    let given = given();
    for variable in ["HWLOC_COMPONENTS=-pci", "HWLOC_SYNTHETIC=PU:3", "CUDA_VISIBLE_DEVICES=1"] {
        let (_, guard) = given.guarded(&[], &["env", variable], &["from", ""]);
        assert!(guard.contains("are not those of the publisher"), "{variable}: {guard}");
    }
    let (_, guard) = given.guarded(&[], &["env", "HWLOC_HIDE_ERRORS=1"], &["from", ""]);
    assert!(guard.contains(": served"), "{guard}");
}

#[test]
fn a_load_that_was_not_asked_for_is_left_to_hwloc_until_the_broker_is_asked_for_it() {
    let given = given();
    // HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED.
    let arguments = ["load", "1", "3", "1"];
    let (_, guard) = given.guarded(&[], &[], &arguments);
    let load = guard.rsplit("there are no slots for ").next().unwrap();
    let load = load.lines().next().unwrap().to_owned();
    let (_, guard) = given.guarded(&["--guard-load", &load], &[], &arguments);
    assert!(guard.contains(": served"), "{guard}");
    let mut wrong = topobroker();
    let wrong = wrong.args(["run", "--guard", "--guard-load", "0x0/123", "--", "true"]).output();
    let text = said(&wrong.unwrap());
    assert!(text.contains("expected flags and 20 filters from 0 to 3"), "{text}");
}

#[test]
fn a_load_that_depends_on_the_binding_is_served_only_to_processes_that_are_not_bound() {
    let given = given();
    // HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM and _RESTRICT_TO_CPUBINDING, as oneTBB has them.
    let arguments = ["load", "0x12", "1", "1"];
    let (_, guard) = given.guarded(&[], &[], &arguments);
    assert!(guard.contains(": served"), "{guard}");
    if succeed(&mut Command::new("nproc")).trim() != "1" {
        let (_, guard) = given.guarded(&[], &["taskset", "-c", "0"], &arguments);
        assert!(guard.contains("it wants what the process is bound to"), "{guard}");
    }
}

#[test]
fn a_topology_that_hwloc_has_loaded_is_not_loaded_again_from_a_slot() {
    let (_, guard) = given().guarded(&[], &[], &["again"]);
    assert!(guard.contains("left to hwloc: it is loaded already"), "{guard}");
}

#[test]
fn the_guard_can_be_turned_off() {
    let (_, guard) = given().guarded(&[], &["env", "TOPOBROKER_GUARD=0"], &LOAD);
    assert!(!guard.contains("topobroker-guard"), "{guard}");
    assert!(bytes_each(&guard) > 8192, "{guard}");
}

#[test]
fn a_process_in_a_cgroup_that_allows_less_is_not_served_what_it_may_not_use() {
    if succeed(Command::new("nproc").arg("--all")).trim() == "1" {
        return topobroker_samples::skip(format_args!("this machine has one PU"));
    }
    let Some(cgroup) = MadeCgroup::of_pus("0") else { return };
    let given = given();
    let words = cgroup.words();
    let (text, guard) = given.guarded(&[], &words.each_ref().map(String::as_str), &LOAD);
    assert!(
        guard.contains("its cgroup does not allow what that of the publisher allows"),
        "{guard}"
    );
    assert_eq!(text.matches("type=\"PU\"").count(), 1, "{text}");
}

/// Publishes slots, does something to their file, and runs the program.
fn after(change: impl FnOnce(&Path)) -> String {
    let Given { folder, program } = &given();
    let mut publish = topobroker();
    publish
        .args(["publish", "--guard", "--guard-caller", "guarded", "--folder"])
        .arg(folder.path());
    let keys = topobroker_reader::Keys::from_lines(&succeed(&mut publish)).unwrap();
    let mut slots = keys.path().unwrap().as_os_str().to_owned();
    slots.push("+slots");
    change(Path::new(&slots));
    let mut command = Command::new(program);
    command.env("LD_PRELOAD", library()).env("TOPOBROKER_GUARD_VERBOSE", "1").envs(keys.to_env());
    let output = command.args(LOAD).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let kept: &Path = slots.as_ref();
    succeed(topobroker().arg("unpublish").arg(keys.path().unwrap()));
    assert!(!kept.exists());
    String::from_utf8(output.stderr).unwrap()
}

fn set_mode(file: &Path, mode: u32) {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
    std::fs::set_permissions(file, mode).unwrap();
}

#[test]
fn a_file_of_slots_that_others_can_have_written_is_not_believed() {
    assert!(after(|_| ()).contains(": served"));
    let guard = after(|file| set_mode(file, 0o666));
    assert!(guard.contains("left to hwloc: ") && guard.contains("0666"), "{guard}");
    if is_root("giving a file to another user") {
        let guard = after(|file| std::os::unix::fs::chown(file, Some(12345), None).unwrap());
        assert!(guard.contains("left to hwloc: ") && guard.contains("12345"), "{guard}");
    }
}

#[test]
fn a_file_of_slots_that_is_missing_cut_or_damaged_leaves_the_load_to_hwloc() {
    use std::os::unix::fs::FileExt;
    let open = |file: &Path| {
        set_mode(file, 0o644);
        std::fs::File::options().write(true).open(file).unwrap()
    };
    let missing = after(|file| std::fs::remove_file(file).unwrap());
    assert!(missing.contains("left to hwloc: "), "{missing}");
    for change in [
        |file: &std::fs::File| file.set_len(4096).unwrap(),
        |file: &std::fs::File| file.set_len(0).unwrap(),
        |file: &std::fs::File| file.write_all_at(b"X", 0).unwrap(),
    ] {
        let guard = after(|file| change(&open(file)));
        assert!(guard.contains("not a file with slots"), "{guard}");
    }
    // The header that hwloc itself checks.
    let guard = after(|file| {
        let file = open(file);
        let length = file.metadata().unwrap().len();
        for page in 1..length / 4096 {
            file.write_all_at(&[0xff; 24], page * 4096).unwrap();
        }
    });
    assert!(guard.contains("hwloc cannot adopt a slot"), "{guard}");
}

#[test]
fn slots_are_of_this_machine_and_next_to_a_file_or_an_error_says_so_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let publish = |arguments: &[&str]| {
        let mut command = topobroker();
        said(&command.args(arguments).output().unwrap())
    };
    let path = folder.path().to_str().unwrap();
    let text = publish(&["publish", "--guard", "-i", "Core:2 PU:2", "--folder", path]);
    assert!(text.contains("slots for the hwloc guard are of this machine"), "{text}");
    let text = publish(&["run", "--guard", "--store", "memfd", "--", "true"]);
    assert!(text.contains("a memfd is no file"), "{text}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn programs_find_the_slots_of_the_nodes_daemon() {
    let given = given();
    let folder = given.folder.path().join("daemon");
    let options = ["--guard", "--guard-caller", "guarded"];
    let mut daemon = Daemon::start(topobroker(), &folder, &options);
    let mut command = daemon.client(Command::new(&given.program));
    command.env("LD_PRELOAD", library()).env("TOPOBROKER_GUARD_VERBOSE", "1");
    let output = command.args(LOAD).output().unwrap();
    daemon.end();
    assert!(said(&output).contains(": served"), "{}", said(&output));
    assert!(!folder.exists());
}

/// Sorted lines of a job, alone and below the guard.
fn of_job(compiler: &str, launcher: &[&str]) -> Option<[String; 2]> {
    if !has(launcher[0]) || !has(compiler) {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let rank = compile(folder.path(), compiler, "guarded_rank.c", "rank", &[], &[]);
    let sorted = |text: String| {
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    };
    let alone = succeed(Command::new(launcher[0]).args(&launcher[1..]).arg(&rank));
    let mut command = run(folder.path(), &[]);
    let output = command.args(launcher).arg(&rank).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains(": served"), "{}", said(&output));
    assert_gone(&said(&output));
    Some([sorted(alone), sorted(String::from_utf8(output.stdout).unwrap())])
}

#[test]
fn ranks_of_open_mpi_are_bound_and_split_as_without_the_guard() {
    let launcher = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to"];
    for more in [["none", "-n", "4"], ["hwthread", "-n", "2"]] {
        let launcher = [&launcher[..], &more].concat();
        let Some([alone, guarded]) = of_job("mpicc.openmpi", &launcher) else { return };
        assert_eq!(guarded, alone);
    }
}

#[test]
fn ranks_of_mpich_are_bound_and_split_as_without_the_guard() {
    for more in ["none", "core"] {
        let launcher = ["mpirun.mpich", "-n", "4", "-bind-to", more];
        let Some([alone, guarded]) = of_job("mpicc.mpich", &launcher) else { return };
        assert_eq!(guarded, alone);
    }
}

#[test]
fn one_tbb_is_served_by_the_guard_in_front_of_libhwloc_and_sees_the_same_nodes() {
    if !has_package("tbb") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path(), "c++", "one_tbb.cpp", "one-tbb", &["tbb"], &[]);
    let front = folder.path().join("front");
    succeed(Command::new(prefix().join("lib/topobroker/front-hwloc")).arg(&front));
    let alone = succeed(&mut Command::new(&program));
    let output = run(folder.path(), &[])
        .args(["env", &format!("LD_LIBRARY_PATH={}", front.display())])
        .arg(&program)
        .output()
        .unwrap();
    let guard = said(&output);
    assert!(guard.contains("load by libtbbbind_2_5.so.3: served"), "{guard}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), alone);
}
