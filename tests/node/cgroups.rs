//! What a process in a cgroup is shown: what hwloc's own programs show it there, whether a topology
//! is published or not.

use std::fs;
use std::process::Command;
use topobroker_reader::jobs::affinity;
use topobroker_samples::made_cgroup::MadeCgroup;
use topobroker_samples::skip;
use topobroker_tests::published_here::PublishedHere;
use topobroker_tests::segments::{topobroker, topobroker_file};

/// A cgroup of the last PU that this process may use, and that PU.
fn of_last_pu() -> Option<(MadeCgroup, String)> {
    let last = affinity().unwrap().last().unwrap().to_string();
    Some((MadeCgroup::of_pus(&last)?, last))
}

/// What a command prints behind other words, with keys or without.
fn run(before: &[String], published: Option<&PublishedHere>, program: &str, words: &str) -> String {
    let all = before.iter().map(String::as_str).chain([program]).chain(words.split_whitespace());
    let all: Vec<&str> = all.collect();
    let mut command = Command::new(all[0]);
    command.args(&all[1..]).env("TOPOBROKER_RUN", "/nonexistent");
    command.env("XDG_RUNTIME_DIR", "/nonexistent").env_remove("HWLOC_XMLFILE");
    command.envs(published.iter().flat_map(|it| it.keys.iter().cloned()));
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    // Where the topology is from.
    let is_about =
        |line: &&str| !["nothing is published", "this is what"].iter().any(|it| line.contains(it));
    let said: String = said.lines().filter(is_about).map(|line| line.to_owned() + "\n").collect();
    let failed = if output.status.success() { "" } else { "failed\n" };
    String::from_utf8(output.stdout).unwrap() + &said + failed
}

/// Ours, hwloc's program, and the words of both.
const ALIKE: [(&str, &str, &str); 9] = [
    ("ls", "lstopo-no-graphics", ""),
    ("ls", "lstopo-no-graphics", "-s"),
    ("calc", "hwloc-calc", "-N core all"),
    ("calc", "hwloc-calc", "all"),
    ("calc", "hwloc-calc", "-I pu --physical-output machine:0"),
    ("distrib", "hwloc-distrib", "2"),
    ("info", "hwloc-info", "machine:0"),
    ("bind", "hwloc-bind", "core:0 -- hwloc-bind --get"),
    ("bind", "hwloc-bind", "all --single -- hwloc-bind --get"),
];

/// Without what is of the process that has discovered the topology, and without what is not of the
/// part: HWLOC.md lists them.
fn of_part(text: &str) -> String {
    let others = ["ProcessName", "LinuxCgroup", "complete cpuset"];
    let lines = text.lines().filter(|line| !others.iter().any(|it| line.contains(it)));
    lines.map(|line| line.to_owned() + "\n").collect()
}

#[test]
fn commands_answer_in_a_cgroup_as_hwlocs_programs_do_whether_published_or_not() {
    let Some((cgroup, last)) = of_last_pu() else { return };
    let published = PublishedHere::new();
    let taskset = ["taskset", "-c", &last].map(str::to_owned).to_vec();
    for (place, before) in
        [("bare", Vec::new()), ("taskset", taskset), ("cpuset", cgroup.words().to_vec())]
    {
        for (own, theirs, words) in ALIKE {
            let expected = run(&before, None, theirs, words);
            for published in [None, Some(&published)] {
                let ours = format!("{own} {words}");
                let ours = run(&before, published, &topobroker_file(), &ours);
                let is_published = published.is_some();
                let what = format!("{place}, published: {is_published}, {own} {words}");
                assert_eq!(of_part(&ours), of_part(&expected), "{what}");
            }
        }
    }
}

#[test]
fn all_of_the_node_is_shown_in_a_cgroup_where_it_is_asked_for() {
    let Some((cgroup, _)) = of_last_pu() else { return };
    let published = PublishedHere::new();
    let all = run(&[], Some(&published), &topobroker_file(), "calc -N pu all");
    for words in ["calc -N pu all --view machine", "calc -N pu all --disallowed"] {
        for published in [None, Some(&published)] {
            let program = topobroker_file();
            assert_eq!(run(&cgroup.words(), published, &program, words), all, "{words}");
        }
    }
}

