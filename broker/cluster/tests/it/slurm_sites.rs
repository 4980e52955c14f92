//! Slurm's files as sites have them: blocks and rings in their order, several topologies in one
//! file, rails, nodes and GPUs.

use topobroker_cluster::fabric::{End, FabricGraph};
use topobroker_cluster::formats::{topology_conf, topology_yaml};
use topobroker_cluster::{ClusterBuilder, GroupId, SlurmTopology};
use topobroker_reader::cluster::{Cluster, GroupKind};
use topobroker_samples::{shared, synthetic};

/// The groups of a cluster of the nodes s01 to s08, built with a topology, as `topology.conf` and
/// as `topology.yaml`.
fn written(topology: &SlurmTopology, keep_order: bool) -> [String; 2] {
    let mut builder = ClusterBuilder::new();
    if keep_order {
        builder = builder.keep_order();
    }
    for number in [3, 1, 2, 4, 5, 6, 7, 8] {
        let name = format!("s{number:02}");
        builder.add_node(GroupId::CLUSTER, Some(&name), &synthetic("PU:1")).unwrap();
    }
    builder.apply(topology).unwrap();
    let bytes = builder.finish().unwrap();
    let cluster = Cluster::open(&bytes).unwrap();
    let groups = cluster.groups().unwrap();
    [
        topology_conf(groups).unwrap_or_else(|error| error.to_string()),
        topology_yaml(groups).unwrap(),
    ]
}

#[test]
fn blocks_rings_and_toruses_keep_their_order_and_sizes() {
    let blocks = "BlockName=b9 Nodes=s[01-02]\nBlockName=b2\nBlockName=b5 Nodes=s[03-04]\n\
                  BlockName=b1 Nodes=s[05-06]\nBlockSizes=2,4\n";
    let rings = "RingName=r1 Nodes=s04,s02,s01,s03\nRingName=r0 Nodes=s08,s[05-07]\n";
    for text in [blocks, rings] {
        for keep_order in [false, true] {
            let conf = SlurmTopology::from_conf("f", text).unwrap();
            let [first, yaml] = written(&conf, keep_order);
            // Rings are sorted by name, which means nothing; nodes of a ring are not.
            let mut lines: Vec<&str> = first.lines().collect();
            let mut expected: Vec<&str> = text.lines().collect();
            if text == rings {
                lines.sort_unstable();
                expected.sort_unstable();
            }
            assert_eq!(lines, expected);
            let again = SlurmTopology::from_yaml("f", &yaml, None).unwrap();
            assert_eq!(written(&again, keep_order)[0], first);
        }
    }
    // Slurm reads toruses from YAML alone.
    let torus = "TorusName=t Dims=2x2x2 Nodes=s08,s[01-07]\n";
    let [refused, yaml] = written(&SlurmTopology::from_conf("f", torus).unwrap(), true);
    assert!(refused.contains("write that with --to slurm-yaml"), "{refused}");
    assert!(yaml.contains("dims: {x: 2, y: 2, z: 2}\n        nodes: \"s08,s[01-07]\""), "{yaml}");
    assert_eq!(written(&SlurmTopology::from_yaml("f", &yaml, None).unwrap(), true)[1], yaml);
    let topology = SlurmTopology::from_conf("f", blocks).unwrap();
    assert_eq!((topology.block_sizes(), topology.tops().len()), (&[2, 4][..], 0));
}

/// What slurmctld 26.05 says of the same files.
#[test]
fn sizes_of_blocks_and_ranges_are_read_and_refused_as_slurm_does() {
    let of = |sizes: &str| {
        let text = format!(
            "BlockName=b1 Nodes=s[01-04]\nBlockName=b2 Nodes=s[05-08]\nBlockSizes={sizes}\n"
        );
        let yaml = format!(
            "- topology: t\n  block:\n    block_sizes: [{sizes}]\n    blocks:\n    - block: b1\n      nodes: s[01-04]\n"
        );
        let yaml = SlurmTopology::from_yaml("f", &yaml, None);
        let conf = SlurmTopology::from_conf("f", &text);
        assert_eq!(yaml.is_ok(), conf.is_ok(), "{sizes}");
        conf.map(|it| it.block_sizes().to_vec()).map_err(|error| error.to_string())
    };
    assert_eq!(of("2,2"), Ok(vec![2]));
    assert_eq!(of("3,6"), Ok(vec![3, 6]));
    assert_eq!(of("4,16"), Ok(vec![4, 16]));
    assert_eq!(of("8"), Ok(vec![8]));
    for sizes in ["-1", "0", "4,12", "8,4", "x"] {
        let error = of(sizes).unwrap_err();
        assert!(error.contains("line 3") && error.contains("BlockSizes=4,8"), "{sizes}: {error}");
    }
    let shown = "BlockName=b1 BlockIndex=0 Nodes=s[01-02] BlockSize=2\n\
                 BlockName=b2 BlockIndex=1 BlockSize=2\n\
                 AggregatedBlock=b[1-2] BlockIndex=2 Nodes=s[01-02] BlockSize=4\n";
    let shown = SlurmTopology::from_conf("f", shown).unwrap();
    assert_eq!((shown.groups().len(), shown.block_sizes()), (2, &[2, 4][..]));
    for text in [
        "BlockName=b1 Nodes=s[04-01]\n",
        "RingName=r Nodes=s[04-01]\n",
        "RingName=r Nodes=s[01-17]\n",
        "BlockName=b1\nBlockName=b2\n",
        "BlockName=b1 Nodes=s01 BlockSizes=1\n",
        "BlockName=b1 Nodes=s01\nBlockSizes=4\nBlockSizes=6\n",
        "TorusName=t Dims=2x3 Nodes=s[01-06]\n",
        "TorusName=t Nodes=s[01-08]\n",
        "SwitchName=t Dims=1x1x2 Nodes=s[01-02]\n",
    ] {
        assert!(SlurmTopology::from_conf("f", text).is_err(), "{text}");
    }
}

