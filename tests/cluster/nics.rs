//! NICs across the nodes of a cluster: on rails, and compared with those of the other nodes.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use topobroker_samples::made_nodes::{Kind, Nic, nic, node};
use topobroker_tests::segments::topobroker_file;

const FACTORY: u64 = 0xfe80 << 48;

/// Writes the XML of a node; its ports have the node's number in their GUIDs and LIDs.
fn write_node(folder: &Path, number: usize, nics: &[Nic]) {
    let mut xml = node(2, nics);
    for place in 1..=nics.len() {
        let lid = |it: String| format!("\"Port1LID\" value=\"{it}\"");
        xml = xml.replace(&format!("0000:{place:04x}\""), &format!("{number:04x}:{place:04x}\""));
        xml = xml.replace(&lid(format!("{place:#x}")), &lid(format!("{number:#x}{place}")));
    }
    std::fs::write(folder.join(format!("n{number}.xml")), xml).unwrap();
}

/// A fabric as `ibnetdiscover` prints it: two leaf switches below a spine. `leaves` has, for each
/// node, the leaf of its first and of its second NIC.
fn fabric(leaves: &[[usize; 2]]) -> String {
    let mut text = String::new();
    let guid = |node: usize, place: usize| format!("{:016x}", ((node + 1) << 16) + place + 1);
    for leaf in 0..2 {
        let ports = leaves.iter().enumerate().flat_map(|(node, own)| {
            own.iter()
                .enumerate()
                .filter(move |(_, it)| **it == leaf)
                .map(move |(at, _)| (node, at))
        });
        let ports: Vec<(usize, usize)> = ports.collect();
        write!(text, "switchguid=0xa{leaf}\nSwitch\t40 \"S-00000000000000a{leaf}\"\t\t# \"leaf{leaf}\" base port 0 lid {} lmc 0\n", leaf + 1).unwrap();
        for (port, (node, at)) in ports.iter().enumerate() {
            writeln!(
                text,
                "[{}]\t\"H-{}\"[1] \t\t# \"n{} mlx5_{at}\" lid 9 4xNDR",
                port + 1,
                guid(*node, *at),
                node + 1
            )
            .unwrap();
        }
        writeln!(text, "[40]\t\"S-00000000000000b1\"[{}]\t\t# \"spine\" lid 3 4xNDR\n", leaf + 1)
            .unwrap();
        for (port, (node, at)) in ports.iter().enumerate() {
            let own = guid(*node, *at);
            write!(text, "caguid=0x{own}\nCa\t1 \"H-{own}\"\t\t# \"n{} mlx5_{at}\"\n[1]({own}) \t\"S-00000000000000a{leaf}\"[{}]\t\t# lid 9 lmc 0 \"leaf{leaf}\" lid {} 4xNDR\n\n", node + 1, port + 1, leaf + 1).unwrap();
        }
    }
    text.push_str("switchguid=0xb1\nSwitch\t40 \"S-00000000000000b1\"\t\t# \"spine\" base port 0 lid 3 lmc 0\n");
    for leaf in 0..2 {
        writeln!(
            text,
            "[{}]\t\"S-00000000000000a{leaf}\"[40]\t\t# \"leaf{leaf}\" lid {} 4xNDR",
            leaf + 1,
            leaf + 1
        )
        .unwrap();
    }
    text
}

/// What a script prints, with its exit status.
fn run(folder: &Path, script: &str) -> (i32, String) {
    let mut command = Command::new("sh");
    command.args(["-c", script]).env("T", topobroker_file());
    let output = command.current_dir(folder).env("PWD", folder).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap() + &said)
}

/// Adds a job with a rank on each package of a node of the cluster, and prints the NICs of the
/// ranks.
fn nics_of_ranks(folder: &Path, node: &str) -> String {
    let script = format!(
        "export TOPOBROKER_CLUSTER=$PWD/c TOPOBROKER_HOST={node}; $T run -i {node}.xml --folder $PWD -- \
         sh -c '$T job add j --map-by package > keys; $T job nics j; rm keys'"
    );
    let (_, text) = run(folder, &script);
    text
}

