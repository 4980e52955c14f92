//! Which part of the topology a process sees: each row of the table, in real processes with the
//! environment of each launcher.

use std::process::Command;
use topobroker_reader::{
    Scope, Set,
    jobs::{EffectivePart, Launch, Situation},
};
use topobroker_tests::segments::topobroker;

/// Launchers, and the environment variables by which a process recognises them.
const LAUNCHES: [(&str, &[(&str, &str)]); 6] = [
    ("Open MPI", &[("OMPI_LAUNCHED", "1"), ("PRTE_LAUNCHED", "1"), ("PMIX_RANK", "0")]),
    ("Open MPI", &[("OMPI_COMM_WORLD_RANK", "0"), ("PMIX_RANK", "0")]),
    ("PRRTE", &[("PRTE_LAUNCHED", "1"), ("PMIX_RANK", "0")]),
    ("Slurm", &[("SLURM_PROCID", "0"), ("SLURM_LOCALID", "0"), ("PMI_RANK", "0")]),
    ("direct", &[("PMI_RANK", "0"), ("PMI_FD", "7")]),
    ("singleton", &[]),
];

/// Expected part: a list of PUs, or `None` for the whole topology.
fn expected(launch: &str, scope: &str, list: Option<&str>, affinity: &str) -> Option<String> {
    match (launch, scope) {
        (_, "job") | ("Open MPI" | "singleton", _) => None,
        ("PRRTE", _) => list.map(str::to_owned),
        ("direct" | "Slurm", _) => Some(affinity.to_owned()),
        _ => panic!("no such launcher in the table: {launch}"),
    }
}

/// The program, without the variables of the launcher that runs this test.
fn clean() -> Command {
    let mut command = topobroker();
    let names = ["OMPI_", "PRTE_", "PMIX_", "PMI_", "SLURM_", "MPIRUN_", "TOPOBROKER_"];
    let all = std::env::vars_os().map(|(name, _)| name);
    let set = all.filter(|name| names.iter().any(|it| name.to_string_lossy().starts_with(it)));
    set.for_each(|name| {
        command.env_remove(name);
    });
    command
}

