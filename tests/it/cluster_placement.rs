//! Ranks over the nodes of a cluster, beside mpirun of Open MPI 4.1, which maps without launching.

use std::path::Path;
use std::process::Command;
use topobroker_cluster::{ClusterBuilder, GroupId, NodeFile, place_on_nodes, prepare};
use topobroker_reader::cluster::{Cluster, ClusterNode};

const MACHINE: &str = "Package:2 NUMANode:1 Core:4 PU:2";
const NODES: usize = 3;

/// The rank, the node and the drawn place of each rank; `None` if mpirun maps nothing. `nodes` are the
/// options that say which nodes there are.
fn mpirun(nodes: &[&str], arguments: &[String]) -> Option<Vec<(u32, usize, String)>> {
    let mut command = Command::new("mpirun.openmpi");
    command.arg("--allow-run-as-root").args(nodes);
    command.args(["--do-not-launch", "--display-devel-map"]).args(arguments).arg("true");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (mut ranks, mut node, mut rank) = (Vec::new(), 0, 0);
    let mut locale = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(rest) =
            line.strip_prefix("Data for node: n").map(|it| it.trim_start_matches("odeA"))
        {
            node = rest.split_whitespace().next().unwrap().parse().unwrap();
        } else if let Some((_, found)) = line.split_once("App rank: ") {
            rank = found.trim().parse().unwrap();
        } else if let Some(found) = line.strip_prefix("Locale:") {
            locale = found.trim().to_owned();
        } else if let Some(found) = line.strip_prefix("Binding:") {
            // Ranks that are bound to what they are mapped to are drawn as unbound.
            let drawn =
                if found.trim() == "UNBOUND" { locale.clone() } else { found.trim().to_owned() };
            ranks.push((rank, node, drawn));
        }
    }
    ranks.sort();
    (!ranks.is_empty()).then_some(ranks)
}

/// How mpirun draws PUs of the machine.
fn drawn(set: Option<&topobroker_reader::Set>) -> String {
    let Some(set) = set.filter(|set| set.weight() != Some(16)) else { return "NODE".to_owned() };
    let core = |core: u32| {
        let pu = |pu| if set.contains(2 * core + pu) { 'B' } else { '.' };
        format!("{}{}", pu(0), pu(1))
    };
    let package = |first: u32| (first..first + 4).map(core).collect::<Vec<_>>().join("/");
    format!("[{}][{}]", package(0), package(4))
}

