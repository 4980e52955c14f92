//! Compares `topobroker bind` with `hwloc-bind`: the same locations bind to the same PUs.

use std::path::Path;
use std::process::{Command, Output};
use topobroker_reader::jobs::affinity;
use topobroker_tests::published_here::PublishedHere;
use topobroker_tests::segments::topobroker_file;

/// What a command prints of how it is bound: processors, and memory with its policy.
const REPORT: [&str; 3] =
    ["sh", "-c", "hwloc-bind --get --taskset; hwloc-bind --get --membind --nodeset"];

/// Standard output, and whether it succeeded.
fn answer(output: &Output) -> (String, bool) {
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success())
}

/// Ours without keys and without a daemon, behind the words of a command that binds it first.
fn ours(before: &[&str], arguments: &[&str]) -> Output {
    let mut command = command(before, &topobroker_file());
    command.arg("bind").args(arguments).env("TOPOBROKER_RUN", "/nonexistent");
    command.env("XDG_RUNTIME_DIR", "/nonexistent").output().unwrap()
}

fn theirs(before: &[&str], arguments: &[&str]) -> Output {
    command(before, "hwloc-bind").args(arguments).output().unwrap()
}

fn command(before: &[&str], program: &str) -> Command {
    let mut words = before.iter().copied().chain([program]);
    let mut command = Command::new(words.next().unwrap());
    command.args(words);
    command
}

/// A location of a machine with few objects, which may not be there.
fn location(random: &mut fastrand::Rng) -> String {
    let prefix = ["", "", "", "~", "^", "x"][random.usize(..6)];
    let places = [
        "pu:0",
        "pu:1",
        "core:0",
        "core:1",
        "core:all",
        "package:0",
        "package:0.core:0",
        "node:0",
        "all",
        "0x1",
        "0x2",
        "0x3",
        "pu:0-1",
        "core:odd",
        "pu:3",
    ];
    format!("{prefix}{}", places[random.usize(..places.len())])
}

#[test]
fn random_locations_bind_processors_and_memory_as_hwloc_bind_does() {
    let mut random = fastrand::Rng::with_seed(40);
    let allowed = affinity().unwrap();
    let one = allowed.iter().last().unwrap().to_string();
    let mut bound = 0;
    for number in 0..150 {
        let mut words: Vec<String> = Vec::new();
        let mut switch = |random: &mut fastrand::Rng, switches: &[&str]| {
            let chosen = switches[random.usize(..switches.len())];
            words.extend(Some(chosen.to_owned()).filter(|it| !it.is_empty()));
            words.extend((0..random.usize(1..4)).map(|_| location(random)));
        };
        switch(&mut random, &["", "", "-p", "-l", "--cpubind"]);
        if random.bool() {
            switch(&mut random, &["--membind"]);
            let policies = ["bind", "interleave", "firsttouch", "default"];
            words.extend(["--mempolicy", policies[random.usize(..4)]].map(str::to_owned));
            words.extend(random.bool().then(|| "--strict".to_owned()));
        }
        words.extend(random.bool().then(|| "--single".to_owned()));
        words.push("--".to_owned());
        let arguments: Vec<&str> = words.iter().map(String::as_str).chain(REPORT).collect();
        let before = if number % 3 == 0 { &["taskset", "-c", &one][..] } else { &[] };
        let (own, reference) = (ours(before, &arguments), theirs(before, &arguments));
        // hwloc leaves out with a message what does not exist; for us it is an error.
        if String::from_utf8_lossy(&reference.stderr).contains("does not exist") {
            assert!(!own.status.success(), "{arguments:?}");
            continue;
        }
        assert_eq!(
            answer(&own),
            answer(&reference),
            "{before:?} {arguments:?}: {own:?} {reference:?}"
        );
        bound += usize::from(own.status.success());
    }
    assert!(bound > 60, "{bound}");
}

