//! Ports across the nodes of a cluster: which reach each other, which are paired, and what is
//! wrong.

use std::path::Path;
use std::process::Output;
use topobroker_samples::saved_root::SavedRoot;
use topobroker_tests::segments::{topobroker, topobroker_file};

const MELLANOX: &str = "0x15b3";

/// A port of a machine: prefix and GUID of its GID, LID, and more files.
struct PortOf<'p> {
    prefix: &'p str,
    guid: u16,
    lid: u16,
    more: &'p [(&'p str, &'p str)],
}

fn port<'p>(prefix: &'p str, guid: u16, lid: u16, more: &'p [(&'p str, &'p str)]) -> PortOf<'p> {
    PortOf { prefix, guid, lid, more }
}

/// A machine with one device for each port, `mlx4_0` and on.
fn machine(ports: &[PortOf<'_>]) -> SavedRoot {
    let mut root = SavedRoot::new();
    for (device, port) in ports.iter().enumerate() {
        let gid = format!("{}:0002:c903:00a1:{:04x}", port.prefix, port.guid);
        let lid = format!("{:#x}", port.lid);
        let mut files = vec![
            ("state", "4: ACTIVE"),
            ("gids/0", gid.as_str()),
            ("lid", lid.as_str()),
            ("link_layer", "InfiniBand"),
            ("rate", "40 Gb/sec (4X QDR)"),
        ];
        files.retain(|(name, _)| port.more.iter().all(|(other, _)| other != name));
        files.extend(port.more);
        root.fabric(&format!("mlx4_{device}"), MELLANOX, &[(1, &files)]);
    }
    root
}

fn cluster(folder: &Path, arguments: &[&str]) -> Output {
    topobroker().arg("cluster").args(arguments).current_dir(folder).output().unwrap()
}

/// What a command prints of the cluster of two machines `a` and `b`, and its exit status.
fn of_two(a: &SavedRoot, b: &SavedRoot, arguments: &[&str]) -> (i32, String) {
    of_two_with(a, b, &[], arguments)
}

/// The same, with options for building the cluster.
fn of_two_with(
    a: &SavedRoot,
    b: &SavedRoot,
    options: &[&str],
    arguments: &[&str],
) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (format!("a={}", a.path().display()), format!("b={}", b.path().display()));
    let mut build = vec!["build", "c", &one, &other];
    build.extend(options);
    let output = cluster(folder.path(), &build);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut words = vec![arguments[0], "c"];
    words.extend(&arguments[1..]);
    let output = cluster(folder.path(), &words);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

const FACTORY: &str = "fe80:0000:0000:0000";
const LEFT: &str = "fec0:0000:0000:0001";
const RIGHT: &str = "fec0:0000:0000:0002";

/// What `cluster pairs` says of two machines, without the line of the rule.
fn pairs(a: &SavedRoot, b: &SavedRoot, rule: &str) -> String {
    let (_, text) = of_two(a, b, &["pairs", "a", "b", "--rule", rule]);
    text.split_once('\n').unwrap().1.to_owned()
}

#[test]
fn ports_are_paired_within_their_subnets_in_order() {
    // Two subnets, and the devices of one node in the other order: no crossing pair.
    let a = machine(&[port(LEFT, 1, 1, &[]), port(RIGHT, 2, 1, &[])]);
    let b = machine(&[port(RIGHT, 3, 2, &[]), port(LEFT, 4, 2, &[])]);
    assert_eq!(
        pairs(&a, &b, "openib"),
        "mlx4_0:1 mlx4_1:1 fec0:0000:0000:0001 32 Gb/s, 50.0 %\n\
         mlx4_1:1 mlx4_0:1 fec0:0000:0000:0002 32 Gb/s, 50.0 %\n"
    );
    // Two against one, and four against none.
    let two = machine(&[port(LEFT, 1, 1, &[]), port(LEFT, 2, 2, &[])]);
    let one = machine(&[port(LEFT, 3, 3, &[])]);
    assert_eq!(
        pairs(&two, &one, "openib"),
        "mlx4_0:1 mlx4_0:1 fec0:0000:0000:0001 32 Gb/s\n\
         unpaired: a mlx4_1:1: not enough ports on the other node\n"
    );
    let four = machine(&[1, 2, 3, 4].map(|guid| port(LEFT, guid, guid, &[])));
    let none = machine(&[]);
    let text = pairs(&four, &none, "openib");
    assert_eq!(text.matches("the other node has no ports").count(), 4, "{text}");
    let again = machine(&[5, 6, 7, 8].map(|guid| port(LEFT, guid, guid, &[])));
    let text = pairs(&four, &again, "openib");
    assert_eq!(text.lines().count(), 4);
    assert!(
        text.lines()
            .enumerate()
            .all(|(at, line)| { line.starts_with(&format!("mlx4_{at}:1 mlx4_{at}:1 ")) })
    );
    // Other subnets, and a router between them.
    let far = machine(&[port(RIGHT, 9, 9, &[])]);
    let reason =
        "unpaired: a mlx4_0:1: subnet fec0:0000:0000:0001 here and fec0:0000:0000:0002 there";
    assert!(pairs(&one, &far, "openib").starts_with(reason));
    assert_eq!(pairs(&one, &far, "openib+router").lines().count(), 1);
}

#[test]
fn pairs_carry_as_much_of_a_message_as_they_can_and_unknown_rates_are_printed_as_they_are() {
    let rate = |rate: &'static str| [("rate", rate)];
    let of = |rates: [&'static str; 2]| {
        let all = rates.map(rate);
        machine(&[port(LEFT, 1, 1, &all[0]), port(LEFT, 2, 2, &all[1])])
    };
    // The FAQ of Open MPI: a third and two thirds.
    let mixed = || of(["10 Gb/sec (4X SDR)", "20 Gb/sec (4X DDR)"]);
    assert_eq!(
        pairs(&mixed(), &mixed(), "openib"),
        "mlx4_0:1 mlx4_0:1 fec0:0000:0000:0001 8 Gb/s, 33.3 %\n\
         mlx4_1:1 mlx4_1:1 fec0:0000:0000:0001 16 Gb/s, 66.6 %\n"
    );
    let odd = of(["10 Gb/sec (4X SDR)", "100 Gb/sec (4X ???)"]);
    let text = pairs(&odd, &mixed(), "openib");
    assert!(text.contains("8 Gb/s\n"), "{text}");
    assert!(text.ends_with("100 Gb/sec (4X ???) and 20 Gb/sec (4X DDR)\n"), "{text}");
}

#[test]
fn the_fabric_shows_which_ports_are_on_one_subnet_if_prefixes_do_not() {
    // Two ports each, all with the factory's prefix, on two fabrics: a's first and b's second.
    let a = machine(&[port(FACTORY, 1, 1, &[]), port(FACTORY, 2, 2, &[])]);
    let b = machine(&[port(FACTORY, 3, 3, &[]), port(FACTORY, 4, 4, &[])]);
    let line = |guid: u64, switch: u64, at: u64| {
        format!(
            "CA {at} 1 0x0002c90300a1{guid:04x} 4x QDR - SW 9 {at} 0x{switch:016x} ( 'h HCA-1' - 's' )\n\
             SW 9 {at} 0x{switch:016x} 4x QDR - CA {at} 1 0x0002c90300a1{guid:04x} ( 's' - 'h HCA-1' )\n"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let files =
        [("one", line(1, 98, 1) + &line(4, 98, 2)), ("two", line(2, 99, 1) + &line(3, 99, 2))];
    let mut more = Vec::new();
    for (name, text) in files {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        more.extend(["--fabric".to_owned(), file.display().to_string()]);
    }
    let options: Vec<&str> = more.iter().map(String::as_str).collect();
    let of = |arguments: &[&str]| {
        let (_, text) = of_two_with(&a, &b, &options, arguments);
        text.lines()
            .skip(1)
            .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
    };
    // By the prefix, ports are paired that have no way to each other.
    assert_eq!(of(&["pairs", "a", "b"]), ["mlx4_0:1 mlx4_0:1", "mlx4_1:1 mlx4_1:1"]);
    let by_fabric = ["pairs", "a", "b", "--subnet-by-fabric"];
    assert_eq!(of(&by_fabric), ["mlx4_0:1 mlx4_1:1", "mlx4_1:1 mlx4_0:1"]);
}

#[test]
fn the_ports_of_a_subnet_are_those_of_infiniband() {
    let ethernet = [("link_layer", "Ethernet")];
    let a = machine(&[port(FACTORY, 1, 1, &[]), port(FACTORY, 2, 0, &ethernet)]);
    let b = machine(&[port(LEFT, 3, 3, &[])]);
    for prefix in ["fe80:0000:0000:0000", "fe80::", "0xfe80000000000000"] {
        let (code, text) = of_two(&a, &b, &["ports", "--subnet", prefix]);
        assert_eq!(code, 0);
        assert!(text.contains("mlx4_0:1") && !text.contains("mlx4_1:1"), "{prefix}: {text}");
        assert!(text.starts_with("1 nodes: a\n"), "{prefix}: {text}");
    }
    let output = cluster(Path::new("/"), &["ports", "none", "--subnet", "here"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("--subnet here: expected a subnet prefix such as"), "{said}");
}

#[test]
fn only_active_ports_of_known_state_are_paired() {
    let good = machine(&[port(FACTORY, 1, 1, &[])]);
    for (state, reason) in [
        (&[("state", "1: DOWN")][..], "mlx4_0:1 of the other node is down"),
        (&[("state", "2: INIT")], "unpaired: b mlx4_0:1: is init"),
        (&[("link_layer", "Ethernet")], "one is InfiniBand and the other is not"),
    ] {
        let bad = machine(&[port(FACTORY, 2, 2, state)]);
        let text = pairs(&good, &bad, "openib");
        assert!(text.contains(reason) && text.lines().count() == 2, "{text}: {reason}");
        let (code, _) = of_two(&good, &bad, &["reach", "a", "b"]);
        assert_eq!(code, 1);
    }
    let other = machine(&[port(FACTORY, 2, 2, &[])]);
    let (code, text) = of_two(&good, &other, &["reach", "a", "b"]);
    assert_eq!(code, 0);
    assert!(text.starts_with("# openib: ") && text.ends_with("\nmlx4_0:1 mlx4_0:1\n"), "{text}");
    let ethernet = [("link_layer", "Ethernet")];
    let (one, other) =
        (machine(&[port(FACTORY, 1, 0, &ethernet)]), machine(&[port(FACTORY, 2, 0, &ethernet)]));
    assert!(pairs(&one, &other, "openib").contains("over Ethernet, subnets are those of IP"));
    assert_eq!(pairs(&one, &other, "ucx").lines().count(), 1);
}

#[test]
fn ucx_asks_for_partition_keys_and_knows_routers() {
    let with = |prefix: &'static str, guid: u16, key: &'static str| {
        machine(&[port(prefix, guid, guid, &[("pkeys/0", key)])])
    };
    let is_reached = |a: &SavedRoot, b: &SavedRoot| pairs(a, b, "ucx").lines().count() == 1;
    let full = with(FACTORY, 1, "0xffff");
    assert!(is_reached(&full, &with(FACTORY, 2, "0x7fff")));
    let limited = with(FACTORY, 3, "0x7fff");
    let text = pairs(&limited, &with(FACTORY, 4, "0x7fff"), "ucx");
    assert!(text.contains("both are limited members of partition 0x7fff"), "{text}");
    let text = pairs(&full, &with(FACTORY, 5, "0x8001"), "ucx");
    assert!(text.contains("no partition key in common"), "{text}");
    // Site-local prefixes end in a router's number of the subnet.
    assert!(is_reached(&with(LEFT, 6, "0xffff"), &with(RIGHT, 7, "0xffff")));
    assert!(!is_reached(&with(LEFT, 6, "0xffff"), &full));
}

#[test]
fn separate_networks_of_one_prefix_are_found_if_they_are_proved() {
    let a = machine(&[port(FACTORY, 0xb2c1, 1, &[])]);
    let b = machine(&[port(FACTORY, 0xb2c2, 2, &[])]);
    assert_eq!(of_two(&a, &b, &["check"]), (0, String::new()), "distinct LIDs prove nothing");
    let same_lid = machine(&[port(FACTORY, 0xb2c2, 1, &[])]);
    let (code, text) = of_two(&a, &same_lid, &["check"]);
    assert_eq!(code, 1);
    assert!(
        text.starts_with("shared-prefix: a mlx4_0:1 and b mlx4_0:1 have the subnet prefix")
            && text.contains("both have LID 0x1") | text.contains("both have LID 1"),
        "{text}"
    );
    let own_prefix = machine(&[port(LEFT, 0xb2c2, 1, &[])]);
    assert_eq!(of_two(&a, &own_prefix, &["check"]).0, 0);
    // Two fabrics without a link between them.
    let folder = tempfile::tempdir().unwrap();
    let line = |port: u8, switch: &str, guid: &str| {
        format!(
            "SW 1 {port} 0x{switch} 4x QDR - CA 2 1 0x{guid} ( 'leaf' - 'x HCA-1' )\n\
             CA 2 1 0x{guid} 4x QDR - SW 1 {port} 0x{switch} ( 'x HCA-1' - 'leaf' )\n"
        )
    };
    let file = |name: &str, text: String| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let one = file("one", line(1, "00000000000000aa", "0002c90300a1b2c1"));
    let other = file("other", line(1, "00000000000000bb", "0002c90300a1b2c2"));
    let nodes = [&a, &b].map(|root| root.path().display().to_string());
    let build = |fabrics: &[&str]| {
        let (a, b) = (format!("a={}", nodes[0]), format!("b={}", nodes[1]));
        let mut words = vec!["build", "--force", "c", &a, &b];
        fabrics.iter().for_each(|fabric| words.extend(["--fabric", fabric]));
        let output = cluster(folder.path(), &words);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(cluster(folder.path(), &["check", "c"]).stdout).unwrap()
    };
    let text = build(&[&one, &other]);
    assert!(text.contains("the fabric has no way between them"), "{text}");
    let both = line(1, "00000000000000aa", "0002c90300a1b2c1")
        + &line(2, "00000000000000aa", "0002c90300a1b2c2");
    let both = file("both", both);
    assert_eq!(build(&[&both]), "", "one network");
}

#[test]
fn limits_that_differ_between_nodes_are_found_and_grouped() {
    let folder = tempfile::tempdir().unwrap();
    let join = |name: &str, limit: &str| {
        let program = topobroker_file();
        let script = format!("ulimit -l {limit} && exec {program} cluster join . --name {name}");
        let mut shell = std::process::Command::new("sh");
        let output = shell.args(["-c", &script]).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    join("n1", "64");
    join("n2", "64");
    let result = tempfile::tempdir().unwrap();
    let file = result.path().join("c").display().to_string();
    let gather = || cluster(folder.path(), &["gather", "--force", &file, "--folder", "."]);
    assert!(gather().status.success());
    let check = || cluster(folder.path(), &["check", &file]);
    assert_eq!(check().status.code(), Some(0));
    join("n3", "32");
    assert!(gather().status.success());
    let text = String::from_utf8(check().stdout).unwrap();
    let expected = "memlock: how much memory processes may lock differs between nodes: 1 of 3 nodes: 32768 \
         bytes (n3); 2 of 3 nodes: 65536 bytes (n[1-2]); ";
    assert!(text.starts_with(expected), "{text}");
    let listed = cluster(folder.path(), &["ports", &file, "--anonymous"]).stdout;
    let listed = String::from_utf8(listed).unwrap();
    assert!(listed.contains("2 nodes\n") && !listed.contains("n1"), "{listed}");
}
