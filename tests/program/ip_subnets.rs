//! IP subnets of NICs on Ethernet, by which users choose networks that only these distinguish.

use topobroker_samples::saved_root::SavedRoot;
use topobroker_tests::segments::{topobroker, topobroker_file};

/// Two adapters of RoCE with interfaces; the second one's is in a bond with a VLAN.
fn node() -> SavedRoot {
    let mut root = SavedRoot::new();
    let port =
        [("state", "4: ACTIVE"), ("link_layer", "Ethernet"), ("rate", "100 Gb/sec (4X EDR)")];
    for (number, above) in [(0, None), (1, Some("bond0"))] {
        let pci = root.fabric(&format!("mlx5_{number}"), "0x15b3", &[(1, &port)]);
        let name = format!("ens{number}");
        root.interface(&name, &pci, &[("operstate", "up"), ("speed", "100000")]);
        if let Some(above) = above {
            root.write(&format!("{pci}/net/{name}/upper_{above}"), "");
            root.write(&format!("sys/class/net/{above}/upper_{above}.7"), "");
        }
    }
    // Hosts of pods have a route each.
    let others = "cni0 0100F40A 00000000 0005 0 0 0 FFFFFFFF 0 0 0                                          \n";
    root.write(
        "proc/net/route",
        &(others.repeat(2000)
            + "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n\
         ens0 00000000 0100010A 0003 0 0 0 00000000 0 0 0\n\
         ens0 0000010A 00000000 0001 0 0 0 0000FFFF 0 0 0\n\
         bond0.7 0000020A 00000000 0001 0 0 0 0000FFFF 0 0 0"),
    );
    root
}

fn said(arguments: &[&str], root: &SavedRoot) -> String {
    let output = topobroker().args(arguments).arg("-i").arg(root.path()).output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn a_network_is_chosen_by_the_ip_subnet_of_an_interface_its_bond_or_its_vlan() {
    let root = node();
    let both = "RoCE 100 Gb/s, 200 Gb/s together: mlx5_0 (10.1.0.0/16) mlx5_1 (10.2.0.0/16)\n";
    assert_eq!(said(&["networks"], &root), both);
    for (subnet, nic) in [("10.1.0.0/16", "mlx5_0"), ("10.2.0.0/16", "mlx5_1")] {
        let one = format!("RoCE 100 Gb/s, 100 Gb/s together: {nic} ({subnet})\n");
        assert_eq!(said(&["networks", "--network", subnet], &root), one);
    }
    assert_eq!(
        said(&["networks", "--network", "10.3.0.0/16"], &root),
        "topobroker: there is no network for jobs: the node has RoCE 100 Gb/s; --network, --nic and \
         --no-nic leave none\n"
    );
}

#[test]
fn a_job_over_nics_in_several_ip_subnets_says_how_to_choose_one() {
    let root = node();
    let folder = tempfile::tempdir().unwrap();
    let job = |options: &str| {
        let mut command = topobroker();
        command.args(["run", "--folder"]).arg(folder.path()).arg("-i").arg(root.path());
        let script = format!("$T job add j --map-by core {options} && $T job nics j");
        command.args(["--", "sh", "-c", &script]);
        let output = command.env("T", topobroker_file()).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let said = "mlx5_0 is in the IP subnet 10.1.0.0/16, mlx5_1 in 10.2.0.0/16; if they do not reach \
                each other, choose one with --network 10.1.0.0/16";
    assert!(job("").contains(said), "{}", job(""));
    let chosen = job("--network 10.2.0.0/16");
    assert!(!chosen.contains("IP subnet") && chosen.ends_with("0 mlx5_1\n1 mlx5_1\n"), "{chosen}");
}

/// A node with two NICs, each in an IP subnet of its own.
fn node_of_rails(subnets: [u8; 2]) -> SavedRoot {
    let mut root = SavedRoot::new();
    let port =
        [("state", "4: ACTIVE"), ("link_layer", "Ethernet"), ("rate", "100 Gb/sec (4X EDR)")];
    let mut routes =
        "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n".to_owned();
    for (number, subnet) in (0..).zip(subnets) {
        let number: u8 = number;
        let pci = root.fabric(&format!("mlx5_{number}"), "0x15b3", &[(1, &port)]);
        let name = format!("ens{number}");
        root.interface(&name, &pci, &[("operstate", "up"), ("speed", "100000")]);
        routes += &format!("{name} 0000{subnet:02}0A 00000000 0001 0 0 0 0000FFFF 0 0 0\n");
    }
    root.write("proc/net/route", &routes);
    root
}

#[test]
fn a_nic_with_an_address_of_another_rail_is_a_finding_of_the_cluster() {
    let roots = [[1, 2], [1, 2], [1, 2], [2, 1]].map(node_of_rails);
    let folder = tempfile::tempdir().unwrap();
    let cluster = folder.path().join("c");
    let mut command = topobroker();
    command.args(["cluster", "build"]).arg(&cluster);
    for (number, root) in roots.iter().enumerate() {
        command.arg(format!("n{number}={}", root.path().display()));
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let output = topobroker().args(["cluster", "check"]).arg(&cluster).output().unwrap();
    let found = String::from_utf8(output.stdout).unwrap();
    for (nic, number, subnet, rail) in [("mlx5_0", 0, 2, 1), ("mlx5_1", 1, 1, 0)] {
        let expected = format!(
            "rail: n3: {nic}, NIC {number} of the node, is in 10.{subnet}.0.0/16, the IP subnet of NICs \
             {rail} of other nodes; give it an address of its rail"
        );
        assert!(found.contains(&expected), "{expected}: {found}");
    }
    assert_eq!(found.matches("rail: ").count(), 2, "{found}");
}
