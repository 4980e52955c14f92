//! Slurm's topologies and hostlists: read, written, and as Slurm itself has them.

use std::process::Command;
use topobroker_cluster::formats::{topology_conf, topology_yaml};
use topobroker_cluster::{Applied, ClusterBuilder, GroupId, SlurmTopology, expand, fold};
use topobroker_reader::cluster::{Cluster, GroupKind};
use topobroker_sample_clusters::grouped_by_fabric;
use topobroker_sample_clusters::regular;
use topobroker_samples::{shared, skip, synthetic};

const TREE: &str = "\
# comment
SwitchName=leaf1 Nodes=n[1-2],x[01-06] LinkSpeed=100
switchname=leaf2 nodes=n[3-4]   # lower case
SwitchName=spine1 Switches=leaf[1-2]
";

#[test]
fn topologies_of_slurm_become_groups() {
    let mut builder = ClusterBuilder::new();
    for name in ["n1", "n2", "n3", "n5"] {
        builder.add_node(GroupId::CLUSTER, Some(name), &synthetic("PU:1")).unwrap();
    }
    let applied = builder.apply(&SlurmTopology::from_conf("f", TREE).unwrap()).unwrap();
    assert_eq!(applied.nodes_without, ["n5"]);
    assert_eq!(fold(applied.unknown.iter().map(String::as_str)), "n4,x[01-06]");
    let bytes = builder.finish().unwrap();
    let cluster = Cluster::open(&bytes).unwrap();
    let groups = cluster.groups().unwrap();
    let names: Vec<(&str, usize, u32)> =
        groups.iter().map(|it| (it.name(), it.depth(), it.node_count())).collect();
    assert_eq!(names, [("", 0, 4), ("spine1", 1, 3), ("leaf1", 2, 2), ("leaf2", 2, 1)]);
    assert_eq!(groups.by_name("leaf1").unwrap().speed(), Some(100));
    let shown = "SwitchName=spine1 Level=1 LinkSpeed=1 Nodes=n[1-3] Switches=leaf[1-2]\n\
                 SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-2]\n\
                 SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n3\n";
    let yaml = "- topology: other\n  cluster_default: false\n  flat: true\n\
                - topology: t\n  cluster_default: true\n  tree:\n    switches:\n    \
                - switch: spine1\n      children: leaf[1-2]\n    - switch: leaf1\n      \
                nodes: n[1-2]\n    - switch: leaf2\n      nodes: n3\n";
    let all = [
        SlurmTopology::from_conf("shown", shown).unwrap(),
        SlurmTopology::from_yaml("yaml", yaml, None).unwrap(),
    ];
    for topology in all {
        let names: Vec<&str> = topology.groups().map(|group| group.name.as_str()).collect();
        assert_eq!(names, ["spine1", "leaf1", "leaf2"]);
    }
    let blocks = "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n3\nBlockSizes=2,4\n";
    let blocks = SlurmTopology::from_conf("blocks", blocks).unwrap();
    assert!(blocks.groups().all(|group| group.kind == GroupKind::Block));
    assert_eq!(blocks.groups().len(), 2);
    let blocks = "- topology: b\n  block:\n    block_sizes: [2]\n    blocks:\n    - block: b1\n      nodes: n[1-2]\n";
    assert_eq!(SlurmTopology::from_yaml("yaml", blocks, None).unwrap().groups().len(), 1);
}