#[test]
fn groups_of_several_kinds_have_an_order_and_anchors_of_yaml_are_refused() {
    let mut random = fastrand::Rng::with_seed(4);
    let mut lines: Vec<String> = (0..60)
        .flat_map(|number| [format!("BlockName=b{number}\n"), format!("SwitchName=s{number}\n")])
        .collect();
    lines.push("BlockName=last Nodes=s01\n".to_owned());
    random.shuffle(&mut lines);
    let topology = SlurmTopology::from_conf("f", &lines.concat()).unwrap();
    let mut builder = ClusterBuilder::new();
    builder.add_node(GroupId::CLUSTER, Some("s01"), &synthetic("PU:1")).unwrap();
    builder.apply(&topology).unwrap();
    let bytes = builder.finish().unwrap();
    let cluster = Cluster::open(&bytes).unwrap();
    let kinds: Vec<GroupKind> =
        cluster.groups().unwrap().root().children().map(|it| it.kind()).collect();
    assert_eq!(kinds.len(), 121);
    assert!(kinds[..60].iter().all(|kind| *kind == GroupKind::Switch));
    let bomb = format!(
        "- topology: t\n  x: &a [{}]\n  y: [{}]\n  flat: true\n",
        "1,".repeat(20_000),
        "*a,".repeat(6_000)
    );
    let error = SlurmTopology::from_yaml("f", &bomb, None).unwrap_err().to_string();
    assert!(error.contains("line 2: has an anchor or an alias"), "{error}");
}

#[test]
fn a_topology_of_several_in_one_file_is_chosen_by_its_name() {
    let Some(shared) = shared() else { return };
    let text = std::fs::read_to_string(shared.join("cases/slurm/several.yaml")).unwrap();
    let kind = |wanted| {
        let topology = SlurmTopology::from_yaml("f", &text, wanted).unwrap();
        (topology.groups().next().map(|group| group.kind), topology.notes().len())
    };
    assert_eq!(kind(None), (Some(GroupKind::Switch), 1));
    assert_eq!(kind(Some("nvl")), (Some(GroupKind::Block), 0));
    assert_eq!(kind(Some("any")), (None, 0));
    let error = SlurmTopology::from_yaml("f", &text, Some("x")).unwrap_err().to_string();
    assert_eq!(error, "f: has no topology \"x\"; it has nvl, ib, any");
}

/// Adds a link between two switches, at the next free ports.
struct Cables {
    fabric: FabricGraph,
    used: std::collections::BTreeMap<u64, u16>,
}

impl Cables {
    fn new() -> Self {
        Self { fabric: FabricGraph::default(), used: std::collections::BTreeMap::new() }
    }

    fn end(&mut self, guid: u64) -> End {
        let used = self.used.entry(guid).or_default();
        *used += 1;
        End { guid, port: *used }
    }

    fn host(&mut self, node: u64, rail: u64, leaf: u64) {
        let host = End { guid: 0x1000_0000 + node * 16 + rail, port: 1 };
        let switch = self.end(leaf);
        self.fabric
            .link_host(host, switch, &format!("n{node} mlx5_{rail}"), Some(400_000))
            .unwrap();
    }

    fn switches(&mut self, one: u64, other: u64) {
        let ends = (self.end(one), self.end(other));
        self.fabric.link_switches(ends.0, ends.1, Some(400_000)).unwrap();
    }