fn part(text: &str) -> &str {
    text.lines().find_map(|line| line.strip_prefix("part: ")).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn launcher_scope_cpu_list_and_affinity_decide_the_part_as_the_table_says() {
    let allowed = topobroker_reader::jobs::affinity().unwrap();
    let all = allowed.to_text(topobroker_reader::Format::List);
    let first = allowed.first().unwrap().to_string();
    let program = clean();
    let program = program.get_program().to_str().unwrap().to_owned();
    for scope in ["machine", "cgroup", "job"] {
        for (launch, variables) in LAUNCHES {
            for list in [None, Some("0")] {
                for affinity in [&first, &all] {
                    let what = format!("{launch} {scope} {list:?} {affinity}");
                    let mut command = clean();
                    command.args(["run", "-i", "machine", "--describes", scope, "--"]);
                    command.args(["taskset", "-c", affinity, &program, "scope"]);
                    command.envs(variables.iter().copied());
                    command.envs(list.map(|list| ("PMIX_CPU_LIST", list)));
                    let output = command.output().unwrap();
                    assert!(output.status.success(), "{what}: {output:?}");
                    let text = String::from_utf8(output.stdout).unwrap();
                    assert!(text.contains(&format!("launch: {launch}\n")), "{what}: {text}");
                    assert!(text.contains(&format!("published: {scope}\n")), "{what}: {text}");
                    // A list of all PUs of this machine is the whole topology. On a machine with
                    // one PU, this is always so.
                    let list = list.map(|_| first.as_str());
                    let expected = expected(launch, scope, list, affinity);
                    let expected = expected.filter(|part| *part != all);
                    match expected {
                        None => assert!(part(&text).starts_with("all: "), "{what}: {text}"),
                        Some(pus) => {
                            let start = format!("PUs {pus}: ");
                            assert!(part(&text).starts_with(&start), "{what}: {text}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn view_mine_is_the_part_of_the_process_itself() {
    let allowed = topobroker_reader::jobs::affinity().unwrap();
    let first = allowed.first().unwrap().to_string();
    let program = clean();
    let program = program.get_program().to_str().unwrap().to_owned();
    let mut command = clean();
    command.args(["run", "-i", "machine", "--", "taskset", "-c", &first, &program]);
    command.args(["calc", "--view", "mine", "-N", "pu", "all"]).env("SLURM_PROCID", "0");
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "1\n");
}

#[test]
fn slurm_tasks_and_mpirun_in_a_step_get_the_cpu_list_of_the_plugin() {
    let allowed = topobroker_reader::jobs::affinity().unwrap();
    let first = allowed.first().unwrap().to_string();
    let program = clean().get_program().to_str().unwrap().to_owned();
    for (launch, variable) in [("Slurm", "SLURM_PROCID"), ("Open MPI", "OMPI_COMM_WORLD_RANK")] {
        let mut command = clean();
        command.args(["run", "-i", "machine", "--", &program, "scope"]).env(variable, "0");
        let output = command.env("TOPOBROKER_CPU_LIST", &first).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let start = format!("launch: {launch}\n");
        assert!(
            text.starts_with(&start) && text.contains(&format!("cpu list: {first}\n")),
            "{text}"
        );
        let whole = allowed.weight() == Some(1);
        let expected = if whole { "all: ".to_owned() } else { format!("PUs {first}: ") };
        assert!(part(&text).starts_with(&expected), "{text}");
    }
}

#[test]
fn a_steps_cpu_list_is_clipped_to_the_topology_and_ignored_without_a_launcher() {
    let program = clean().get_program().to_str().unwrap().to_owned();
    let scope = |variables: &[(&str, &str)]| {
        let mut command = clean();
        command.args(["run", "-i", "PU:2", "--", &program, "scope"]);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{variables:?}: {text}");
        part(&text).to_owned()
    };
    let list = ("TOPOBROKER_CPU_LIST", "1-300");
    assert!(scope(&[list, ("OMPI_COMM_WORLD_RANK", "0")]).starts_with("PUs 1: "));
    assert!(
        scope(&[("TOPOBROKER_CPU_LIST", "7"), ("SLURM_PROCID", "0")])
            .starts_with("all: the topology has no PU")
    );
    assert!(scope(&[("TOPOBROKER_CPU_LIST", "7")]).starts_with("all: no launcher started it"));
}

#[test]
fn the_cgroup_limits_the_part_and_an_affinity_of_another_machine_is_ignored() {
    let set = |pus: std::ops::Range<u32>| pus.collect::<Set>();
    let situation = |launch| Situation {
        launch,
        published: Scope::Machine,
        is_this_system: true,
        pus: set(0..8),
        cpu_list: None,
        affinity: set(0..8),
        cgroup: Some(set(2..4)),
    };
    let decide = |situation: &Situation| situation.decide().part;
    for launch in [Launch::Direct, Launch::Slurm, Launch::Singleton] {
        assert_eq!(decide(&situation(launch)), EffectivePart::Pus(set(2..4)), "{launch:?}");
    }
    for launch in [Launch::OpenMpi, Launch::Prte] {
        assert_eq!(decide(&situation(launch)), EffectivePart::All, "{launch:?}");
    }
    let less = Situation { affinity: set(3..6), ..situation(Launch::Direct) };
    assert_eq!(decide(&less), EffectivePart::Pus(set(3..4)));
    let elsewhere = Situation { affinity: set(50..60), cgroup: None, ..situation(Launch::Direct) };
    assert_eq!(decide(&elsewhere), EffectivePart::All);
    let cgroup = Situation { published: Scope::Cgroup, ..situation(Launch::Singleton) };
    assert_eq!(decide(&cgroup), EffectivePart::All);
}
