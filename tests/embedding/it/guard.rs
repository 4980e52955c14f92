//! The hwloc guard, preloaded into unmodified programs: adopting, copying and modifying what is
//! shared. `slots.rs` tests what it serves to loads.

use crate::c_interface::valgrind;
use std::path::{Path, PathBuf};
use std::process::Command;
use topobroker_embedding::{compile, has, prefix, said, succeed, topobroker};

/// The file of the guard.
pub(crate) fn library() -> PathBuf {
    prefix().join("lib/topobroker/libtopobroker-guard.so")
}

/// A command below which the guard is preloaded.
fn guarded(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LD_PRELOAD", library());
    command
}

pub(crate) fn program(folder: &Path) -> PathBuf {
    compile(folder, "cc", "guarded.c", "guarded", &["hwloc"], &["-lpthread"])
}

const ADDRESS: &str = "0x556000000000";

/// A program that knows only hwloc, and an hwloc segment.
struct Given {
    _folder: tempfile::TempDir,
    program: PathBuf,
    segment: PathBuf,
}

fn given() -> Given {
    let folder = tempfile::tempdir().unwrap();
    let (program, segment) = (program(folder.path()), folder.path().join("segment"));
    succeed(Command::new(&program).arg("write").arg(&segment).arg(ADDRESS));
    Given { _folder: folder, program, segment }
}

/// Runs the program with and without the guard. Without it, hwloc adopts only once.
fn assert_only_guarded(way: &str) {
    let Given { program, segment, .. } = &given();
    let alone = Command::new(program).arg(way).arg(segment).output().unwrap();
    assert!(said(&alone).contains("try_adopt"), "{}", said(&alone));
    succeed(guarded(program).arg(way).arg(segment));
}

#[test]
fn with_the_guard_a_second_adoption_gives_another_handle_on_the_same_memory() {
    assert_only_guarded("share");
}

#[test]
fn a_handle_that_is_modified_ends_as_hwlocs_own_copy_would_and_the_others_do_not_change() {
    assert_only_guarded("modify");
}

#[test]
fn eight_threads_and_forks_meanwhile_adopt_copy_modify_and_destroy() {
    assert_only_guarded("threads");
}

#[test]
fn a_child_and_its_child_adopt_and_keep_what_their_parents_adopted() {
    assert_only_guarded("forks");
}

#[test]
fn infos_are_added_to_objects_of_an_adopted_topology_and_gone_with_its_last_handle() {
    let Given { program, segment, .. } = &given();
    // hwloc reallocates a part of the segment, or writes where it must not.
    assert!(!Command::new(program).arg("info").arg(segment).output().unwrap().status.success());
    succeed(guarded(program).arg("info").arg(segment));
}

#[test]
fn a_process_that_writes_a_segment_keeps_its_addresses_free() {
    let Given { program, segment, .. } = &given();
    let write = |command: &mut Command| succeed(command.arg("write").arg(segment).arg(ADDRESS));
    assert_eq!(write(&mut Command::new(program)), "the addresses are given away\n");
    assert_eq!(write(&mut guarded(program)), "the addresses are kept free\n");
    succeed(guarded(program).arg("share").arg(segment));
}

#[test]
fn an_unused_segment_gives_its_addresses_to_another_one() {
    let Given { program, segment, .. } = &given();
    succeed(Command::new(program).arg("replace").arg(segment).arg(ADDRESS));
    succeed(guarded(program).arg("replace").arg(segment).arg(ADDRESS));
}

#[test]
fn libpmix_alone_shares_the_copy_of_what_it_has_adopted_until_it_modifies_it() {
    let given = given();
    let folder = given.program.parent().unwrap();
    for (name, shares) in [("libpmix-like.so", true), ("libother.so", false)] {
        let library = folder.join(name);
        compile(folder, "cc", "guarded_copier.c", name, &["hwloc"], &["-shared", "-fPIC"]);
        let program = compile(
            folder,
            "cc",
            "guarded_plugin.c",
            "plugin",
            &["hwloc"],
            &["-ldl", "-Wl,--no-as-needed"],
        );
        let text = succeed(guarded(&program).arg("copy").arg(&library).arg(&given.segment));
        let expected = if shares { "shared, then its own\n" } else { "its own, then its own\n" };
        assert_eq!(text, expected, "{name}");
    }
}

#[test]
fn a_plugin_is_closed_and_loaded_again_and_finds_the_segment_mapped() {
    let given = given();
    let folder = given.program.parent().unwrap();
    let library =
        compile(folder, "cc", "guarded_copier.c", "plugin.so", &["hwloc"], &["-shared", "-fPIC"]);
    let program = compile(folder, "cc", "guarded_plugin.c", "host", &[], &["-ldl"]);
    succeed(guarded(&program).arg("reload").arg(&library).arg(&given.segment));
}