#[test]
fn topologies_that_slurm_refuses_are_refused_with_the_line() {
    let cases = [
        (
            "SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n",
            "line 2: \"a\" is defined already in line 1",
        ),
        ("SwitchName=a Nodes=n1 Switches=b\nSwitchName=b Nodes=n2\n", "line 1: \"a\" has both"),
        ("SwitchName=a Switches=b\n", "line 1: \"a\" has the switch \"b\", which is not defined"),
        ("SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "line 1: \"a\" is below itself"),
        (
            "SwitchName=r Switches=a,b\nSwitchName=a Switches=b\nSwitchName=b Switches=a\n",
            "line 2: \"a\" is below itself",
        ),
        ("SwitchName=a Nodes=n1 Nodes=n2\n", "found \"Nodes=n2\", expected each key once"),
        ("SwitchName=a BlockName=b Nodes=n1\n", "expected each key once, and one name"),
        ("include other.conf\n", "the lines of the other file in place of include"),
        ("SwitchName=a \\\n  Nodes=n[1\n", "line 1"),
        ("Nodes=n1\n", "line 1: found \"Nodes=n1\", expected SwitchName"),
        ("SwitchName=a Nodes=n[1-\n", "line 1"),
        ("SwitchName= Nodes=n1\n", "expected a name of 1 to 64 bytes"),
        ("SwitchName=a Colour=red\n", "found \"Colour=red\""),
    ];
    for (text, expected) in cases {
        let error = SlurmTopology::from_conf("f", text).unwrap_err();
        let error = topobroker_process::with_causes(&error);
        assert!(error.starts_with('f') && error.contains(expected), "{error}: {expected}");
    }
    for (text, expected) in [
        ("{", "f: "),
        ("[]", "the list of topologies is empty"),
        ("- topology: a\n  cube: 1\n", "expected tree, block, ring, torus3d or flat"),
        (
            "- tree:\n    switches:\n    - nodes: n1\n",
            "line 1: found \"{\\\"nodes\\\":\\\"n1\\\"}\", expected a switch, block or ring",
        ),
        (
            "- tree:\n    switches:\n    - switch: a\n      nodes: n1\n    # again\n    - switch: a\n      \
             nodes: n2\n",
            "f, line 6: \"a\" is defined already in line 3",
        ),
        ("- tree:\n    switches:\n    - switch: a\n      nodes: {}\n", "line 3: found"),
    ] {
        let error = SlurmTopology::from_yaml("f", text, None).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}: {expected}");
    }
}

#[test]
fn what_is_below_several_switches_stays_below_the_first_and_a_switch_may_be_empty() {
    let Some(shared) = topobroker_samples::shared() else { return };
    let read =
        |name: &str| topobroker_cluster::read_conf(&shared.join("cases/slurm").join(name)).unwrap();
    let spines = read("two-spines.conf");
    assert_eq!(spines.tops(), ["spine1"]);
    let note =
        "leaf[1-2] are below spine1 and below spine2 of Slurm's topology; taken as below spine1";
    assert_eq!(spines.notes(), [note]);
    let leaves = read("node-on-two-leaves.conf");
    assert_eq!(leaves.tops(), ["top"]);
    let note = "s[03-04] are below leaf1 and below leaf2 of Slurm's topology; taken as below leaf1";
    assert_eq!(leaves.notes(), [note]);
    let nodes: Vec<usize> = leaves.groups().map(|group| group.nodes.len()).collect();
    assert_eq!(nodes, [0, 4, 4]);
    let empty = read("empty-leaf.conf");
    assert!(empty.notes().is_empty() && empty.groups().len() == 4);
}

#[test]
fn lines_are_continued_and_names_that_look_like_numbers_are_names() {
    let conf = "SwitchName=a \\\n  Nodes=n1 # one\nSwitchName=b Nodes=n2\n";
    let topology = SlurmTopology::from_conf("f", conf).unwrap();
    assert_eq!(topology.tops(), ["a", "b"]);
    let yaml = "- tree:\n    switches:\n    - switch: 1\n      nodes: [n1, \"n[2-3]\"]\n    - switch: true\n      \
                children: 1\n";
    let topology = SlurmTopology::from_yaml("f", yaml, None).unwrap();
    let names: Vec<&str> = topology.groups().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["true", "1"]);
    let nodes = topology.groups().nth(1).unwrap().nodes.clone();
    assert_eq!(
        (nodes, topology.tops()),
        (["n1", "n2", "n3"].map(str::to_owned).into(), vec!["true"])
    );
    let ring = "RingName=r1 Nodes=n[1-3]\nRingName=r2 Nodes=n[4-5]\n";
    assert_eq!(SlurmTopology::from_conf("f", ring).unwrap().groups().len(), 2);
}

