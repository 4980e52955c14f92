//! Hostile nodes in a gathering: they lose their own place, and not that of others.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;
use topobroker_cluster::Owners;
use topobroker_cluster::PreparedNode;
use topobroker_cluster::gather::{
    Commands, Contribution, Gathered, Gathering, MAX_REPORT, NodeReport, Rounds, join, read_folder,
    run_on,
};
use topobroker_layout::description::Description;
use topobroker_layout::encode::to_bytes;
use topobroker_reader::Archive;
use topobroker_reader::text::xml::export;
use topobroker_samples::synthetic;

fn report(name: &str, machine: &Description) -> NodeReport {
    NodeReport::new(PreparedNode::of_archive(to_bytes(machine).unwrap(), Some(name), name).unwrap())
}

/// A machine whose archive is longer than a report may be.
fn large() -> Description {
    let mut machine = synthetic("Core:2 PU:2");
    for number in 0..MAX_REPORT / 50_000 + 2 {
        let text = format!("{number:06}").repeat(8_333);
        machine.objects[0].infos.push((format!("I{number}"), text));
    }
    machine
}

fn names(gathered: &Gathered) -> Vec<&str> {
    let mut names: Vec<&str> = gathered.cluster.names().collect();
    names.sort_unstable();
    names
}

fn failures(gathered: &Gathered) -> String {
    gathered.failures.iter().map(|failure| format!("{}\n", failure.what)).collect()
}

#[test]
fn a_report_or_xml_that_is_larger_than_any_machine_is_refused_and_not_passed_on() {
    let archive = to_bytes(&large()).unwrap();
    assert!(archive.len() > MAX_REPORT);
    let xml = export(Archive::open(&archive).unwrap().topology());
    let mut gathering = Gathering::new();
    for sent in [report("big", &large()).whole(), xml.into_bytes()] {
        let error = gathering.add("big", &sent, Some("big")).unwrap_err().to_string();
        assert!(error.contains("expected at most 4194304"), "{error}");
    }
    assert!(gathering.known().to_bytes(false).is_empty());
    gathering.add("n1", &report("n1", &synthetic("PU:2")).whole(), Some("n1")).unwrap();
    assert_eq!(names(&gathering.finish(&[])), ["n1"]);
}

#[test]
fn classes_that_are_passed_on_are_no_longer_than_what_is_read() {
    let mut gathering = Gathering::new();
    for number in 0..12 {
        let mut machine = synthetic(&format!("Core:{} PU:1", number + 1));
        let text = "x".repeat(50_000);
        // Different for each, so that strings are not shared.
        let texts = (0..70).map(|it| (format!("I{it}"), format!("{number} {it} {text}")));
        machine.objects[0].infos.extend(texts);
        let name = format!("n{number}");
        gathering.add(&name, &report(&name, &machine).whole(), Some(&name)).unwrap();
    }
    assert!(!gathering.known().has_room());
    assert!(gathering.known().to_bytes(true).len() <= 1 << 25);
    assert_eq!(gathering.finish(&[]).cluster.names().len(), 12);
}

/// Runs the rounds of rank 0, with what the others hand over in each round.
fn rounds(own: NodeReport, others: &[[Vec<u8>; 3]]) -> Gathered {
    let mut rounds = Rounds::new(Contribution::Report(own), 0);
    for round in 0..usize::from(Rounds::COUNT) {
        let mut all = vec![rounds.mine().unwrap().to_vec()];
        all.extend(others.iter().map(|other| other[round].clone()));
        rounds.take(all);
    }
    rounds.gathering().unwrap().finish(&["a".into(), "b".into(), "c".into()])
}

#[test]
fn of_two_ranks_that_say_they_are_one_node_neither_is_taken_and_others_keep_their_class() {
    let machine = synthetic("Core:2 PU:2");
    let other = synthetic("Core:3 PU:2");
    let own = || report("a", &machine);
    let hostile = report("b", &other);
    let sent = |it: &NodeReport, whole: bool| match whole {
        true => [it.hash_only(), it.whole(), Vec::new()],
        false => {
            let mut known = Gathering::new();
            known.add("x", &report("b", &other).whole(), None).unwrap();
            [it.hash_only(), Vec::new(), it.against(known.known())]
        }
    };
    // The first of its class says that it is b; the honest b and c report what differs.
    let all = [
        sent(&hostile, true),
        sent(&report("b", &other), false),
        sent(&report("c", &other), false),
    ];
    let gathered = rounds(own(), &all);
    assert_eq!(names(&gathered), ["a", "c"], "{}", failures(&gathered));
    assert_eq!(gathered.missing, ["b"]);
    assert!(failures(&gathered).contains("rank 2: says that it is the node \"b\", as rank 1 does"));
}