/// A cluster of nodes that are all alike.
fn with_cluster(machine: &Path, ask: impl FnOnce(&[ClusterNode<'_>])) {
    let mut builder = ClusterBuilder::new();
    for node in 0..NODES {
        let file = NodeFile { name: Some(format!("n{node}")), file: machine.to_owned() };
        for node in prepare(&file).unwrap() {
            builder.add(GroupId::CLUSTER, node).unwrap();
        }
    }
    let bytes = builder.finish().unwrap();
    let cluster = Cluster::open(&bytes).unwrap();
    ask(&cluster.nodes().collect::<Vec<_>>());
}

fn machine_file(folder: &Path) -> std::path::PathBuf {
    let file = folder.join("machine.xml");
    let script = "\"$T\" export -i \"$M\" > \"$F\"";
    let mut command = Command::new("sh");
    command.args(["-c", script]).env("T", env!("CARGO_BIN_EXE_topobroker_for_tests"));
    assert!(command.env("M", MACHINE).env("F", &file).status().unwrap().success());
    file
}

#[test]
fn ranks_over_three_nodes_are_where_the_installed_mpirun_maps_them() {
    if Command::new("mpirun.openmpi").arg("--version").output().is_err() {
        topobroker_tests::skip(format_args!(
            "there is no mpirun.openmpi; scripts/test installs it"
        ));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = machine_file(folder.path());
    // With these nodes mpirun knows how many slots each has, but not what it is like; the nodes that it
    // simulates are like the machine, and have too many slots.
    let (three, topology) = (NODES.to_string(), file.to_str().unwrap());
    let listed = ["--host", "n0:8,n1:8,n2:8", "--mca", "hwloc_base_topo_file", topology];
    let simulated = [
        ["--mca", "ras", "simulator"],
        ["--mca", "ras_simulator_num_nodes", &three],
        ["--mca", "ras_simulator_topo_files", topology],
    ];
    let policies = ["slot", "node", "core", "socket", "socket:SPAN", "ppr:1:socket", "ppr:2:node"];
    let (mut nodes_equal, mut places_equal, mut refused) = (0, 0, 0);
    with_cluster(&file, |nodes| {
        for (map_by, count) in policies.iter().flat_map(|it| [7, 13, 25].map(|count| (*it, count)))
        {
            let arguments = |bind_to: &[&str]| {
                let count = count.to_string();
                let all = [&["--map-by", map_by, "-np", &count], bind_to].concat();
                all.into_iter().map(str::to_owned).collect::<Vec<_>>()
            };
            let on_nodes = mpirun(&listed, &arguments(&["--bind-to", "none"]));
            for bind_to in [None, Some("core")] {
                let ours = place_on_nodes(nodes, map_by, bind_to, Some(count));
                let Some(theirs) = &on_nodes else {
                    assert!(ours.is_err(), "{map_by} {bind_to:?} {count}: {ours:?}");
                    refused += 1;
                    continue;
                };
                let ours =
                    ours.unwrap_or_else(|error| panic!("{map_by} {bind_to:?} {count}: {error}"));
                let ours: Vec<(u32, usize, String)> = ours
                    .iter()
                    .map(|it| (it.rank, it.node.number() as usize, drawn(it.cpuset.as_ref())))
                    .collect();
                let node = |it: &(u32, usize, String)| (it.0, it.1);
                let is_same = |all: &Vec<(u32, usize, String)>| {
                    ours.iter().map(node).eq(all.iter().map(node))
                };
                assert!(is_same(theirs), "{map_by} {bind_to:?} {count}: {ours:?} {theirs:?}");
                nodes_equal += 1;
                let binding: Vec<&str> = bind_to.iter().flat_map(|to| ["--bind-to", to]).collect();
                let Some(theirs) =
                    mpirun(&simulated.concat(), &arguments(&binding)).filter(is_same)
                else {
                    continue;
                };
                let in_order = |all: &[(u32, usize, String)]| {
                    let mut all: Vec<_> = all.iter().map(|it| (it.1, it.2.clone())).collect();
                    // Which of a node's ranks the odd ones are, mpirun decides in no order.
                    if map_by.ends_with("SPAN") {
                        all.sort();
                    }
                    all
                };
                // Ranks for which there is no core are unbound, which a simulation does not count.
                if ours.iter().any(|(.., place)| place != "NODE") {
                    assert_eq!(in_order(&ours), in_order(&theirs), "{map_by} {bind_to:?} {count}");
                    places_equal += 1;
                }
            }
        }
    });
    eprintln!(
        "{nodes_equal} on the same nodes, {places_equal} at the same places, {refused} refused by both"
    );
    assert!(nodes_equal >= 20 && places_equal > 5 && refused >= 20);
}

#[test]
fn what_has_no_place_on_the_nodes_is_refused_with_the_number() {
    let folder = tempfile::tempdir().unwrap();
    let file = machine_file(folder.path());
    with_cluster(&file, |nodes| {
        let refused = |map_by: &str, count| {
            place_on_nodes(nodes, map_by, None, Some(count)).unwrap_err().to_string()
        };
        assert!(refused("slot", 25).starts_with("25 ranks: slot has place for 24 on 3 nodes"));
        assert!(
            refused("ppr:1:package", 7)
                .starts_with("7 ranks: ppr:1:package has place for 6 on 3 nodes")
        );
        assert!(refused("sock", 1).contains("not a type of object"));
        let many = place_on_nodes(nodes, "slot:OVERSUBSCRIBE", None, Some(26)).unwrap();
        assert!(many.len() == 26 && many[25].node.number() == 2);
        assert_eq!(place_on_nodes(nodes, "ppr:2:package", None, None).unwrap().len(), 12);
    });
}
