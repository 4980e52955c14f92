//! Ranks over the nodes of a cluster: on the nodes of mpirun of Open MPI 4.1, which maps without
//! launching, and at the places of one node.

use std::path::Path;
use std::process::Command;
use topobroker::hwloc::Input;
use topobroker::placement::{Policy, Rules, place};
use topobroker_cluster::{ClusterBuilder, GroupId, Host, PlacedRank, PreparedNode, place_on_nodes};
use topobroker_layout::encode::{AlignedVec, to_bytes};
use topobroker_reader::{Archive, cluster::Cluster};
use topobroker_samples::describe;

const MACHINE: &str = "Package:2 NUMANode:1 Core:4 PU:2";

fn archive(machine: &str) -> AlignedVec {
    to_bytes(&describe(&Input::Synthetic(machine.to_owned()))).unwrap()
}

/// A cluster of nodes that are all alike.
fn with_cluster(machine: &str, nodes: usize, ask: impl FnOnce(&[Host<'_>])) {
    let mut builder = ClusterBuilder::new();
    for node in 0..nodes {
        let name = format!("n{node}");
        let node = PreparedNode::of_archive(archive(machine), Some(&name), &name).unwrap();
        builder.add(GroupId::CLUSTER, node).unwrap();
    }
    let bytes = builder.finish().unwrap();
    let cluster = Cluster::open(&bytes).unwrap();
    ask(&cluster.nodes().map(Host::from).collect::<Vec<_>>());
}

/// The node of each rank; `None` if mpirun maps nothing. mpirun knows how many slots the nodes
/// have, but not what they are like.
fn mpirun(machine: &Path, hosts: &str, map_by: &str, count: usize) -> Option<Vec<usize>> {
    let mut command = Command::new("mpirun.openmpi");
    command.args(["--allow-run-as-root", "--host", hosts]);
    command.args(["--mca", "hwloc_base_topo_file"]).arg(machine);
    command.args(["--do-not-launch", "--display-devel-map", "--bind-to", "none"]);
    command.args(["--map-by", map_by, "-np", &count.to_string(), "true"]);
    let output = command.output().unwrap();
    let (mut ranks, mut node) = (Vec::new(), 0);
    for line in String::from_utf8_lossy(&output.stdout).lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("Data for node: n") {
            node = rest.split_whitespace().next().unwrap().parse().unwrap();
        } else if let Some((_, rank)) = line.split_once("App rank: ") {
            ranks.push((rank.trim().parse::<usize>().unwrap(), node));
        }
    }
    ranks.sort_unstable();
    (!ranks.is_empty()).then(|| ranks.into_iter().map(|(_, node)| node).collect())
}

#[test]
fn ranks_over_three_nodes_are_on_those_where_the_installed_mpirun_maps_them() {
    if Command::new("mpirun.openmpi").arg("--version").output().is_err() {
        topobroker_samples::skip(format_args!(
            "there is no mpirun.openmpi; scripts/test installs it"
        ));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("machine.xml");
    let bytes = archive(MACHINE);
    let text = topobroker_reader::text::xml::export(Archive::open(&bytes).unwrap().topology());
    std::fs::write(&file, text).unwrap();
    let all = ["slot", "node", "core", "socket", "socket:SPAN", "ppr:1:socket", "ppr:2:node"];
    let alike = all.into_iter().flat_map(|map_by| [7, 13, 25].map(|count| ([8; 3], map_by, count)));
    let of_slots = [
        ([3, 2, 6], "slot", 9),
        ([3, 2, 6], "slot:OVERSUBSCRIBE", 25),
        ([1, 4, 3], "node", 8),
        ([1, 1, 20], "node:OVERSUBSCRIBE", 23),
        ([9, 2, 6], "core", 14),
        ([3, 2, 6], "socket:OVERSUBSCRIBE", 13),
        ([3, 2, 6], "socket:SPAN", 9),
        ([3, 2, 6], "ppr:1:socket", 6),
        ([3, 2, 6], "ppr:2:node", 5),
        ([3, 2, 6], "slot", 12),
        ([3, 2, 6], "ppr:2:socket", 6),
        ([3, 2, 6], "ppr:3:node", 8),
        ([8, 8, 8], "slot:PE=2", 13),
        ([4, 4, 4], "slot:PE=2", 12),
        ([4, 4, 4], "node:PE=2", 9),
        ([4, 4, 4], "slot:PE=2", 13),
    ];
    let cases: Vec<_> = alike.chain(of_slots).collect();
    // At the same time, because mpirun waits for five seconds before it refuses a mapping.
    let theirs: Vec<_> = std::thread::scope(|scope| {
        let file = &file;
        let ask = |([a, b, c], map_by, count): ([usize; 3], _, _)| {
            scope.spawn(move || mpirun(file, &format!("n0:{a},n1:{b},n2:{c}"), map_by, count))
        };
        let asked: Vec<_> = cases.into_iter().map(|case| (case, ask(case))).collect();
        asked.into_iter().map(|(case, theirs)| (case, theirs.join().unwrap())).collect()
    });
    let (mut equal, mut refused) = (0, 0);
    with_cluster(MACHINE, 3, |nodes| {
        for ((slots, map_by, count), theirs) in theirs {
            let policy = Policy::parse(map_by, Some("none")).unwrap();
            let policy = Policy { rules: Rules::Mpirun4, ..policy };
            let given = nodes.iter().zip(slots);
            let given = given.map(|(host, slots)| Host { slots: Some(slots), ..*host });
            let ours = place_on_nodes(&given.collect::<Vec<_>>(), &policy, Some(count));
            let Some(theirs) = theirs else {
                assert!(ours.is_err(), "{map_by} {count}: {ours:?}");
                refused += 1;
                continue;
            };
            let ours = ours.unwrap_or_else(|error| panic!("{map_by} {count}: {error}"));
            let ours: Vec<usize> = ours.iter().map(|it| it.node.number() as usize).collect();
            assert_eq!(ours, theirs, "{map_by} {count}");
            equal += 1;
        }
    });
    assert!((equal, refused) == (22, 15), "{equal} equal, {refused} refused by both");
}

#[test]
fn ranks_on_the_one_node_of_a_cluster_are_where_a_job_of_that_node_has_them() {
    let machines = [
        MACHINE,
        "Package:2 NUMANode:1 Core:4 PU:2(indexes=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15)",
        "Package:2 NUMANode:1 PU:4",
    ];
    let policies = [
        "slot",
        "node",
        "core",
        "package",
        "numa",
        "hwthread",
        "slot:PE=2",
        "package:PE=2",
        "ppr:2:package",
        "ppr:1:numa",
        "ppr:3:core",
        "core:OVERSUBSCRIBE",
    ];
    let (mut equal, mut refused) = (0, 0);
    for machine in machines {
        let bytes = archive(machine);
        let opened = Archive::open(&bytes).unwrap();
        with_cluster(machine, 1, |nodes| {
            for map_by in policies {
                for bind_to in [None, Some("core"), Some("hwthread"), Some("core:overload-allowed")]
                {
                    for count in [None, Some(1), Some(2), Some(5), Some(9), Some(17)] {
                        let Ok(policy) = Policy::parse(map_by, bind_to) else { continue };
                        let alone = place(opened.topology(), &policy, count, &[]).ok();
                        let alone = alone.filter(|ranks| !ranks.is_empty());
                        let alone: Option<Vec<_>> =
                            alone.map(|all| all.into_iter().map(|it| it.cpuset).collect());
                        let ours = place_on_nodes(nodes, &policy, count);
                        let ours =
                            ours.ok().map(|all| all.into_iter().map(|it| it.cpuset).collect());
                        assert_eq!(ours, alone, "{machine}: {map_by} {bind_to:?} {count:?}");
                        *if ours.is_some() { &mut equal } else { &mut refused } += 1;
                    }
                }
            }
        });
    }
    assert!(equal > 300 && refused > 100, "{equal} {refused}");
}

fn policy(map_by: &str, bind_to: Option<&str>) -> Policy {
    Policy::parse(map_by, bind_to).unwrap()
}

#[test]
fn with_span_ranks_are_on_the_objects_of_all_nodes_in_turn_whatever_the_numbers_of_its_pus_are() {
    with_cluster("Package:2 NUMANode:1 Core:4 PU:1(indexes=0,2,4,6,1,3,5,7)", 2, |nodes| {
        let ranks = place_on_nodes(nodes, &policy("package:SPAN", Some("core")), Some(8)).unwrap();
        let pus = |ranks: &[PlacedRank<'_>]| -> Vec<u32> {
            ranks.iter().map(|rank| rank.cpuset.as_ref().unwrap().first().unwrap()).collect()
        };
        assert_eq!(pus(&ranks), [0, 1, 0, 1, 2, 3, 2, 3]);
        let old = Policy { rules: Rules::Mpirun4, ..policy("package:SPAN", Some("core")) };
        let ranks = place_on_nodes(nodes, &old, Some(8)).unwrap();
        assert_eq!(pus(&ranks), [0, 2, 1, 3, 0, 2, 1, 3]);
    });
}

#[test]
fn what_has_no_place_on_the_nodes_is_refused_with_the_number() {
    with_cluster(MACHINE, 3, |nodes| {
        let refused = |map_by: &str, count| {
            place_on_nodes(nodes, &policy(map_by, None), count).unwrap_err().to_string()
        };
        assert!(refused("slot", Some(25)).starts_with("25 ranks, 24 cores; ask for fewer"));
        let ppr = refused("ppr:1:package", Some(7));
        assert!(ppr.starts_with("7 ranks: ppr:1:package has place for 6; ask for fewer"), "{ppr}");
        for nothing in ["slot:PE=64", "slot:PE=64:SPAN"] {
            assert!(refused(nothing, None).contains("no place for a rank on 3 nodes"), "{nothing}");
        }
        assert!(refused("slot:OVERSUBSCRIBE", Some(4_000_000_000)).contains("has place for"));
        let many = place_on_nodes(nodes, &policy("slot:OVERSUBSCRIBE", None), Some(26)).unwrap();
        assert!(many.len() == 26 && many[25].node.number() == 2);
        assert_eq!(place_on_nodes(nodes, &policy("ppr:2:package", None), None).unwrap().len(), 12);
        for one_node in [policy("core", Some("gpu")), policy("cpu-list", None)] {
            let said = place_on_nodes(nodes, &one_node, Some(4)).unwrap_err().to_string();
            assert!(said.contains("is for one node"), "{said}");
        }
        let by_gpus = Policy { rules: Rules::Mpirun4, ..policy("gpu", None) };
        assert!(place_on_nodes(nodes, &by_gpus, Some(4)).is_err());
        assert_eq!(
            place_on_nodes(nodes, &policy("slot:PE=2:OVERSUBSCRIBE", None), Some(20))
                .unwrap()
                .len(),
            20
        );
        // Each rank takes two cores, so a node has place for four.
        let two = place_on_nodes(nodes, &policy("slot:PE=2", None), Some(5)).unwrap();
        let on: Vec<u32> = two.iter().map(|rank| rank.node.number()).collect();
        assert_eq!(on, [0, 0, 0, 0, 1]);
    });
}
