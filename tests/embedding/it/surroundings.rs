//! Processes under unusual tools, limits, system call filters and clocks.

use std::path::{Path, PathBuf};
use std::process::Command;
use topobroker_embedding::{compile, has, prefix, succeed, topobroker};

/// Output of a rank that the command `start` starts, below `topobroker run` with 16 PUs at an
/// address.
fn rank(program: &Path, address: &str, start: &[&str]) -> String {
    let mut command = topobroker();
    command.args(["run", "--address", address, "-i", "Package:2 Core:4 PU:2", "--"]);
    // Sanitizers look for leaks by ptrace, which fails if the tests themselves are traced.
    command.args(start).arg(program).env("ASAN_OPTIONS", "detect_leaks=0");
    succeed(&mut command)
}

/// Returns `start`, a command that changes limits and runs a program, or `None` if it fails here.
fn started<'w>(start: &'w [&'w str]) -> Option<&'w [&'w str]> {
    let (program, arguments) = start.split_first()?;
    let tried = Command::new(program).args(arguments).arg("true").output();
    let possible = tried.is_ok_and(|output| output.status.success());
    if !possible {
        topobroker_samples::skip(format_args!("{start:?} is refused here"));
    }
    possible.then_some(start)
}

#[test]
fn processes_under_sanitizers_and_odd_limits_adopt_at_the_usual_address() {
    const FIXED: [&str; 2] = ["setarch", "-R"];
    const STACK: [&str; 4] = ["sh", "-c", "ulimit -s unlimited; exec \"$@\"", "sh"];
    // 4 GB of address space, as a 32-bit program has.
    const SPACE: [&str; 4] = ["sh", "-c", "ulimit -v 4194304; exec \"$@\"", "sh"];
    let folder = tempfile::tempdir().unwrap();
    let built = |name, flags: &[&str]| {
        compile(folder.path(), "cc", "rank.c", name, &["topobroker-reader"], flags)
    };
    let plain = built("plain", &[]);
    let mut ways: Vec<(PathBuf, &[&str])> = vec![
        (built("address", &["-fsanitize=address,undefined"]), &[]),
        // Older runtimes of ThreadSanitizer do not start if the kernel randomises many address
        // bits.
        (built("thread", &["-fsanitize=thread"]), started(&FIXED).unwrap_or_default()),
        (built("no-pie", &["-no-pie"]), &[]),
    ];
    let others = [started(&FIXED), started(&STACK), started(&SPACE)];
    ways.extend(others.into_iter().flatten().map(|start| (plain.clone(), start)));
    for address in ["0x7ff000000000", "0x550000000000"] {
        for (program, start) in &ways {
            // The first address is taken in one process of thousands, but not in three in a row.
            let mut lines = (0..3).map(|_| rank(program, address, start));
            let at = |line: &String| {
                assert!(line.contains(" sees PUs 0-15"), "{program:?} {start:?}: {line}");
                line.split_whitespace().nth(5) == Some(address)
            };
            assert!(lines.any(|line| at(&line)), "{program:?} {start:?}: not at {address}");
        }
    }
}

#[test]
fn if_seccomp_refuses_memfd_the_other_stores_work_and_memfd_is_a_clear_error() {
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
    // Loading works without a publisher, too.
    let loader = compile(folder.path(), "cc", "loader.c", "loader", &["topobroker"], &[]);
    let _alone = crate::loading::alone();
    let line = succeed(Command::new(&filter).arg(&loader));
    assert!(line.trim().rsplit(' ').next().unwrap().parse::<u32>().unwrap() > 0, "{line}");
}

/// Seconds by which the clock is wrong: a day, and more than the time since 1970.
const JUMPS: [&str; 4] = ["86400", "-86400", "4000000000", "-4000000000"];

#[test]
fn with_a_wrong_clock_segments_are_adopted_and_living_ones_are_not_swept() {
    let folder = tempfile::tempdir().unwrap();
    let clock = compile(folder.path(), "cc", "clock.c", "clock.so", &[], &["-shared", "-fPIC"]);
    // The commands use the right clock, and check first that the publisher's clock differs from it.
    let script = r#"
        theirs=$(date +%s); unset LD_PRELOAD; [ $((theirs - $(date +%s))) -ne 0 ] &&
        "$0" unpublish --stale && "$0" status | grep " alive .*$TOPOBROKER_FILE" >/dev/null && "$0" ls | head -1
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
fn a_publisher_in_another_time_namespace_is_seen_as_alive_from_both_sides() {
    const INSIDE: [&str; 4] = ["unshare", "--time", "--boottime=1000000", "--fork"];
    if started(&INSIDE).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let look_from_inside = r#"
        "$1" run -i PU:2 -- $inside sh -c '"$0" status | grep "$TOPOBROKER_FILE"' "$1"
    "#;
    let look_from_outside = r#"
        mkfifo "$2"
        $inside "$1" run -i PU:2 -- sh -c 'echo $TOPOBROKER_FILE; read end < "$0"' "$2" | {
            read file
            "$1" unpublish --stale
            "$1" status | grep "$file"
            echo > "$2"
        }
    "#;
    for script in [look_from_inside, look_from_outside] {
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh"]).arg(prefix().join("bin/topobroker"));
        let text = succeed(command.arg(folder.path().join("end")).env("inside", INSIDE.join(" ")));
        assert!(text.contains(" alive "), "{text}");
    }
}

#[test]
fn a_process_that_maps_anywhere_does_not_read_its_map() {
    if !has("strace") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path(), "cc", "rank.c", "rank", &["topobroker-reader"], &[]);
    let trace = folder.path().join("trace");
    let strace = ["strace", "-f", "-qq", "-e", "trace=open,openat", "-o", trace.to_str().unwrap()];
    rank(&program, "anywhere", &strace);
    let opened = std::fs::read_to_string(trace).unwrap();
    assert!(opened.contains("/dev/shm/topobroker-") && !opened.contains("/maps"), "{opened}");
}