#[test]
fn groups_that_slurm_cannot_have_are_not_written() {
    let of = |names: [&str; 2], nodes: [&str; 2]| {
        let mut builder = ClusterBuilder::new();
        for (name, node) in names.into_iter().zip(nodes) {
            let group = builder.add_group(GroupId::CLUSTER, GroupKind::Switch, name).unwrap();
            builder.add_node(group, Some(node), &synthetic("Core:2 PU:1")).unwrap();
        }
        let bytes = builder.finish().unwrap();
        let cluster = Cluster::open(&bytes).unwrap();
        let groups = cluster.groups().unwrap();
        let both = [topology_conf(groups), topology_yaml(groups)];
        both.map(|text| text.map_err(|error| error.to_string()))
    };
    for text in of(["s", "s"], ["n1", "n2"]) {
        assert!(text.unwrap_err().contains("there are two groups \"s\""));
    }
    for text in of(["s", "t"], ["n1", "a b"]) {
        assert!(text.unwrap_err().starts_with("node \"a b\": a name for Slurm is one word"));
    }
    let [_, yaml] = of(["1", "true"], ["n1", "n2"]);
    let again = SlurmTopology::from_yaml("f", &yaml.unwrap(), None).unwrap();
    assert!(again.groups().map(|group| group.name.as_str()).eq(["1", "true"]));
}

#[test]
fn hostlists_that_explode_are_refused() {
    for text in ["n[1-262145]", "n[1-600]m[1-600]", "a[1-99999]b[1-99999]c[1-99999]"] {
        assert!(expand(text).unwrap_err().to_string().contains("more than 262144"), "{text}");
    }
    assert_eq!(expand("n[1-262144]").unwrap().len(), 262_144);
    for text in ["n[2-1]", "n[a]", "n[1", "n]1", "n[[1]]", "a,,b", "n[]", "n[1-2-3]"] {
        assert!(expand(text).is_err(), "{text}");
    }
    // Many lists that each are short enough.
    let lines = (0..20).map(|at| format!("SwitchName=s{at} Nodes=q{at}x[1-262144]\n"));
    let error = SlurmTopology::from_conf("f", &lines.collect::<String>()).unwrap_err();
    assert_eq!(error.to_string(), "f, line 9: the file has more than 2097152 names up to here");
    assert_eq!(expand("r[0-1]n[01-02],x").unwrap(), ["r0n01", "r0n02", "r1n01", "r1n02", "x"]);
}

#[test]
fn hostlists_are_those_of_slurm() {
    let folder = tempfile::tempdir().unwrap();
    let conf = folder.path().join("slurm.conf");
    let text = "ClusterName=x\nSlurmctldHost=localhost\nNodeName=n1\n";
    std::fs::write(&conf, text).unwrap();
    let scontrol = |what: &str, list: &str| -> Option<String> {
        let mut command = Command::new("scontrol");
        let output = command.args(["show", what, list]).env("SLURM_CONF", &conf).output().ok()?;
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    };
    if scontrol("hostnames", "n1").is_none() {
        skip(format_args!("there is no scontrol that works; scripts/test installs it"));
        return;
    }
    // Slurm 22.05 prints nothing for a text behind the last bracket, as in x[1-2]z.
    for list in ["n[1-4,7]", "r[0-1]n[01-16]", "a,b[08-11],c", "n[001,1]"] {
        let theirs = scontrol("hostnames", list).unwrap();
        assert_eq!(expand(list).unwrap(), theirs.lines().collect::<Vec<_>>(), "{list}");
    }
    for names in ["n1,n2,n4,n010,n011,n09,n100", "login,n1,r1n2,r1n3", "n08,n09,n10,n11"] {
        let theirs = expand(scontrol("hostlist", names).unwrap().trim()).unwrap();
        let ours = expand(&fold(names.split(','))).unwrap();
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        assert_eq!(sorted(ours), sorted(theirs), "{names}");
    }
}

