//! The examples of the reader and the broker do what they say.

use std::path::PathBuf;
use std::process::Command;
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