#[test]
fn of_two_hwloc_libraries_in_a_process_each_caller_gets_its_own() {
    let given = given();
    let folder = given.program.parent().unwrap();
    let Some(hwloc) = loaded_hwloc() else { return };
    // A second library: the same file under another name, with callers that need that name.
    let second = folder.join("second-hwloc.so");
    std::fs::copy(hwloc, &second).unwrap();
    let named = format!("-Wl,-soname,{}", second.display());
    let dummy = folder.join("dummy.so");
    let mut empty = Command::new("cc");
    empty.args(["-shared", "-nostdlib", &named, "-x", "c", "/dev/null", "-o"]).arg(&dummy);
    succeed(&mut empty);
    let needs = ["-shared", "-fPIC", "-Wl,--no-as-needed", dummy.to_str().unwrap()];
    let other = compile(folder, "cc", "guarded_copier.c", "other.so", &[], &needs);
    let usual =
        compile(folder, "cc", "guarded_copier.c", "usual.so", &["hwloc"], &["-shared", "-fPIC"]);
    let program = compile(folder, "cc", "guarded_plugin.c", "host", &[], &["-ldl"]);
    let text = succeed(guarded(&program).arg("both").arg(&usual).arg(&other).arg(&given.segment));
    assert_eq!(text, "each has its own hwloc\n");
}

/// The hwloc library that programs find here.
fn loaded_hwloc() -> Option<PathBuf> {
    let listed = succeed(Command::new("/sbin/ldconfig").arg("-p"));
    let line = listed.lines().find(|line| line.contains("libhwloc.so.15 "))?.to_owned();
    Some(line.rsplit("=> ").next()?.into())
}

#[test]
fn the_guard_in_front_of_libhwloc_serves_programs_that_preload_nothing() {
    let given = given();
    let folder = given.program.parent().unwrap().join("front");
    let front = prefix().join("lib/topobroker/front-hwloc");
    succeed(Command::new(&front).arg(&folder));
    let run = |way: &str| {
        let mut command = Command::new(&given.program);
        succeed(command.env("LD_LIBRARY_PATH", &folder).arg(way).arg(&given.segment))
    };
    run("share");
    run("modify");
    // Both ways at once.
    let mut both = guarded(&given.program);
    succeed(both.env("LD_LIBRARY_PATH", &folder).arg("share").arg(&given.segment));
    let plugin = compile(
        given.program.parent().unwrap(),
        "cc",
        "guarded_copier.c",
        "plugin.so",
        &["hwloc"],
        &["-shared", "-fPIC"],
    );
    let host =
        compile(given.program.parent().unwrap(), "cc", "guarded_plugin.c", "host", &[], &["-ldl"]);
    let mut both = guarded(&host);
    succeed(both.env("LD_LIBRARY_PATH", &folder).arg("reload").arg(plugin).arg(&given.segment));
    let missing = Command::new(front).arg(&folder).arg("/nowhere.so").output().unwrap();
    assert!(!missing.status.success() && said(&missing).contains("no libhwloc.so.15"));
}

#[test]
fn the_guard_is_clean_under_valgrind() {
    if !has("valgrind") {
        return;
    }
    let Given { program, segment, .. } = &given();
    for way in ["share", "modify", "forks", "info"] {
        let mut command = valgrind();
        command.env("LD_PRELOAD", library()).arg(program).arg(way).arg(segment);
        succeed(&mut command);
    }
}

#[test]
fn the_guard_replaces_functions_of_hwloc_and_nothing_else_and_needs_libc_alone() {
    let symbols = succeed(Command::new("nm").args(["-D", "--defined-only"]).arg(library()));
    let names: Vec<&str> = symbols.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    assert!(names.len() > 25, "{symbols}");
    assert!(names.iter().all(|name| name.starts_with("hwloc_")), "{symbols}");
    let needed = succeed(Command::new("readelf").arg("-d").arg(library()));
    let needed: Vec<&str> = needed.lines().filter(|line| line.contains("(NEEDED)")).collect();
    assert_eq!(needed.len(), 1, "{needed:?}");
    assert!(needed[0].contains("libc.so.6"), "{needed:?}");
}

#[test]
fn an_audit_says_of_every_load_what_it_asks_for_and_what_the_guard_would_do() {
    let given = given();
    let audit = |more: &[&str], program: &[&str]| {
        let mut command = topobroker();
        command.arg("audit").args(more).arg("--").arg(&given.program).args(program);
        said(&command.output().unwrap())
    };
    let text = audit(&[], &["load", "0", "3", "1"]);
    let expected =
        "load 0x0/00000000011120333110: would be left to hwloc: no topology is published";
    assert!(text.contains(expected), "{text}");
    let text = audit(&["--guard"], &["from", "synthetic"]);
    assert!(
        text.contains(": left to hwloc: the program has called hwloc_topology_set_synthetic"),
        "{text}"
    );
}