#[test]
fn groups_are_written_for_slurm_and_read_back() {
    let bytes = regular();
    let cluster = Cluster::open(&bytes).unwrap();
    let groups = cluster.groups().unwrap();
    let conf = topology_conf(groups).unwrap();
    assert!(conf.starts_with("SwitchName=pod0 Switches=leaf[0-2]\n"), "{conf}");
    let all = [
        SlurmTopology::from_conf("conf", &conf).unwrap(),
        SlurmTopology::from_yaml("yaml", &topology_yaml(groups).unwrap(), None).unwrap(),
    ];
    for topology in all {
        let mut builder = ClusterBuilder::new();
        for node in cluster.nodes() {
            builder.add_node(GroupId::CLUSTER, Some(node.name()), &synthetic("PU:1")).unwrap();
        }
        assert_eq!(builder.apply(&topology).unwrap(), Applied::default());
        let bytes = builder.finish().unwrap();
        let again = Cluster::open(&bytes).unwrap();
        let named = |cluster: &Cluster<'_>| -> Vec<(String, usize, u32)> {
            let groups = cluster.groups().unwrap();
            groups.iter().map(|it| (it.name().to_owned(), it.depth(), it.node_count())).collect()
        };
        assert_eq!(named(&cluster), named(&again));
    }
    let plain = {
        let mut builder = ClusterBuilder::new();
        builder.add_node(GroupId::CLUSTER, Some("a"), &synthetic("PU:1")).unwrap();
        builder.finish().unwrap()
    };
    let plain = Cluster::open(&plain).unwrap();
    let error = topology_conf(plain.groups().unwrap()).unwrap_err();
    assert!(error.to_string().contains("the cluster has no groups"), "{error}");
}

#[test]
fn a_tree_of_ten_thousand_nodes_is_read() {
    let mut conf = String::new();
    for leaf in 0..500 {
        conf += &format!("SwitchName=s{leaf} Nodes=n[{}-{}]\n", leaf * 20, leaf * 20 + 19);
    }
    for spine in 0..25 {
        conf += &format!("SwitchName=t{spine} Switches=s[{}-{}]\n", spine * 20, spine * 20 + 19);
    }
    conf += "SwitchName=top Switches=t[0-24]\n";
    let topology = SlurmTopology::from_conf("f", &conf).unwrap();
    assert_eq!(topology.groups().len(), 526);
    assert_eq!(topology.groups().map(|group| group.nodes.len()).sum::<usize>(), 10_000);
}

