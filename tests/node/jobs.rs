//! Jobs over one topology: many of them, many readers, launchers that die.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use topobroker::publish::Address;
use topobroker_tests::segments::{Published, adopter, run_adopter, topobroker, usual};

fn job(published: &Published, arguments: &[&str]) -> Output {
    let mut command = topobroker();
    command.envs(published.keys.to_env()).arg("job").args(arguments).output().unwrap()
}

fn text(output: Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn error(output: Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

/// Adds a job and returns its file.
fn add(published: &Published, arguments: &[&str]) -> PathBuf {
    let line = text(job(published, &[&["add"], arguments].concat()));
    PathBuf::from(line.trim().strip_prefix("TOPOBROKER_JOB=").unwrap())
}

fn mine(published: &Published, job: &Path) -> Command {
    let mut command = adopter(&published.keys);
    command.arg("mine").env("TOPOBROKER_JOB", job);
    command
}

fn files(published: &Published) -> usize {
    std::fs::read_dir(published.file().parent().unwrap()).unwrap().count()
}

#[test]
fn a_job_shows_its_pus_and_ranks_and_takes_no_memory_but_its_handle() {
    let published = usual();
    let file = add(&published, &["solver", "--cpu-set", "6,7,2,3", "--map-by", "cpu-list:PE=2"]);
    let output = text(mine(&published, &file).output().unwrap());
    assert_eq!(output, "mine 2-3,6-7 0\nrank 0 6-7\nrank 1 2-3\n");
    let shown = text(job(&published, &["show", "solver"]));
    let [first, second] = shown.lines().collect::<Vec<_>>()[..] else { panic!("{shown}") };
    assert!(
        first.starts_with("rank 0 bound to socket 0[core 3[hwt 0-1]]: [../../../BB/"),
        "{first}"
    );
    assert!(
        second.starts_with("rank 1 bound to socket 0[core 1[hwt 0-1]]: [../BB/../"),
        "{second}"
    );
    let shown = text(job(&published, &["show", "solver", "--style", "prrte"]));
    assert_eq!(shown.lines().next(), Some("Rank 0 bound to package[0][core:L3]"));
    text(job(&published, &["remove", "solver"]));
    assert_eq!(files(&published), 1);
}

#[test]
fn a_pe_list_places_ranks_as_prterun_3_and_5_do() {
    // What prterun 3.0.8 and 5.0.0rc1 print of a machine with two threads a core.
    let published = usual();
    for (list, count, shown) in [
        ("pe-list=0,2,3", "2", ["[core:L0,2-3]", "[core:L0,2-3]"]),
        ("pe-list=3,1,0:ordered", "2", ["[core:L3]", "[core:L1]"]),
        ("pe-list=0,2:hwtcpus:ordered", "2", ["[hwt:L0]", "[hwt:L2]"]),
    ] {
        add(&published, &["solver", "-n", count, "--map-by", list]);
        let lines = text(job(&published, &["show", "solver", "--style", "prrte"]));
        for (line, end) in lines.lines().zip(shown) {
            assert!(line.ends_with(end), "{list}: {lines}");
        }
        text(job(&published, &["remove", "solver"]));
    }
    let many = error(job(&published, &["add", "x", "-n", "4", "--map-by", "pe-list=0-2:ordered"]));
    assert!(many.contains("4 ranks: the pe-list has 3 CPUs"), "{many}");
    let both = ["add", "x", "--cpu-set", "0", "--map-by", "pe-list=0"];
    assert!(error(job(&published, &both)).contains("leave out --cpu-set"));
}

#[test]
fn ranks_come_from_a_file_and_a_mistake_in_it_is_named() {
    let published = usual();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ranks");
    let path = file.to_str().unwrap();
    std::fs::write(&file, "5 0-3\n4 8,9\n").unwrap();
    let made = add(&published, &["a", "--cpu-set", "0-15", "--ranks", path]);
    let lines = text(mine(&published, &made).output().unwrap());
    assert_eq!(lines, "mine 0-15 0\nrank 5 0-3\nrank 4 8-9\n");
    for (contents, complaint) in [
        ("0 0-3\n1", "line 2"),
        ("0 0-3\n1 17", "expected some of 0-15"),
        ("0 0-3\n0 4", "there already"),
        ("x 0-3", "line 1: rank \"x\""),
    ] {
        std::fs::write(&file, contents).unwrap();
        let complained =
            error(job(&published, &["add", "b", "--cpu-set", "0-15", "--ranks", path]));
        assert!(complained.contains(complaint), "{complained}");
    }
    assert_eq!(files(&published), 2);
}

#[test]
fn a_mistake_adds_no_job_and_says_what_is_wrong() {
    let published = usual();
    add(&published, &["there"]);
    for (arguments, complaint) in [
        (&["there"][..], "exists already"),
        (&["a/b"], "job name \"a/b\""),
        (&["x", "--cpu-set", "0,999"], "logical index 999"),
        (&["x", "--cpu-set", "0,1-"], "position 4"),
        (&["x", "--cpu-set", "P2:*"], "no package with logical index 2"),
        (&["x", "--cpu-set", "os:256"], "the topology has 0-255"),
        (
            &["x", "--cpu-set", "core:0-1", "-n", "9", "--map-by", "core", "--bind-to", "core"],
            "9 ranks, 2 cores; ask for fewer, or add :OVERSUBSCRIBE to --map-by",
        ),
        (
            &[
                "x",
                "--cpu-set",
                "core:0-1",
                "-n",
                "9",
                "--map-by",
                "core:oversubscribe",
                "--bind-to",
                "core",
            ],
            "9 ranks: there are free CPUs for 2; ask for fewer, or add :overload-allowed to --bind-to",
        ),
        (&["x", "--cpu-set", "0-3", "-n", "3", "--map-by", "ppr:1:core"], "3 ranks, 2 cores;"),
        (&["x", "--map-by", "core:PE=3"], "PE=3: a core is one CPU"),
        (&["x", "--map-by", "nod"], "\"nod\" is not a type of object"),
        (&["x", "--map-by", "gpu"], "--map-by gpu: there is no GPU"),
        (&["x", "--map-by", "core", "--bind-to", "gpu"], "--bind-to gpu: there is no GPU"),
        (&["x", "--map-by", "core", "--gpus-per-rank", "3"], "--gpus-per-rank 3: the node has 0"),
        (&["x", "--map-by", "core", "--nic", "mlx5_0:x"], "a port is no number"),
        (&["x", "--map-by", "core", "--bind-to", "sock"], "\"sock\" is not a type of object"),
        (&["x", "-n", "3"], "--map-by"),
        (&["x", "--map-by", "core", "-n", "999999999999"], "place for 65536"),
        (&["x", "--map-by", "ppr:18446744073709551615:core"], "not a number from 1 to 65536"),
        (&["x", "--map-by", "core", "--first-rank", "4294967295"], "below 2^32"),
        (&["x", "--map-by", "core", "--bind-to", "core", "-n", "129"], "129 ranks, 128 cores;"),
        (&["x", "--map-by", "cpu-list", "--bind-to", "core"], "CPUs of a list"),
        (&["x", "--map-by", "core:PE=2", "--bind-to", "numa"], "several cores"),
        (&["x", "--launcher", "4194305"], "4194305"),
    ] {
        let complained = error(job(&published, &[&["add"], arguments].concat()));
        assert!(complained.contains(complaint), "{arguments:?}: {complained}");
    }
    assert!(error(job(&published, &["remove", "gone"])).contains("no job \"gone\""));
    assert_eq!(files(&published), 2);
}

#[test]
fn a_job_over_another_topology_is_a_clear_error() {
    let (one, other) = (usual(), usual());
    let file = add(&one, &["job"]);
    let lines = run_adopter_with(&other, &file);
    assert!(lines.contains(&one.segment()) && lines.contains(&other.segment()), "{lines}");
    let topology_as_job = run_adopter_with(&one, &one.file());
    assert!(topology_as_job.contains("holds a topology, expected a job"), "{topology_as_job}");
    let job_as_topology = run_adopter(
        &topobroker_reader::Keys::parse(
            file.to_str().unwrap(),
            "0",
            &std::fs::metadata(&file).unwrap().len().to_string(),
        )
        .unwrap(),
        &["once"],
    );
    assert!(job_as_topology[0].contains("holds a job, expected a topology"), "{job_as_topology:?}");
}

fn run_adopter_with(published: &Published, file: &Path) -> String {
    let output = mine(published, file).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_broken_job_segment_is_refused_wherever_it_is_broken() {
    let published = usual();
    let arguments = ["job", "--cpu-set", "1-40", "--map-by", "core"];
    let file = add(&published, &arguments);
    let whole = std::fs::read(&file).unwrap();
    for place in (0..whole.len()).step_by(37) {
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (place % 8);
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, &bytes).unwrap();
        let line = run_adopter_with(&published, &file);
        // The state word and the reserved bytes of the header are only checked in part.
        assert!(line.starts_with("error ") || place < 160, "{place}: {line}");
    }
    std::fs::write(&file, &whole[..whole.len() - 8]).unwrap();
    assert!(run_adopter_with(&published, &file).starts_with("error "));
}

#[test]
fn jobs_are_removed_with_their_launcher_or_their_topology() {
    let published = Published::new(Address::Usual);
    let mut launcher = Command::new("sleep").arg("1000").spawn().unwrap();
    let pid = launcher.id().to_string();
    add(&published, &["short", "--launcher", &pid]);
    add(&published, &["long"]);
    let listed = || text(job(&published, &["list"]));
    assert!(listed().contains(&format!("launcher {pid}")), "{}", listed());
    launcher.kill().unwrap();
    launcher.wait().unwrap();
    assert!(!listed().contains("short") && listed().contains("long"), "{}", listed());
    let folder = published.file().parent().unwrap().to_owned();
    let file = published.file();
    text(topobroker().arg("unpublish").arg(&file).output().unwrap());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn the_program_that_publishes_removes_jobs_whose_launcher_died() {
    let folder = tempfile::tempdir().unwrap();
    let program = topobroker();
    let program = program.get_program().to_str().unwrap();
    let script = format!(
        "sleep 1000 & {program} job add x --launcher $! >/dev/null; ls {0}; kill $!; wait; sleep 3; ls {0}",
        folder.path().display()
    );
    let mut run = topobroker();
    run.arg("run").arg("--folder").arg(folder.path()).args(["-i", "Core:2 PU:2", "--"]);
    let listed = text(run.args(["sh", "-c", &script]).output().unwrap());
    let jobs = listed.lines().filter(|line| line.contains(".job-x")).count();
    assert_eq!((listed.lines().count(), jobs), (3, 1), "{listed}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_thousand_jobs_on_one_topology_take_a_thousand_small_files() {
    let published = usual();
    let base = topobroker_reader::adopt_keys(published.keys.clone()).unwrap();
    let mut jobs = Vec::new();
    for number in 0..1000u32 {
        let first = number % 64 * 4;
        let cpus = (first..first + 4).collect();
        let flags = topobroker_reader::RestrictFlags::REMOVE_CPULESS;
        let view = topobroker_reader::View::new(base.topology(), &cpus, flags).unwrap();
        let ranks = (0..4).map(|rank| (rank, Some([first + rank].into_iter().collect()))).collect();
        let name = format!("job-{number}");
        let options = topobroker::publish::job::JobOptions { name, ranks, ..Default::default() };
        jobs.push(topobroker::publish::job::add(base, &view, &options).unwrap());
    }
    let total: usize = jobs.iter().map(|job| job.bytes()).sum();
    println!("1000 jobs of 4 ranks: {total} bytes; the topology {}", published.keys.size());
    assert!(total < 1_500_000, "{total}");
    let listed = topobroker::publish::job::list(base).unwrap();
    assert_eq!(listed.len(), 1000);
    listed.iter().for_each(|job| assert!(job.contents.is_ok(), "{job:?}"));
    drop(jobs);
    assert_eq!(files(&published), 1);
}

#[test]
fn readers_of_many_jobs_see_their_own_part_while_jobs_come_and_go() {
    const JOBS: usize = 16;
    const READERS: usize = 256;
    let published = usual();
    let jobs: Vec<PathBuf> = (0..JOBS)
        .map(|number| {
            let cpus = format!("{}-{}", number * 16, number * 16 + 15);
            let name = format!("job-{number}");
            add(&published, &[&name, "--cpu-set", &cpus, "-n", "2", "--map-by", "l3cache"])
        })
        .collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let churn = scope.spawn(|| {
            let mut added = 0;
            while !done.load(Ordering::Relaxed) {
                add(&published, &["churn", "--cpu-set", "0-99"]);
                text(job(&published, &["remove", "churn"]));
                added += 1;
            }
            added
        });
        let readers: Vec<_> = (0..READERS)
            .map(|number| {
                mine(&published, &jobs[number % JOBS]).stdout(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        for (number, reader) in readers.into_iter().enumerate() {
            let first = number % JOBS * 16;
            let printed = text(reader.wait_with_output().unwrap());
            let expected = format!(
                "mine {first}-{} 0\nrank 0 {first}-{}\nrank 1 {}-{}\n",
                first + 15,
                first + 7,
                first + 8,
                first + 15
            );
            assert_eq!(printed, expected, "reader {number}");
        }
        // Wait for at least one more job, because the readers may have been faster.
        let start = Instant::now();
        while files(&published) == JOBS + 1 && start.elapsed() < Duration::from_secs(10) {}
        done.store(true, Ordering::Relaxed);
        assert!(churn.join().unwrap() > 0);
    });
    assert_eq!(files(&published), JOBS + 1);
}

#[test]
fn a_job_whose_legacy_files_cannot_be_made_is_not_added_and_removes_no_file() {
    let published = usual();
    let mut taken = published.file().into_os_string();
    taken.push(".job-solver+xml1");
    std::fs::write(&taken, "another's").unwrap();
    let before = files(&published);
    let error = error(job(&published, &["add", "solver", "--cpu-set", "0-3", "--legacy"]));
    assert!(error.contains("+xml1"), "{error}");
    assert_eq!(files(&published), before);
    assert_eq!(std::fs::read(&taken).unwrap(), b"another's");
}

#[test]
fn what_ranks_share_takes_no_private_memory_in_any_of_many_processes() {
    let published = usual();
    let file = add(&published, &["peers", "--map-by", "hwthread"]);
    let start = |_| {
        let mut command = adopter(&published.keys);
        command.arg("localities").env("TOPOBROKER_JOB", &file).stdout(Stdio::piped());
        command.spawn().unwrap()
    };
    let processes: Vec<_> = (0..256).map(start).collect();
    for process in processes {
        let line = text(process.wait_with_output().unwrap());
        let (_, kb) = line.trim().rsplit_once(' ').unwrap();
        assert!(line.starts_with("localities of ") && kb == "0", "{line}");
    }
}

#[test]
fn job_locality_prints_strings_or_what_each_two_ranks_share() {
    let published = usual();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "4 0\n5 1\n7 255\n9 -\n").unwrap();
    add(&published, &["peers", "--ranks", file.path().to_str().unwrap()]);
    let locality =
        |arguments: &[&str]| text(job(&published, &[&["locality", "peers"], arguments].concat()));
    let strings = locality(&[]);
    let strings: Vec<&str> = strings.lines().collect();
    assert!(strings[0].starts_with("4 SK0:") && strings[0].contains(":HT0"), "{strings:?}");
    assert!(strings[2].starts_with("7 SK1:") && strings[2].contains(":HT255"), "{strings:?}");
    assert_eq!(strings[3], "9 -");
    let shared = "core,L1,L2,L3,package,NUMA,node";
    let names = locality(&["--names"]);
    assert_eq!(names.lines().next(), Some(&*format!("4 hwthread,{shared} {shared} node node")));
    let of_rank = locality(&["--rank", "5"]);
    assert_eq!(of_rank, format!("4 {shared}\n5 hwthread,{shared}\n7 node\n9 node\n"));
    let pmix = locality(&["--rank", "5", "--pmix"]);
    assert_eq!(pmix, "4 0x407e\n5 0x407f\n7 0x4000\n9 0x4000\n");
    let opal = locality(&["--rank", "5", "--opal"]);
    assert_eq!(opal, "4 0x3ff\n5 0x7ff\n7 0xf\n9 0xf\n");
    let json: serde_json::Value = serde_json::from_str(&locality(&["--json"])).unwrap();
    assert_eq!(json[0]["peers"][1]["pmix"], 0x407e);
    assert_eq!((&json[3]["bound"], &json[3]["string"]), (&false.into(), &serde_json::Value::Null));
    let missing = error(job(&published, &["locality", "peers", "--rank", "6"]));
    assert!(missing.contains("rank 6 of peers is not on this node"), "{missing}");
}