#[test]
fn a_rank_that_changes_its_name_between_rounds_is_refused() {
    let machine = synthetic("Core:2 PU:2");
    let other = synthetic("Core:3 PU:2");
    let all = [[report("b", &other).hash_only(), report("c", &other).whole(), Vec::new()]];
    let gathered = rounds(report("a", &machine), &all);
    assert_eq!(names(&gathered), ["a"]);
    assert!(failures(&gathered).contains("says that it is the node \"c\"; expected \"b\""));
}

#[test]
fn in_a_folder_a_report_has_the_name_of_its_file_and_files_of_one_name_are_both_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let machine = synthetic("Core:2 PU:2");
    for name in ["n1", "n2"] {
        join(folder.path(), &report(name, &machine)).unwrap();
    }
    fs::copy(file("n2.node"), file("n3.node")).unwrap();
    let mut named = machine.clone();
    named.objects[0].infos.push(("HostName".to_owned(), "n4".to_owned()));
    let archive = to_bytes(&named).unwrap();
    let xml = export(Archive::open(&archive).unwrap().topology());
    for name in ["n4.xml", "x.xml"] {
        fs::write(file(name), &xml).unwrap();
    }
    let gathered = read_folder(folder.path(), Owners::Trusted).unwrap().finish(&[]);
    assert_eq!(names(&gathered), ["n1", "n2"]);
    let said = failures(&gathered);
    assert!(said.contains("n3.node: says that it is the node \"n2\"; expected \"n3\""), "{said}");
    assert!(said.contains("x.xml: says that it is the node \"n4\", as "), "{said}");
    assert_eq!(gathered.missing, ["n3"]);
}

/// Asks two nodes by a script, and returns what came of it and how often n1 was asked.
fn asked(folder: &Path, of_n1: &str) -> (Gathered, usize) {
    let count = folder.join("count");
    let archive = to_bytes(&synthetic("PU:2")).unwrap();
    fs::write(folder.join("n2"), export(Archive::open(&archive).unwrap().topology())).unwrap();
    let template = format!(
        "cd {}; [ {{host}} = n2 ] && exec cat n2; echo >> {}; {of_n1}",
        folder.display(),
        count.display()
    );
    let commands = Commands { template, at_once: 2, time_out: Duration::from_secs(30), retries: 2 };
    let hosts = ["n2".to_owned(), "n1".to_owned()];
    let gathered =
        run_on(&hosts, &commands, &AtomicBool::new(false), &AtomicUsize::new(0)).finish(&hosts);
    (gathered, fs::read_to_string(count).unwrap().lines().count())
}

#[test]
fn a_command_that_prints_without_end_is_ended_when_it_has_printed_more_than_a_topology_takes() {
    let folder = tempfile::tempdir().unwrap();
    // The second ignores SIGPIPE, so closing the pipe alone would not end it.
    for of_n1 in ["yes", "trap '' PIPE; while :; do cat /dev/zero; done 2>/dev/null"] {
        let (gathered, _) = asked(folder.path(), of_n1);
        assert_eq!(names(&gathered), ["n2"]);
        let said = failures(&gathered);
        assert!(said.contains("printed more than 16777216 bytes"), "{said}");
    }
}

#[test]
fn of_a_long_error_the_last_line_is_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let (gathered, _) =
        asked(folder.path(), "{ yes | head -c 300000; echo; echo last; } >&2; exit 3");
    assert!(failures(&gathered).contains(": last"), "{}", failures(&gathered));
}

#[test]
fn a_command_that_fails_is_tried_again_and_bad_output_is_not() {
    let folder = tempfile::tempdir().unwrap();
    for (of_n1, expected) in [("echo '<topology>'", 1), ("echo failed >&2; exit 3", 3)] {
        fs::remove_file(folder.path().join("count")).unwrap_or_default();
        let (gathered, count) = asked(folder.path(), of_n1);
        assert_eq!((names(&gathered), count), (vec!["n2"], expected), "{}", failures(&gathered));
    }
}
