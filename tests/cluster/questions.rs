//! Questions about clusters that people ask, with one command each.

use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use topobroker_samples::shared;
use topobroker_tests::segments::topobroker_file;

fn run(folder: &Path, script: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(folder).env("T", topobroker_file());
    let output = command.output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// Four nodes: three small ones below two leaf switches, and one with GPUs.
fn cluster() -> Option<TempDir> {
    let shared = shared()?;
    let folder = tempfile::tempdir().unwrap();
    let said = run(
        folder.path(),
        &format!(
            "$T export -i 'Package:1 Core:4 PU:1' > n.xml && printf 'SwitchName=top Switches=l[1-2]\\n\
             SwitchName=l1 Nodes=n[001-002]\\nSwitchName=l2 Nodes=n003,g1\\n' > f && \
             $T cluster build c n001=n.xml n002=n.xml n003=n.xml g1={}/topologies/flux-core__ipa20.xml --slurm f",
            shared.display()
        ),
    );
    assert_eq!(said, "");
    Some(folder)
}

#[test]
fn what_a_cluster_has_is_a_line_for_each_class_of_nodes() {
    let Some(folder) = cluster() else { return };
    let text = run(folder.path(), "$T cluster ls c");
    let lines: Vec<Vec<&str>> = text.lines().map(|it| it.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["class", "cores", "PUs", "memory", "GPUs", "NICs", "network", "nodes"]);
    let gpus = lines.iter().find(|line| line.last() == Some(&"g1")).unwrap();
    assert_eq!(gpus[1..3], ["112", "224"]);
    assert_eq!(gpus[5..7], ["4", "1"]);
    let small = lines.iter().find(|line| line.last() == Some(&"n[001-003]")).unwrap();
    assert_eq!(small[1..], ["4", "4", "1.0", "GiB", "0", "0", "-", "n[001-003]"]);
    assert!(
        text.ends_with("4 nodes of 2 classes: 124 cores, 236 PUs, 4 GPUs, 4034.0 GiB of memory\n"),
        "{text}"
    );
}

#[test]
fn nodes_are_found_by_conditions() {
    let Some(folder) = cluster() else { return };
    let found = |filter: &str| {
        run(folder.path(), &format!("$T cluster ls c --hostlist --where '{filter}'"))
    };
    assert_eq!(found("gpus>0 and memory>=512GiB"), "g1\n");
    assert_eq!(found("group=l2 && cores<=4"), "n003\n");
    assert_eq!(found("group=top and name=n*"), "n[001-003]\n");
    assert_eq!(found("network=infiniband"), "g1\n");
    assert!(
        found("colour=red").contains("keys are cores, pus, packages"),
        "{}",
        found("colour=red")
    );
    let json = run(folder.path(), "$T cluster ls c --json --where 'gpus>0'");
    assert!(json.contains("\"nodes\": \"g1\"") && json.contains("\"count\": 1"), "{json}");
}

#[test]
fn the_switch_that_nodes_share_and_a_name_that_was_meant_are_named() {
    let Some(folder) = cluster() else { return };
    let common = |nodes: &str| run(folder.path(), &format!("$T cluster common c {nodes}"));
    assert_eq!(common("n001 n002"), "switch l1 (2 nodes)\n");
    assert_eq!(common("n002 n003"), "switch top (4 nodes)\n");
    assert_eq!(common("n001 n002 g1"), "switch top (4 nodes)\n");
    assert_eq!(run(folder.path(), "$T cluster switch c n003 g1"), "switch l2 (2 nodes)\n");
    for (name, meant) in
        [("n3", "n003"), ("n0002", "n002"), ("g1.example.org", "g1"), ("m003", "n003")]
    {
        let said = common(&format!("n001 {name}"));
        assert!(said.contains(&format!("did you mean {meant}?")), "{name}: {said}");
    }
    assert!(!common("n001 login").contains("did you mean"), "{}", common("n001 login"));
}

#[test]
fn nodes_of_one_cluster_or_of_two_files_are_compared_and_their_lines_shown() {
    let Some(folder) = cluster() else { return };
    let diff =
        |arguments: &str| run(folder.path(), &format!("$T cluster diff {arguments}; echo $?"));
    assert_eq!(
        diff("c n001 n002"),
        "~ n001: 1 lines of XML differ\n1\n".replace("~ n001: 1 lines of XML differ\n1", "0")
    );
    let text = diff("c n001 g1");
    assert!(
        text.starts_with("~ n001: in \"top/l2\" instead of \"top/l1\"\n")
            && text.contains(" lines of XML instead of "),
        "{text}"
    );
    let text = run(
        folder.path(),
        "$T export -i 'Package:1 Core:3 PU:1' > o.xml; $T cluster diff n.xml o.xml --lines; echo $?",
    );
    assert!(text.contains("lines of XML instead of") && text.ends_with("1\n"), "{text}");
    assert!(
        text.lines().any(|line| line.starts_with("  - <object type=\"Core\" os_index=\"3\"")),
        "{text}"
    );
    assert_eq!(diff("n.xml n.xml"), "0\n");
}

#[test]
fn launchers_and_kubernetes_get_lists_of_nodes() {
    let Some(folder) = cluster() else { return };
    let to = |format: &str| run(folder.path(), &format!("$T cluster convert c --to {format}"));
    assert_eq!(to("hostfile"), "g1 slots=112\nn001 slots=4\nn002 slots=4\nn003 slots=4\n");
    let labels = to("kubernetes");
    let line = "n001 topobroker.io/class=1 topobroker.io/switch=l1 topobroker.io/switch-2=top\n";
    assert!(labels.contains(line), "{labels}");
}

#[test]
fn ids_of_flux_begin_at_0_in_each_node_and_levels_are_kept() {
    let Some(folder) = cluster() else { return };
    let text = run(folder.path(), "$T cluster convert c --to jgf --levels socket,numanode");
    let graph: serde_json::Value = serde_json::from_str(&text).unwrap();
    let all = graph["graph"]["nodes"].as_array().unwrap();
    let of = |kind: &str, rank: i64| -> Vec<(u64, String)> {
        let found = all.iter().map(|it| &it["metadata"]);
        let found = found.filter(|it| it["type"] == kind && it["rank"] == rank);
        found
            .map(|it| {
                (
                    it["id"].as_u64().unwrap(),
                    it["paths"]["containment"].as_str().unwrap().to_owned(),
                )
            })
            .collect()
    };
    let cores = of("core", 2);
    assert_eq!(cores.iter().map(|it| it.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(cores[3].1, "/cluster0/top/l1/n002/socket0/numanode0/core3");
    assert_eq!((of("socket", 0).len(), of("numanode", 0).len(), of("gpu", 0).len()), (2, 8, 4));
    assert!(of("gpu", 0).iter().all(|(_, path)| path.contains("/numanode")), "{:?}", of("gpu", 0));
}
