//! The examples of the reader and the broker do what they say.

use std::path::PathBuf;
use std::process::Command;
use topobroker_samples::skip;
use topobroker_tests::segments::topobroker_file;

/// An example of this workspace. Tests of the whole workspace build it, tests of this crate do not.
fn example(name: &str) -> Command {
    let programs = PathBuf::from(topobroker_file());
    let example = programs.with_file_name("examples").join(name);
    assert!(example.exists(), "{example:?} is missing; run `cargo build --workspace --examples`");
    Command::new(example)
}

fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_rank_that_the_example_launcher_starts_sees_the_node_and_its_own_part() {
    let text = printed(example("launch").arg(example("node").get_program()));
    assert_eq!(text.matches("from synthetic").count(), 2, "{text}");
    assert_eq!(text.matches("    8 PU\n").count(), 2, "{text}");
    assert!(text.contains("rank 0 on PUs {0-3}"), "{text}");
    assert!(text.contains("this process looks at Machine L#0 {0-7}"), "{text}");
}

#[test]
fn the_example_for_threads_shares_the_pus_out() {
    let threads = example("threads");
    let text = printed(example("launch").arg(threads.get_program()).arg("4"));
    assert_eq!(text.matches("thread 3: PUs {6-7}, NUMA nodes {1}\n").count(), 2, "{text}");
}

#[test]
fn what_killed_launchers_leave_goes_with_the_next_publication_and_with_roots_daemon() {
    if !rustix::process::geteuid().is_root() {
        return skip(format_args!("mounting takes root"));
    }
    let folder = tempfile::tempdir().unwrap();
    // Programs that any user may start.
    for program in [example("launch").get_program(), topobroker_file().as_ref()] {
        let program = PathBuf::from(program);
        let name = program.file_name().unwrap().to_str().unwrap().replace("_for_tests", "");
        std::fs::copy(&program, folder.path().join(name)).unwrap();
    }
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), mode).unwrap();
    let script = r#"
        mount -t tmpfs -o mode=1777 tmpfs /dev/shm && cd "$1" || exit 9
        as() { exec setpriv --reuid $1 --regid $1 --clear-groups "${@:2}"; }
        storm() {
            for signal in TERM KILL TERM KILL TERM KILL; do
                as $1 ./launch sleep 20 >/dev/null & pid=$!
                for try in $(seq 200); do
                    [ -n "$(ls /dev/shm | grep job)" ] && break
                    sleep 0.02
                done
                kill -$signal $pid; wait $pid
                mkdir -p /dev/shm/kept-$1; mv /dev/shm/topobroker-* /dev/shm/kept-$1/
            done 2>/dev/null
            mv /dev/shm/kept-$1/* /dev/shm/; rmdir /dev/shm/kept-$1
        }
        storm 1234
        echo left $(ls /dev/shm | wc -l)
        (as 4321 ./topobroker run -i PU:1 -- true)
        echo other $(ls /dev/shm | wc -l)
        (as 1234 ./topobroker run -i PU:1 -- true)
        echo own $(ls /dev/shm | wc -l)
        storm 1234
        ./topobroker serve -i PU:1 --folder "$1/run" --interval 1 2>/dev/null & daemon=$!
        for try in $(seq 400); do
            [ -n "$(ls /dev/shm)" ] || break
            sleep 0.1
        done
        echo daemon $(ls /dev/shm | wc -l)
        kill $daemon; wait $daemon
    "#;
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--mount-proc", "bash", "-c", script, "bash"]);
    let text = printed(command.arg(folder.path()));
    assert_eq!(text, "left 12\nother 12\nown 0\ndaemon 0\n");
}
