//! Legacy files: unmodified hwloc programs read the published topology, or their job's part of it.

use std::process::Command;
use topobroker_embedding::{assert_gone, compile, has, succeed, topobroker};
use topobroker_samples::made_cgroup::MadeCgroup;

/// A command `topobroker run --legacy`, for this machine or for an input.
fn run(input: &[&str]) -> Command {
    let mut command = topobroker();
    command.args(["run", "--legacy"]).args(input).arg("--");
    command
}

#[test]
fn an_unmodified_hwloc_program_reads_the_xml_and_can_bind() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path(), "cc", "hwloc_load.c", "load", &["hwloc"], &[]);
    let alone = succeed(&mut Command::new(&program));
    assert!(alone.contains("cpubind 1"), "{alone}");
    assert_eq!(succeed(run(&[]).arg(&program)), alone);
    // With the topology of another machine, it must not bind.
    let other = succeed(run(&["-i", "Package:2 Core:4 PU:2"]).arg(&program));
    assert!(other.starts_with("16 PUs, cpubind 0"), "{other}");
}

#[test]
fn lstopo_prints_the_same_output_without_reading_sysfs() {
    if !has("lstopo-no-graphics") || !has("strace") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut lstopo = Command::new("lstopo-no-graphics");
    let alone = succeed(&mut lstopo);
    assert_eq!(succeed(run(&[]).arg("lstopo-no-graphics")), alone);
    let opened = |command: &mut Command, name: &str| {
        let file = folder.path().join(name);
        command.args(["strace", "-f", "-e", "trace=open,openat", "-o"]).arg(&file);
        succeed(command.arg("lstopo-no-graphics"));
        let text = std::fs::read_to_string(&file).unwrap();
        text.lines().filter(|line| line.contains("\"/sys/") || line.contains("\"sys/")).count()
    };
    let walk = opened(Command::new("env").arg("A=b"), "alone");
    let none = opened(&mut run(&[]), "shared");
    assert!(walk > 50, "{walk}");
    // hwloc still reads what its cgroup allows, and how many PUs and NUMA nodes the kernel
    // supports.
    assert!(none <= 4, "{none} of {walk}");
}

#[test]
fn a_job_published_for_hwloc_shows_an_unmodified_program_its_part_alone() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path(), "cc", "hwloc_load.c", "load", &["hwloc"], &[]);
    let script = r#"
        set -e
        job=$("$1" job add half --cpu-set package:1 --legacy)
        echo "$job"
        env $job "$2"
        "$1" job remove half
    "#;
    let broker = topobroker().get_program().to_owned();
    let mut command = run(&["-i", "Package:2 Core:4 PU:2"]);
    command.args(["sh", "-c", script, "sh"]).arg(broker).arg(program);
    let text = succeed(&mut command);
    assert!(text.contains("PMIX_HWLOC_SHMEM_ADDR=0x552000000000"), "{text}");
    assert!(text.contains("8 PUs, cpubind 0"), "{text}");
    assert_gone(&text);
}

#[test]
fn legacy_files_are_listed_as_lines_and_json_and_removed_with_the_segment() {
    let folder = tempfile::tempdir().unwrap();
    let publish = |more: &[&str]| {
        let mut command = topobroker();
        command.args(["publish", "--legacy", "-i", "Core:2 PU:2", "--folder"]).arg(folder.path());
        succeed(command.args(more))
    };
    let lines = publish(&[]);
    for name in ["TOPOBROKER_FILE", "PMIX_HWLOC_SHMEM_FILE", "HWLOC_XMLFILE"] {
        assert!(lines.contains(&format!("{name}={}", folder.path().display())), "{lines}");
    }
    let json: serde_json::Value = serde_json::from_str(&publish(&["--json"])).unwrap();
    assert_eq!(json["hwloc"]["address"], "0x552000000000");
    for file in [&json["file"], &json["hwloc"]["file"], &json["xml2"], &json["xml1"]] {
        assert!(std::path::Path::new(file.as_str().unwrap()).exists(), "{file}");
    }
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files(), 8);
    succeed(topobroker().arg("unpublish").arg(json["file"].as_str().unwrap()));
    assert_eq!(files(), 4);
}

#[test]
fn an_unmodified_program_in_a_cgroup_sees_only_its_allowed_pus() {
    if succeed(Command::new("nproc").arg("--all")).trim() == "1" {
        return topobroker_samples::skip(format_args!("this machine has one PU"));
    }
    let Some(cgroup) = MadeCgroup::of_pus("0") else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path(), "cc", "hwloc_load.c", "load", &["hwloc"], &[]);
    let [shell, words @ ..] = cgroup.words();
    let outputs = [
        Command::new(&shell).args(&words).arg(&program).output().unwrap(),
        run(&[]).arg(&shell).args(&words).arg(&program).output().unwrap(),
    ];
    let [alone, shared] = outputs.map(|output| String::from_utf8(output.stdout).unwrap());
    assert!(alone.starts_with("1 PUs"), "{alone}");
    assert_eq!(shared, alone);
}