#[test]
fn a_job_that_is_added_in_a_cgroup_has_its_pus_and_all_of_the_node_only_if_asked() {
    let Some((cgroup, last)) = of_last_pu() else { return };
    let published = PublishedHere::new();
    let program = topobroker_file();
    let run = |words| run(&cgroup.words(), Some(&published), &program, words);
    run("job add cgroup --map-by core -n 1");
    assert_eq!(run("job show cgroup --style ranks"), format!("0 {last}\n"));
    assert!(!run("job exec cgroup --rank 0 -- true").contains("failed"));
    if affinity().unwrap().weight() == Some(1) {
        return;
    }
    let printed = run("job add all --map-by core --cpu-set machine");
    assert!(printed.contains("and the cgroup "), "{printed}");
    assert!(run("job show all --style ranks").lines().count() > 1);
}

#[test]
fn a_quota_of_half_a_pu_is_shown_and_noted_where_ranks_want_more() {
    let Some(cgroup) = MadeCgroup::with_half_a_pu() else { return };
    let published = PublishedHere::new();
    let program = topobroker_file();
    let run = |words| run(&cgroup.words(), Some(&published), &program, words);
    let shown = "the CPU time of 0.50 PUs, which the quota of ";
    assert!(run("scope").contains(&format!("quota: {shown}")), "{}", run("scope"));
    assert!(run("scope --json").contains("\"quota_us\": 50000"));
    assert!(run("doctor").contains(&format!("note  quota       {shown}")), "{}", run("doctor"));
    assert!(run("check").contains("note: quota: "), "{}", run("check"));
    assert!(!run("check --no-quota").contains("quota"));
    run("job add one --map-by core -n 1");
    let text = run("check --job one");
    assert!(text.contains("note: quota: 1 ranks want more than"), "{text}");
}

#[test]
fn where_something_stands_in_for_files_of_the_kernel_it_is_said() {
    let allowed = affinity().unwrap();
    if allowed.weight() == Some(1) {
        return skip(format_args!("this machine has one PU"));
    }
    let (first, last) = (allowed.first().unwrap(), allowed.last().unwrap().to_string());
    let folder = tempfile::tempdir().unwrap();
    let online = folder.path().join("online");
    fs::write(&online, format!("{first}\n")).unwrap();
    let script = format!(
        "mount --bind {} /sys/devices/system/cpu/online && \"$@\" scope; \"$@\" run -- \"$@\" doctor; \"$@\" bind all -- true 2>&1",
        online.display()
    );
    let before = ["taskset", "-c", &last, "unshare", "-m", "sh", "-c", &script, "sh"];
    let program = topobroker_file();
    let text = run(&before.map(str::to_owned), None, &program, "");
    if text.is_empty() {
        return skip(format_args!("this user cannot mount"));
    }
    let note = format!("no PU of the topology ({first}) is among those that this process may use");
    assert_eq!(text.matches(&note).count(), 3, "{text}");
}

#[test]
fn a_cgroup_that_is_not_mounted_is_said_to_be_hidden() {
    let Some((cgroup, last)) = of_last_pu() else { return };
    let script = "umount -R -l /sys/fs/cgroup && exec \"$@\"";
    let hide = ["unshare", "-m", "sh", "-c", script, "sh"].map(str::to_owned);
    let before = [&cgroup.words()[..], &hide].concat();
    let own = |words| run(&before, None, &topobroker_file(), words);
    let said = "the cgroup of this process is hidden";
    for words in ["scope", "doctor"] {
        assert!(own(words).contains(said), "PU {last}: {}", own(words));
    }
    assert_eq!(own("calc all"), run(&before, None, "hwloc-calc", "all"));
    let seen = run(&cgroup.words(), None, &topobroker_file(), "scope");
    assert!(!seen.contains(said), "{seen}");
}

#[test]
fn what_hwloc_reads_from_its_environment_is_read_with_a_publication_too() {
    let published = PublishedHere::new();
    for published in [None, Some(&published)] {
        let mut command = topobroker();
        command.args(["calc", "-N", "pu", "all"]).env("HWLOC_SYNTHETIC", "Package:3 PU:5");
        command.envs(published.iter().flat_map(|it| it.keys.iter().cloned()));
        let output = command.output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "15\n");
    }
}
