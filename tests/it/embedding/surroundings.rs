//! Processes under tools, limits, filters and clocks that are not the usual ones.

use super::installed::{assert_one_address, compile, prefix, succeed, topobroker};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a rank prints that is started so, below `topobroker run` of 16 PUs at an address.
fn rank(program: &Path, address: &str, start: &[&str]) -> String {
    let mut command = topobroker();
    command.args(["run", "--address", address, "-i", "Package:2 Core:4 PU:2", "--"]);
    // Sanitizers look for leaks through ptrace, which a tracer of the tests may hold.
    command.args(start).arg(program).env("ASAN_OPTIONS", "detect_leaks=0");
    succeed(&mut command)
}

fn address_of(line: &str) -> &str {
    line.split_whitespace().nth(5).unwrap_or_else(|| panic!("{line}"))
}

fn built(folder: &Path, name: &str, flags: &[&str]) -> PathBuf {
    compile(folder, "cc", "rank.c", name, &["topobroker-reader"], flags)
}

#[test]
fn processes_under_sanitizers_and_odd_limits_adopt_at_the_usual_address() {
    let folder = tempfile::tempdir().unwrap();
    let plain = built(folder.path(), "plain", &[]);
    let ways: [(PathBuf, &[&str]); 6] = [
        (built(folder.path(), "address", &["-fsanitize=address,undefined"]), &[]),
        (built(folder.path(), "thread", &["-fsanitize=thread"]), &[]),
        (built(folder.path(), "no-pie", &["-no-pie"]), &[]),
        (plain.clone(), &["setarch", "-R"]),
        (plain.clone(), &["sh", "-c", "ulimit -s unlimited; exec \"$0\""]),
        // Four GB of address space, as 32-bit programs have.
        (plain, &["sh", "-c", "ulimit -v 4194304; exec \"$0\""]),
    ];
    for address in ["0x7ff000000000", "0x550000000000"] {
        let lines: Vec<String> =
            ways.iter().map(|(program, start)| rank(program, address, start)).collect();
        for line in &lines {
            assert!(line.contains(" sees PUs 0-15"), "{line}");
        }
        assert_one_address(lines.iter().map(|line| address_of(line)));
    }
}

#[test]
fn under_a_filter_without_memfd_the_other_stores_work_and_that_one_says_what_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let filter = compile(folder.path(), "cc", "no_memfd.c", "no_memfd", &[], &[]);
    let publish = |store: &[&str]| {
        let mut command = Command::new(&filter);
        command.arg(topobroker().get_program()).arg("run").args(store);
        command.args(["-i", "Core:2 PU:2", "--"]).arg(topobroker().get_program()).arg("ls");
        command.output().unwrap()
    };
    let in_folder = ["--store", "file", "--folder", folder.path().to_str().unwrap()];
    for store in [&["--store", "shm"][..], &in_folder] {
        let output = publish(store);
        assert!(output.status.success() && output.stdout.starts_with(b"Machine"), "{output:?}");
    }
    let output = publish(&["--store", "memfd"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("memfd") && error.contains("not permitted"), "{error}");
    // Loading with nobody publishing.
    let loader = compile(folder.path(), "cc", "loader.c", "loader", &["topobroker"], &[]);
    let _alone = super::loading::alone();
    let line = succeed(Command::new(&filter).arg(&loader));
    assert!(line.trim().rsplit(' ').next().unwrap().parse::<u32>().unwrap() > 0, "{line}");
}

/// A day, and more than the time since 1970.
const JUMPS: [&str; 4] = ["86400", "-86400", "4000000000", "-4000000000"];

#[test]
fn whatever_the_clock_says_what_is_published_is_adopted_and_nothing_of_the_living_is_swept() {
    let folder = tempfile::tempdir().unwrap();
    let clock = compile(folder.path(), "cc", "clock.c", "clock.so", &[], &["-shared", "-fPIC"]);
    // Without the clock of the publisher, which is another.
    let script = r#"
        theirs=$(date +%s); unset LD_PRELOAD; [ $((theirs - $(date +%s))) -ne 0 ] &&
        "$0" unpublish --stale && "$0" status | grep -q alive && "$0" ls | head -1
    "#;
    for jump in JUMPS {
        let mut command = topobroker();
        command.args(["run", "-i", "Core:2 PU:2", "--", "sh", "-c", script]);
        command.arg(topobroker().get_program());
        let text = succeed(command.env("LD_PRELOAD", &clock).env("CLOCK_SHIFT", jump));
        assert!(text.starts_with("Machine"), "{jump}: {text}");
    }
}

#[test]
fn a_publisher_in_another_time_namespace_is_alive_to_those_outside_and_inside() {
    let script = "exec unshare --time --boottime 1000000 --fork \"$@\"";
    let possible = Command::new("sh").args(["-c", script, "sh", "true"]).output().unwrap();
    if !possible.status.success() {
        eprintln!("skipped: a time namespace takes root and Linux 5.6");
        return;
    }
    let program = prefix().join("bin/topobroker");
    let program = program.to_str().unwrap();
    let both = [
        format!("{program} run -i 'PU:2' -- sh -c '{script}' sh {program} status"),
        // Published inside; the pipe's reader looks from outside.
        format!(
            "sh -c '{script}' sh {program} run -i 'PU:2' -- sh -c 'echo $TOPOBROKER_FILE; sleep 1' |
            {{ read file; {program} unpublish --stale; {program} status | grep \"$file\"; }}"
        ),
    ];
    for script in both {
        let text = succeed(Command::new("sh").args(["-c", &script]));
        assert!(text.contains(" alive "), "{text}");
        assert!(!text.contains(" gone "), "{text}");
    }
}
