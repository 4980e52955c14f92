//! What a publication removes of others, and what it must leave: all that lives.

use std::process::Command;
use topobroker_samples::skip;
use topobroker_tests::segments::topobroker_file;

/// What a script prints in namespaces of its own, with an empty /dev/shm. `$T` is the program.
/// `None` without root.
fn printed(script: &str) -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        skip(format_args!("mounting takes root"));
        return None;
    }
    let script = format!("mount -t tmpfs -o mode=1777 tmpfs /dev/shm; cd /dev/shm; {script}");
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--mount-proc", "bash", "-c", &script]);
    let output = command.env("T", topobroker_file()).output().unwrap();
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Starts a launcher that publishes for hwloc too and adds a job, and waits until it has.
const LAUNCHER: &str = r#"
    launcher() {
        $T run --legacy -i machine -- sh -c "$T job add $1 --launcher \$PPID --map-by slot -n 1; exec sleep 30" >/dev/null 2>&1 &
        for try in $(seq 100); do ls | grep -q "job-$1\$" && break; sleep 0.05; done
    }
    publish() { $T run -i PU:1 -- true; }
"#;

#[test]
fn what_lives_stays_whoever_publishes_and_whatever_its_jobs_are_called() {
    let Some(text) = printed(&format!(
        r#"{LAUNCHER}
        launcher a.new; touch -d '1 hour ago' *; before=$(ls | wc -l)
        publish; echo $before $(ls | wc -l)"#
    )) else {
        return;
    };
    assert_eq!(text, "6 6\n");
}

#[test]
fn who_cannot_know_whether_others_live_removes_nothing() {
    let Some(text) = printed(&format!(
        r#"{LAUNCHER}
        launcher a; before=$(ls | wc -l)
        unshare --pid --fork --mount-proc $T run -i PU:1 -- true; unshare --pid --fork $T run -i PU:1 -- true
        # The first one that is taken away is that of this namespace, then that of the one outside.
        umount -l /proc; publish 2>/dev/null; while umount -l /proc 2>/dev/null; do :; done; publish 2>/dev/null
        echo $before $(ls | wc -l)"#
    )) else {
        return;
    };
    assert_eq!(text, "6 6\n");
}

#[test]
fn a_living_job_keeps_the_segment_of_a_dead_publisher_until_it_ends() {
    let Some(text) = printed(&format!(
        r#"{LAUNCHER}
        launcher a; publisher=$(pgrep -f "^$T run" | head -1)
        sleep 60 & export $(ls | grep -v '[+.]' | sed 's#^#TOPOBROKER_FILE=/dev/shm/#') TOPOBROKER_ADDR=0
        export TOPOBROKER_SIZE=$(stat -c %s $TOPOBROKER_FILE)
        $T job add b --launcher $! --map-by slot -n 1 >/dev/null
        kill -KILL $publisher; sleep 0.2; publish; echo $(ls | grep -v + | sed 's/topobroker-[0-9a-f]*//')
        kill $!; wait $! 2>/dev/null; publish; echo $(ls | wc -l)"#
    )) else {
        return;
    };
    assert_eq!(text.lines().last(), Some("0"), "{text}");
    assert!(text.contains(".job-b\n"), "{text}");
}

#[test]
fn a_publication_in_a_folder_sweeps_it_and_shared_memory_and_leaves_the_folder_of_a_daemon() {
    let Some(text) = printed(
        r#"mkdir folder; $T run --folder folder -i PU:1 -- sleep 20 & sleep 0.5; kill -KILL $!; echo $(ls folder | wc -l)
        $T run --folder folder -i PU:1 -- true; echo $(ls folder | wc -l)
        $T serve --folder run -i PU:1 2>/dev/null & daemon=$!
        for try in $(seq 100); do [ -e run/keys ] && break; sleep 0.05; done
        kill -KILL $daemon; wait 2>/dev/null; before=$(ls run | wc -l)
        $T run --folder run -i PU:2 -- true; echo $before $(ls run | wc -l)"#,
    ) else {
        return;
    };
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines, ["1", "0", "3 3"], "{text}");
}
