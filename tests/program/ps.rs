//! Compares `topobroker ps` with `hwloc-ps`, and tests what it says of ranks.

use std::process::{Child, Command, Stdio};
use topobroker_reader::jobs::affinity;
use topobroker_tests::published_here::PublishedHere;

/// A process that ends with the test.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Self {
        let running = Self(command.stdout(Stdio::null()).spawn().unwrap());
        // Until it has become `sleep`.
        let comm = format!("/proc/{}/comm", running.0.id());
        while std::fs::read_to_string(&comm).unwrap() != "sleep\n" {
            std::thread::yield_now();
        }
        running
    }

    fn id(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// OS indexes of two PUs of this machine.
fn two_pus() -> (String, String) {
    let pus: Vec<u32> = affinity().unwrap().iter().collect();
    (pus[0].to_string(), pus[pus.len() - 1].to_string())
}

#[test]
fn processes_are_listed_as_hwloc_ps_lists_them() {
    let node = PublishedHere::new();
    let (_, pu) = two_pus();
    let sleeper = Running::start(Command::new("taskset").args(["-c", &pu, "sleep", "77"]));
    for options in [
        &[][..],
        &["--cpuset"],
        &["--physical"],
        &["--single-ancestor"],
        &["--threads"],
        &["-e"],
        &["--short-name"],
        &["--uid", "all"],
    ] {
        for which in [&["--pid", &sleeper.id()][..], &["--name", "sleep"], &["-a"]] {
            let mut words = vec!["ps"];
            words.extend(options.iter().chain(which));
            // Other tests start and end processes meanwhile.
            let line_of = |text: &str| {
                let mut lines = text.lines().filter(|line| line.starts_with(&sleeper.id()));
                lines.next().map(str::to_owned)
            };
            let ours = node.run(&words);
            let theirs = Command::new("hwloc-ps").args(&words[1..]).output().unwrap();
            let theirs = String::from_utf8(theirs.stdout).unwrap();
            assert!(line_of(&ours).is_some(), "{words:?}: {ours}");
            assert_eq!(line_of(&ours), line_of(&theirs), "{words:?}");
        }
    }
    let threads =
        node.run(&["ps", "--threads", "--json", "--pid", &std::process::id().to_string()]);
    let threads: serde_json::Value = serde_json::from_str(&threads).unwrap();
    assert!(threads[0]["threads"].as_array().unwrap().len() > 1, "{threads}");
}

#[test]
fn ranks_outside_their_pus_and_on_one_core_are_misbound() {
    let node = PublishedHere::new();
    let (first, last) = two_pus();
    node.add_job("mine", &format!("0 {first}\n1 {last}\n"));
    let rank = |rank: &str| {
        let words = ["job", "exec", "mine", "--rank", rank, "--", "sleep", "78"];
        Running::start(&mut node.command(&words))
    };
    let (zero, one) = (rank("0"), rank("1"));
    let of = |words: &[&str]| -> Vec<serde_json::Value> {
        let output = node.output(words);
        let all: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
        let is_own = |it: &serde_json::Value| [zero.id(), one.id()].contains(&it["id"].to_string());
        all.into_iter().filter(is_own).collect()
    };
    let listed = of(&["ps", "--json"]);
    let seats: Vec<_> = listed.iter().map(|it| (it["job"].as_str(), it["rank"].as_u64())).collect();
    assert_eq!(seats, [(Some("mine"), Some(0)), (Some("mine"), Some(1))]);
    assert!(of(&["ps", "--misbound", "--json"]).is_empty());

    node.run(&["bind", "--pid", &one.id(), "-p", &format!("pu:{first}")]);
    let wrong = node.output(&["ps", "--misbound"]);
    assert_eq!(wrong.status.code(), Some(1));
    let wrong = of(&["ps", "--misbound", "--json"]);
    let kinds = |it: &serde_json::Value| -> Vec<String> {
        let all = it["misbound"].as_array().unwrap().iter();
        all.map(|it| it["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&wrong[0]), ["shared core"], "{wrong:?}");
    assert_eq!(kinds(&wrong[1]), ["outside", "shared core"], "{wrong:?}");
    assert_eq!(
        wrong[1]["misbound"][0]["text"],
        format!("may run on PUs {first}, but rank 1 has PUs {last}")
    );
}

#[test]
fn names_of_processes_forge_no_line_and_reach_no_terminal() {
    let node = PublishedHere::new();
    let mut command = Command::new("bash");
    let sleeper =
        Running::start(command.args(["-c", "exec -a $'evil\\e[31m\\n1\\tCore:0' sleep 79"]));
    let text = node.run(&["ps", "--pid", &sleeper.id()]);
    assert!(text.lines().count() == 1 && text.contains("evil?[31m?1?Core:0"), "{text:?}");
}

#[test]
fn ranks_of_two_launches_on_one_core_are_misbound_and_those_of_one_on_a_package_are_not() {
    let node = PublishedHere::new();
    let (first, _) = two_pus();
    let start = |launch: &str, rank: &str, pus: &str| {
        let mut command = Command::new("taskset");
        command.args(["-c", pus, "sleep", "80"]);
        Running::start(command.env("PMIX_NAMESPACE", launch).env("PMIX_RANK", rank))
    };
    let (one, other) = (start("a", "0", &first), start("b", "0", &first));
    let wrong = node.output(&["ps", "--misbound"]);
    let text = String::from_utf8(wrong.stdout).unwrap();
    for (process, launch) in [(&one, "b"), (&other, "a")] {
        let mut lines = text.lines().skip_while(|line| !line.starts_with(&process.id()));
        let reason = lines.nth(1).unwrap_or_default();
        assert_eq!(reason, format!(" shares a core with rank 0 of {launch}"), "{text}");
    }
    drop((one, other));
    let (one, other) = (start("c", "0", "0-1"), start("c", "1", "0-1"));
    let quiet = node.output(&["ps", "--misbound", "--json"]);
    let found: Vec<serde_json::Value> = serde_json::from_slice(&quiet.stdout).unwrap();
    let is_own = |it: &serde_json::Value| [one.id(), other.id()].contains(&it["id"].to_string());
    assert!(!found.iter().any(is_own), "{found:?}");
}

#[test]
fn a_process_that_is_not_there_is_an_error() {
    let node = PublishedHere::new();
    let gone = node.output(&["ps", "--pid", "4194305"]);
    assert!(String::from_utf8_lossy(&gone.stderr).contains("process 4194305 is not here"));
    let other = node.output(&["ps", "-i", "PU:4"]);
    assert!(String::from_utf8_lossy(&other.stderr).contains("no process here runs on its PUs"));
}