#[test]
fn bindings_are_printed_as_hwloc_bind_prints_them_and_as_json() {
    for arguments in [
        &["--get"][..],
        &["--get", "--taskset"],
        &["--get", "--membind"],
        &["--get", "--nodeset"],
        &["--get", "--membind", "--nodeset"],
        &["core:0", "--", "hwloc-bind", "--get"],
        &["core:0", "sh", "-c", "exit 7"],
        &["core:0", "--", "/nonexistent"],
        &["--get", "core:0"],
    ] {
        assert_eq!(
            answer(&ours(&[], arguments)).0,
            answer(&theirs(&[], arguments)).0,
            "{arguments:?}"
        );
    }
    assert_eq!(ours(&[], &["core:0", "sh", "-c", "exit 7"]).status.code(), Some(7));
    assert_eq!(ours(&[], &["core:0", "--", "/nonexistent"]).status.code(), Some(127));
    let one = affinity().unwrap().singlify();
    let pu = one.iter().next().unwrap().to_string();
    let json = ours(&["taskset", "-c", &pu], &["--get", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(
        (&json["cpuset"]["list"], &json["cpuset"]["mask"]),
        (&pu.as_str().into(), &one.to_string().into())
    );
    let last = ours(&["taskset", "-c", &pu], &["-e", "--json"]);
    let last: serde_json::Value = serde_json::from_slice(&last.stdout).unwrap();
    assert_eq!(last["cpuset"]["list"], pu.as_str());
}

#[test]
fn a_process_and_its_threads_are_bound_by_their_ids() {
    let mut sleeper = Command::new("sleep").arg("60").spawn().unwrap();
    let pid = sleeper.id().to_string();
    let pu = affinity().unwrap().iter().last().unwrap().to_string();
    let place = format!("pu:{pu}");
    for which in ["--pid", "--tid"] {
        assert!(ours(&[], &["-p", &place, which, &pid]).status.success());
        assert_eq!(
            answer(&ours(&[], &["--get", which, &pid])),
            answer(&theirs(&[], &["--get", which, &pid]))
        );
        assert!(ours(&[], &["all", which, &pid]).status.success());
    }
    let before = answer(&ours(&[], &["--get", "--pid", &pid]));
    let refused = ours(&[], &["-p", &place, "--membind", "node:0", "--pid", &pid]);
    // What is refused has bound nothing.
    assert_eq!(answer(&ours(&[], &["--get", "--pid", &pid])), before);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("Linux binds no memory of others"));
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    let gone = ours(&[], &["--get", "--pid", &pid]);
    assert!(String::from_utf8_lossy(&gone.stderr).contains("cannot be found"), "{gone:?}");
}

#[test]
fn nothing_is_bound_to_pus_of_another_machine_or_outside_the_part_that_is_looked_at() {
    let other = ours(&[], &["-i", "PU:4", "pu:0", "--", "echo", "started"]);
    assert_eq!(answer(&other), (String::new(), false));
    assert!(
        String::from_utf8_lossy(&other.stderr).contains("nothing here can be bound"),
        "{other:?}"
    );
    // Indexes are those of the part.
    let pu = affinity().unwrap().iter().last().unwrap().to_string();
    let mask = format!("{:#x}", 1u64 << pu.parse::<u32>().unwrap());
    let arguments =
        ["--view", &format!("os:{pu}"), "pu:0", "--", "hwloc-bind", "--get", "--taskset"];
    assert_eq!(answer(&ours(&[], &arguments)).0.trim(), mask);
    let restricted = ["--restrict", &mask, "pu:0", "--", "hwloc-bind", "--get", "--taskset"];
    assert_eq!(answer(&ours(&[], &restricted)), answer(&theirs(&[], &restricted)));
}

#[test]
fn a_command_becomes_a_rank_with_its_pus_its_keys_and_the_variables_of_its_devices() {
    let node = PublishedHere::new();
    let pu = affinity().unwrap().iter().last().unwrap().to_string();
    node.add_job("mine", &format!("0 -\n4 {pu}\n"));
    let show = "hwloc-bind --get --taskset; echo $TOPOBROKER_JOB; echo $TOPOBROKER_SIZE";
    let mask = format!("{:#x}", 1u64 << pu.parse::<u32>().unwrap());
    for words in [
        &["job", "exec", "mine", "--rank", "4", "sh", "-c", show][..],
        &["bind", "--job", "mine", "--rank", "4", "--", "sh", "-c", show],
    ] {
        let text = node.run(words);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], mask);
        assert!(Path::new(lines[1]).exists() && lines[1].ends_with(".job-mine"), "{text}");
        assert_eq!(lines[2], node.keys[2].1);
    }
    // A launcher gives each process its rank.
    let mut launched = node.command(&["job", "exec", "mine", "--", "sh", "-c", show]);
    for name in ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_STEP_TASKS_PER_NODE"] {
        launched.env_remove(name);
    }
    // Neither what an outer rank has nor what a batch script of Slurm has is a rank of this one.
    let alone = launched.env("TOPOBROKER_RANK", "0").env("SLURM_PROCID", "0").output().unwrap();
    assert_eq!(alone.status.code(), Some(2), "{alone:?}");
    assert!(String::from_utf8_lossy(&alone.stderr).contains("--rank <RANK>"), "{alone:?}");
    let launched = launched.env("OMPI_COMM_WORLD_RANK", "4").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&launched.stdout).lines().next(), Some(&*mask));
    // Within the job, it is the job that is meant.
    let own = node.run(&["job", "exec", "mine", "--rank", "4", &topobroker_file(), "job", "show"]);
    let bound: Vec<&str> = own.lines().map(|line| &line[..12]).collect();
    assert_eq!(bound, ["rank 0 is no", "rank 4 bound"]);
}
