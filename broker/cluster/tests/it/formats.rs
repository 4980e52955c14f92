//! Clusters as files of Flux, Graphviz, Scotch, and the nodes of Slurm.

use topobroker::description::describe;
use topobroker_cluster::formats::{FluxLevels, dot, jgf, node_names, r, tleaf, topology_units};
use topobroker_cluster::{ClusterBuilder, GroupId};
use topobroker_reader::cluster::{Cluster, GroupKind};
use topobroker_reader::{RestrictFlags, Set, View};
use topobroker_sample_clusters::regular;
use topobroker_samples::{synthetic, topology_of};

#[test]
fn clusters_are_written_for_flux_graphviz_and_scotch() {
    let bytes = regular();
    let cluster = Cluster::open(&bytes).unwrap();
    let graph = jgf(&cluster, FluxLevels::default()).unwrap();
    let vertices = graph["graph"]["nodes"].as_array().unwrap();
    let edges = graph["graph"]["edges"].as_array().unwrap();
    // The cluster, 2 pods, 6 leaves, 12 nodes of 6 cores.
    assert_eq!((vertices.len(), edges.len()), (1 + 2 + 6 + 12 + 72, 8 + 12 + 72));
    let path = |at: usize| vertices[at]["metadata"]["paths"]["containment"].as_str().unwrap();
    assert_eq!((path(0), path(3)), ("/cluster0", "/cluster0/pod0/leaf0/node000000"));
    let resources = r(&cluster).unwrap();
    let execution = &resources["execution"];
    assert_eq!(execution["R_lite"][0]["rank"], "0-11");
    assert_eq!(execution["R_lite"][0]["children"]["core"], "0-5");
    assert_eq!(execution["nodelist"][0], "node[000000-000011]");
    assert_eq!(tleaf(&cluster).unwrap(), "tleaf\n5 2 16 3 8 2 4 2 2 3 1\n");
    let drawn = dot(cluster.fabric().unwrap());
    // 12 nodes at leaves, 6 leaves at 2 spines each, 4 spines at a core switch each.
    assert_eq!(drawn.matches(" -- ").count(), 12 + 12 + 4, "{drawn}");
    // Ranks are numbers of nodes, whatever order their names would have in a list.
    let mut builder = ClusterBuilder::new().keep_order();
    for name in ["n2", "n1", "n01", "n10", "n11"] {
        builder.add_node(GroupId::CLUSTER, Some(name), &synthetic("Core:2 PU:1")).unwrap();
    }
    let named = builder.finish().unwrap();
    let resources = r(&Cluster::open(&named).unwrap()).unwrap();
    assert_eq!(resources["execution"]["nodelist"][0], "n2,n1,n01,n[10-11]");
    // Packages of different sizes are no tree of equal parts, although nodes are.
    let mut uneven = ClusterBuilder::new();
    let topology = topology_of(&synthetic("Package:2 Core:2 PU:1"));
    let pus = Set::from_iter([0, 1, 2]);
    let view = View::new(topology, &pus, RestrictFlags::NONE).unwrap();
    uneven.add_node(GroupId::CLUSTER, Some("a"), &describe(view.topology())).unwrap();
    let uneven = uneven.finish().unwrap();
    let error = tleaf(&Cluster::open(&uneven).unwrap()).unwrap_err().to_string();
    assert!(error.starts_with("cores of packages differ: found 2 and 1"), "{error}");
    let irregular = {
        let mut builder = ClusterBuilder::new();
        builder.add_node(GroupId::CLUSTER, Some("a"), &synthetic("Core:2 PU:1")).unwrap();
        builder.add_node(GroupId::CLUSTER, Some("b"), &synthetic("Core:4 PU:1")).unwrap();
        builder.finish().unwrap()
    };
    let error = tleaf(&Cluster::open(&irregular).unwrap()).unwrap_err().to_string();
    assert_eq!(error, "cores of packages differ: found 2 and 4; a tree of Scotch has equal parts");
}

/// Two groups with two nodes each, below another one.
fn cluster_of(kind: GroupKind) -> Vec<u8> {
    let mut builder = ClusterBuilder::new();
    let parent = match kind {
        GroupKind::Switch => builder.add_group(GroupId::CLUSTER, kind, "top").unwrap(),
        _ => GroupId::CLUSTER,
    };
    for (group, names) in [("one", ["n1", "n2"]), ("two", ["n3", "n4"])] {
        let group = builder.add_group(parent, kind, group).unwrap();
        for name in names {
            builder.add_node(group, Some(name), &synthetic("Core:2 PU:1")).unwrap();
        }
    }
    builder.finish().unwrap().to_vec()
}

/// Slurm 26.05 puts its nodes where these lines say, whatever `topology.yaml` says.
#[test]
fn nodes_that_are_alike_have_a_line_for_each_leaf_switch_or_block() {
    for kind in [GroupKind::Switch, GroupKind::Block] {
        let bytes = cluster_of(kind);
        let cluster = Cluster::open(&bytes).unwrap();
        let units = topology_units(cluster.groups().unwrap()).unwrap();
        let text = node_names(&cluster, &units).unwrap().text;
        let lines: Vec<[&str; 2]> = text
            .lines()
            .map(|line| [line.split(' ').next().unwrap(), line.rsplit(' ').next().unwrap()])
            .collect();
        let expected = [
            ["NodeName=n[1-2]", "Topology=topobroker:one"],
            ["NodeName=n[3-4]", "Topology=topobroker:two"],
        ];
        assert_eq!(lines, expected, "{kind:?}");
        let text = node_names(&cluster, &Default::default()).unwrap().text;
        assert!(text.starts_with("NodeName=n[1-4] ") && !text.contains("Topology="), "{text}");
    }
}

#[test]
fn rings_are_named_by_no_node() {
    let bytes = cluster_of(GroupKind::Ring);
    let error = topology_units(Cluster::open(&bytes).unwrap().groups().unwrap()).unwrap_err();
    assert!(error.to_string().starts_with("nodes are in ring \"one\""), "{error}");
}