    /// The groups that Slurm gets for `nodes` nodes.
    fn conf(self, nodes: u64) -> Vec<String> {
        let mut builder = ClusterBuilder::new();
        for node in 0..nodes {
            builder
                .add_node(GroupId::CLUSTER, Some(&format!("n{node}")), &synthetic("PU:1"))
                .unwrap();
        }
        builder.set_fabric(self.fabric);
        builder.group_by_fabric().unwrap();
        let bytes = builder.finish().unwrap();
        let text = topology_conf(Cluster::open(&bytes).unwrap().groups().unwrap()).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

/// Two units of 32 nodes with eight rails each, as of DGX SuperPODs: a leaf for each rail of a
/// unit, and spines over all leaves.
#[test]
fn nodes_of_a_unit_with_rails_are_one_group_below_the_spines() {
    let mut cables = Cables::new();
    let leaf = |unit: u64, rail: u64| 0x100 + unit * 8 + rail;
    for node in 0..64 {
        for rail in 0..8 {
            // One cable is not plugged in.
            if (node, rail) != (40, 0) {
                cables.host(node, rail, leaf(node / 32, rail));
            }
        }
    }
    for unit in 0..2 {
        for rail in 0..8 {
            (0..4).for_each(|spine| cables.switches(leaf(unit, rail), 0x200 + spine));
        }
    }
    let expected = [
        "SwitchName=-0000000000000200 Switches=-0000000000000100,-0000000000000109",
        "SwitchName=-0000000000000100 Nodes=n[0-31]",
        "SwitchName=-0000000000000109 Nodes=n[32-63]",
    ];
    assert_eq!(cables.conf(64), expected);
}

/// A fat tree of three levels: two pods of two leaves each.
#[test]
fn switches_of_each_level_of_a_fat_tree_are_a_group() {
    let mut cables = Cables::new();
    for node in 0..16 {
        cables.host(node, 0, 0x100 + node / 4);
    }
    for leaf in 0..4_u64 {
        (0..2).for_each(|spine| cables.switches(0x100 + leaf, 0x200 + leaf / 2 * 2 + spine));
    }
    for spine in 0..4_u64 {
        (0..2).for_each(|core| cables.switches(0x200 + spine, 0x300 + core));
    }
    let name = |guid: u64| format!("-{guid:016x}");
    let expected = [
        format!("SwitchName={} Switches={},{}", name(0x300), name(0x200), name(0x202)),
        format!("SwitchName={} Switches={},{}", name(0x200), name(0x100), name(0x101)),
        format!("SwitchName={} Nodes=n[0-3]", name(0x100)),
        format!("SwitchName={} Nodes=n[4-7]", name(0x101)),
        format!("SwitchName={} Switches={},{}", name(0x202), name(0x102), name(0x103)),
        format!("SwitchName={} Nodes=n[8-11]", name(0x102)),
        format!("SwitchName={} Nodes=n[12-15]", name(0x103)),
    ];
    assert_eq!(cables.conf(16), expected);
}

/// Each switch has an aggregation node, and one spine a host that is in no cluster.
#[test]
fn what_switches_have_to_reduce_data_makes_no_spine_a_leaf() {
    let mut cables = Cables::new();
    for node in 0..8 {
        cables.host(node, 0, 0x100 + node / 2);
    }
    for leaf in 0..4_u64 {
        (0..2).for_each(|spine| cables.switches(0x100 + leaf, 0x200 + spine));
    }
    for (number, switch) in [0x100, 0x101, 0x102, 0x103, 0x200, 0x201].into_iter().zip(0..) {
        let (port, name) =
            (End { guid: 0x9000 + number, port: 1 }, "Mellanox Technologies Aggregation Node");
        let end = cables.end(switch);
        cables.fabric.link_host(port, end, name, None).unwrap();
    }
    let (port, end) = (End { guid: 0x9900, port: 1 }, cables.end(0x200));
    cables.fabric.link_host(port, end, "ufm HCA-1", None).unwrap();
    let lines = cables.conf(8);
    assert_eq!(lines.len(), 5, "{lines:?}");
    assert!(lines[0].starts_with("SwitchName=-0000000000000200 Switches="), "{lines:?}");
}

#[test]
fn a_long_chain_of_switches_is_grouped_in_proportion_to_its_length() {
    let mut cables = Cables::new();
    for node in 0..4 {
        cables.host(node, 0, 0x10_0000);
    }
    (0..20_000).for_each(|at| cables.switches(0x10_0000 + at, 0x10_0001 + at));
    assert_eq!(cables.conf(4).len(), 2);
}

/// A dragonfly: two groups of switches, in which all are connected, with a link between the groups.
#[test]
fn leaves_that_are_connected_with_each_other_are_below_one_group() {
    let mut cables = Cables::new();
    for node in 0..12 {
        cables.host(node, 0, 0x100 + node / 2);
    }
    for group in [0x100, 0x103] {
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            cables.switches(group + one, group + other);
        }
    }
    cables.switches(0x102, 0x103);
    let lines = cables.conf(12);
    assert_eq!(lines.len(), 7);
    assert!(lines[0].starts_with("SwitchName=fabric--0000000000000100 Switches="), "{lines:?}");
}