/// What `scontrol show topology` prints of a `topology.conf`; `None` if Slurm's daemons cannot be
/// started here. The rig's nodes are n1 to n4; `others` are further nodes. Tests that run at the
/// same time have another digit in the numbers of their ports.
fn as_slurm_shows_it(conf: &str, others: &str, digit: u8) -> Option<String> {
    let hosts = Command::new("slurmctld").arg("-V").output();
    if !hosts.is_ok_and(|output| output.status.success()) {
        skip(format_args!("there is no slurmctld; scripts/test installs it"));
        return None;
    }
    let shared = shared()?;
    let root = Command::new("id").arg("-u").output().unwrap();
    if root.stdout != b"0\n" {
        skip(format_args!("starting the daemons of Slurm needs root"));
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    // The rig with our file in place of its own, and other ports.
    let rig = std::fs::read_to_string(shared.join("programs/slurm4-up.sh")).unwrap();
    let start = rig.find("cat > $D/topology.conf").unwrap();
    let end = start + rig[start..].find("\nC\n").unwrap() + 3;
    let rig = format!("{}cat > $D/topology.conf <<C\n{conf}C\n{}", &rig[..start], &rig[end..]);
    let rig = rig
        .replace("NodeName=x[01-28] ", &format!("NodeName={others} "))
        .replace("16817", &format!("1691{digit}"))
        .replace("1700", &format!("17{digit}0"))
        .replace("62000-62500", &format!("6{digit}000-6{digit}400"));
    let script = folder.path().join("up.sh");
    std::fs::write(&script, rig).unwrap();
    let state = folder.path().join("state");
    std::fs::create_dir(&state).unwrap();
    let up = Command::new("bash").arg(&script).arg(&state).output().unwrap();
    let shown = Command::new("scontrol")
        .args(["show", "topology"])
        .env("SLURM_CONF", state.join("slurm.conf"))
        .output()
        .unwrap();
    let down = shared.join("programs/slurm4-down.sh");
    Command::new("bash").arg(down).arg(&state).status().unwrap();
    assert!(shown.status.success(), "{up:?} {shown:?}");
    Some(String::from_utf8(shown.stdout).unwrap())
}

#[test]
fn slurm_reads_the_topology_that_is_written() {
    // The same names as the rig's below other switches.
    let mut builder = ClusterBuilder::new();
    let upper = builder.add_group(GroupId::CLUSTER, GroupKind::Switch, "upper").unwrap();
    for (leaf, names) in [("one", ["n1", "n4"]), ("two", ["n2", "n3"])] {
        let leaf = builder.add_group(upper, GroupKind::Switch, leaf).unwrap();
        for name in names {
            builder.add_node(leaf, Some(name), &synthetic("PU:1")).unwrap();
        }
    }
    let bytes = builder.finish().unwrap();
    let conf = topology_conf(Cluster::open(&bytes).unwrap().groups().unwrap()).unwrap();
    let Some(shown) = as_slurm_shows_it(&conf, "x[01-28]", 3) else { return };
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    let has = |words: &[&str]| lines.iter().any(|line| words.iter().all(|it| line.contains(it)));
    assert!(has(&["SwitchName=one", "Level=0", "Nodes=n[1,4]"]), "{shown}");
    assert!(has(&["SwitchName=two", "Level=0", "Nodes=n[2-3]"]), "{shown}");
    assert!(has(&["SwitchName=upper", "Level=1", "Switches=one,two"]), "{shown}");
}

#[test]
fn slurm_reads_the_switches_that_real_nodes_are_at_and_shows_the_same() {
    for cluster in ["avakas", "plafrim/hwloc"] {
        let Some(bytes) = grouped_by_fabric(cluster) else { return };
        let cluster = Cluster::open(&bytes).unwrap();
        let conf =
            topology_conf(cluster.groups().unwrap()).unwrap() + "SwitchName=lab Nodes=n[1-4]\n";
        let names: Vec<&str> = cluster.nodes().map(|node| node.name()).collect();
        let in_groups: Vec<&str> = cluster
            .nodes()
            .filter(|node| node.group().unwrap().parent().is_some())
            .map(|node| node.name())
            .collect();
        assert!(in_groups.len() + 5 > names.len(), "{} of {}", in_groups.len(), names.len());
        let Some(shown) = as_slurm_shows_it(&conf, &fold(in_groups), 4) else { return };
        let all = |text: &str| {
            let topology = SlurmTopology::from_conf("f", text).unwrap();
            let group = |it: &topobroker_cluster::SlurmGroup| {
                let mut nodes = it.nodes.clone();
                nodes.sort();
                (it.name.clone(), nodes)
            };
            topology.groups().map(group).collect::<std::collections::BTreeMap<_, _>>()
        };
        assert_eq!(all(&shown), all(&conf));
    }
}

#[test]
fn hostlists_are_folded_and_expanded_back() {
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..300 {
        let mut names: Vec<String> = (0..random.usize(1..40))
            .map(|_| match random.u8(..5) {
                0 => format!("n{}", random.u32(..30)),
                1 => format!("n{:03}", random.u32(..1200)),
                2 => format!("r{}n{:02}-ib", random.u32(..3), random.u32(..20)),
                3 => format!("{}", random.u32(..200)),
                _ => ["login", "a-b", "x.y"][random.usize(..3)].to_owned(),
            })
            .collect();
        let folded = fold(names.iter().map(String::as_str));
        let mut again = topobroker_cluster::expand(&folded).unwrap();
        names.sort();
        names.dedup();
        again.sort();
        assert_eq!(names, again, "{folded}");
    }
}

#[test]
fn files_that_are_made_to_take_long_are_read_or_refused() {
    let many = format!("SwitchName=s Nodes={}n1", "\\\n".repeat(440_000));
    assert_eq!(SlurmTopology::from_conf("f", &many).unwrap().groups().len(), 1);
    for open in ["[", "{a: ", "[[{a: "] {
        let text = format!("- topology: {}", open.repeat(40_000));
        let error = SlurmTopology::from_yaml("f", &text, None).unwrap_err().to_string();
        assert!(error.contains("line 1: more than 64 brackets are open"), "{error}");
    }
    let lists = format!("- topology: {}", "- ".repeat(40_000));
    assert!(SlurmTopology::from_yaml("f", &lists, None).is_err());
    let folded = "- topology: t\n  tree: {switches: [{switch: s, nodes: 'n[1-2]'}]}\n";
    assert_eq!(SlurmTopology::from_yaml("f", folded, None).unwrap().groups().len(), 1);
}