#[test]
fn ranks_have_the_nics_of_the_same_rail_on_every_node_also_where_cables_are_swapped() {
    let folder = tempfile::tempdir().unwrap();
    let ib = Kind::InfiniBand(FACTORY);
    let two = [nic("mlx5_0", 0, 400, ib), nic("mlx5_1", 1, 400, ib)];
    (1..=4).for_each(|number| write_node(folder.path(), number, &two));
    let build = "$T cluster build c n1=n1.xml n2=n2.xml n3=n3.xml n4=n4.xml --fabric f.ib";
    let straight = "0 mlx5_0\n1 mlx5_1\n";

    // As they should be: nothing to say.
    std::fs::write(folder.path().join("f.ib"), fabric(&[[0, 1]; 4])).unwrap();
    assert_eq!(run(folder.path(), build).0, 0);
    assert_eq!(run(folder.path(), "$T cluster check c"), (0, String::new()));
    assert_eq!(nics_of_ranks(folder.path(), "n4"), straight);

    // The cables of the last node are swapped.
    std::fs::write(folder.path().join("f.ib"), fabric(&[[0, 1], [0, 1], [0, 1], [1, 0]])).unwrap();
    assert_eq!(run(folder.path(), &format!("rm c; {build}")).0, 0);
    assert_eq!(nics_of_ranks(folder.path(), "n1"), straight);
    assert_eq!(nics_of_ranks(folder.path(), "n4"), "0 mlx5_1\n1 mlx5_0\n");
    let expected = "rail: n4: mlx5_0, NIC 0 of the node, is on the rail of NICs 1 of other nodes; swap its cable\n\
                    rail: n4: mlx5_1, NIC 1 of the node, is on the rail of NICs 0 of other nodes; swap its cable\n";
    assert_eq!(run(folder.path(), "$T cluster check c"), (1, expected.to_owned()));

    // Both NICs of each node at one leaf: no rails.
    std::fs::write(folder.path().join("f.ib"), fabric(&[[0, 0], [0, 0], [1, 1], [1, 1]])).unwrap();
    assert_eq!(run(folder.path(), &format!("rm c; {build}")).0, 0);
    assert_eq!(nics_of_ranks(folder.path(), "n4"), straight);
    assert_eq!(run(folder.path(), "$T cluster check c"), (0, String::new()));
}

#[test]
fn a_nic_that_is_not_in_the_fabric_is_on_no_rail_and_changes_nothing_for_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let ib = Kind::InfiniBand(FACTORY);
    let storage = nic("mlx5_9", 1, 100, Kind::Roce);
    let three = [nic("mlx5_0", 0, 400, ib), nic("mlx5_1", 1, 400, ib), storage];
    (1..=3).for_each(|number| write_node(folder.path(), number, &three));
    std::fs::write(folder.path().join("f.ib"), fabric(&[[0, 1], [0, 1], [1, 0]])).unwrap();
    let build = "$T cluster build c n1=n1.xml n2=n2.xml n3=n3.xml --fabric f.ib";
    assert_eq!(run(folder.path(), build).0, 0);
    for (node, expected) in [("n1", "0 mlx5_0\n1 mlx5_1\n"), ("n3", "0 mlx5_1\n1 mlx5_0\n")] {
        let text = nics_of_ranks(folder.path(), node);
        assert!(text.starts_with(expected) && text.contains("not used: RoCE"), "{node}: {text}");
    }
    let (code, text) = run(folder.path(), "$T cluster check c");
    assert!(code == 1 && text.lines().all(|line| line.starts_with("rail: n3: mlx5_")), "{text}");
}

#[test]
fn a_node_whose_nics_are_not_as_on_others_of_its_class_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let ib = Kind::InfiniBand(FACTORY);
    let usual = [nic("mlx5_0", 0, 200, ib), nic("mlx5_1", 1, 200, ib)];
    (1..=3).for_each(|number| write_node(folder.path(), number, &usual));
    let down = Nic { is_active: false, ..usual[1].clone() };
    write_node(folder.path(), 4, &[usual[0].clone(), down]);
    write_node(folder.path(), 5, &[nic("ibp1s0", 0, 200, ib), usual[1].clone()]);
    let build = "$T cluster build c n1=n1.xml n2=n2.xml n3=n3.xml n4=n4.xml n5=n5.xml";
    assert_eq!(run(folder.path(), build).0, 0);
    let expected = "nic-name: n5: a NIC is named ibp1s0; most nodes of this kind name it mlx5_0: name interfaces and devices alike\n\
                    fewer-ports: n4: mlx5_1 has 0 active ports; on most nodes of this kind it has 1: look at cables and switches\n";
    assert_eq!(run(folder.path(), "$T cluster check c"), (1, expected.to_owned()));
}
