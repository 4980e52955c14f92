//! Ports and limits of machines: saved ones, described ones, and ones that are made for a test.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use topobroker::findings;
use topobroker::linux::{Root, registerable_memory};
use topobroker_reader::{
    Archive, ObjectType,
    devices::{LinkLayer, LinkState},
};
use topobroker_samples::saved_root::{Port, SavedRoot};
use topobroker_samples::{archived, machines, shared, topology_of_xml};
use topobroker_tests::segments::{topobroker, topobroker_file};

const MELLANOX: &str = "0x15b3";
const FACTORY: &str = "fe80:0000:0000:0000:0002:c903:00a1:b2c3";

fn run(command: &str, input: &Path, more: &[&str]) -> Output {
    topobroker().arg(command).arg("-i").arg(input).args(more).output().unwrap()
}

/// Exit status and standard output of a command.
fn printed(command: &str, input: &Path, more: &[&str]) -> (i32, String) {
    let output = run(command, input, more);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

fn active(gid: &'static str) -> Vec<(&'static str, &'static str)> {
    vec![("state", "4: ACTIVE"), ("gids/0", gid), ("lid", "0x1"), ("link_layer", "InfiniBand")]
}

/// A machine with one device and these ports.
fn machine(ports: &[Port<'_>]) -> SavedRoot {
    let mut root = SavedRoot::new();
    root.fabric("mlx4_0", MELLANOX, ports);
    root
}

fn saved(name: &str, folder: &Path) -> bool {
    let Some(shared) = shared() else { return false };
    let archive = shared.join("snapshots").join(format!("{name}.tar.bz2"));
    let status = Command::new("tar").arg("xjf").arg(archive).arg("-C").arg(folder).status();
    assert!(status.unwrap().success());
    true
}

#[test]
fn ports_of_saved_machines_have_state_rate_and_subnet_as_linux_says() {
    let folder = tempfile::tempdir().unwrap();
    let expected = [
        (
            "32em64t-2n8c+1mic",
            "mlx4_0:1  active  LinkUp  InfiniBand  56 Gb/sec (4X FDR)  LID 0x3a4  SM LID 0x1  \
             subnet fe80:0000:0000:0000  pkeys 0xffff\n\
             eth0  up  1 Gb/s\neth1  down\nib0  up\n",
        ),
        (
            "40intel64-2g2n4c+pci",
            "qib0:1  active  LinkUp  InfiniBand  40 Gb/sec (4X QDR)  LID 0x12a  SM LID 0x1  \
             subnet fe80:0000:0000:0000  pkeys 0xffff\n\
             eth0  up  1 Gb/s\neth1  down\neth2  down\neth3  down\nib0  up\n",
        ),
    ];
    for (name, ports) in expected {
        if !saved(name, folder.path()) {
            return;
        }
        let root = folder.path().join(name);
        assert_eq!(printed("ports", &root, &[]), (0, ports.to_owned()));
        assert_eq!(printed("check", &root, &["--no-memlock"]), (0, String::new()));
    }
}

#[test]
fn no_active_port_is_found_if_all_states_are_known() {
    let states = |first: &'static str, second: &'static str| {
        machine(&[(1, &[("state", first)]), (2, &[("state", second)])])
    };
    let (code, text) = printed("check", states("1: DOWN", "2: INIT").path(), &["--no-memlock"]);
    assert_eq!(
        (code, text.as_str()),
        (
            1,
            "no-active-port: expected an active port, found none: mlx4_0:1 is down, mlx4_0:2 is init; \
             a port that is down has no cable or a switch that is off, one that is init waits for a \
             subnet manager\n"
        )
    );
    let accepted = printed(
        "check",
        states("1: DOWN", "2: INIT").path(),
        &["--no-memlock", "--no-active-port"],
    );
    assert_eq!(accepted, (0, String::new()));
    assert_eq!(
        printed("check", states("1: DOWN", "4: ACTIVE").path(), &["--no-memlock"]),
        (0, String::new())
    );
    // hwloc stops at the first port without a state.
    let unknown = machine(&[(1, &[("lid", "0x0")]), (2, &[("state", "1: DOWN")])]);
    let (code, text) = printed("check", unknown.path(), &["--no-memlock"]);
    let start = "note: no-active-port: no port is known to be active: mlx4_0:1 is of unknown state, \
                 mlx4_0:2 is down; ";
    assert!(code == 0 && text.starts_with(start), "{text}");
    let (_, text) = printed("ports", unknown.path(), &[]);
    assert_eq!(text, "mlx4_0:1  of unknown state\nmlx4_0:2  down\n");
}

#[test]
fn several_active_ports_with_the_prefix_of_the_factory_are_found() {
    let (factory, other) = (active(FACTORY), active("fe80:0000:0000:0001:0002:c903:00a1:b2c4"));
    let both = machine(&[(1, &factory), (2, &factory)]);
    let (code, text) = printed("check", both.path(), &["--no-memlock"]);
    let start = "default-prefix: 2 active ports have the factory's subnet prefix \
                 fe80:0000:0000:0000: mlx4_0:1, mlx4_0:2; ";
    assert!(code == 1 && text.starts_with(start), "{text}");
    assert_eq!(
        printed("check", both.path(), &["--no-memlock", "--no-default-prefix"]),
        (0, String::new())
    );
    for right in [machine(&[(1, &factory)]), machine(&[(1, &factory), (2, &other)])] {
        assert_eq!(printed("check", right.path(), &["--no-memlock"]), (0, String::new()));
    }
}

#[test]
fn ports_of_ethernet_and_of_amazon_have_no_subnet_prefix() {
    // As of a VPI card: the port has the address of an Ethernet interface.
    let ethernet = "fe80:0000:0000:0000:7ae7:d1ff:fe24:a7cd";
    let said = [("state", "4: ACTIVE"), ("gids/0", ethernet), ("link_layer", "Ethernet")];
    let known_from_linux = machine(&[(1, &active(FACTORY)), (2, &said)]);
    let mut known_from_address = SavedRoot::new();
    let ports: [Port<'_>; 2] = [(1, &active(FACTORY)), (2, &said[..2])];
    let pci = known_from_address.fabric("mlx4_0", MELLANOX, &ports);
    let address = [("address", "78:e7:d1:24:a7:cd"), ("operstate", "up"), ("speed", "10000")];
    known_from_address.interface("eth2", &pci, &address);
    let mut amazon = SavedRoot::new();
    let port = [("state", "4: ACTIVE"), ("gids/0", FACTORY)];
    amazon.fabric("rdmap0", "0x1d0f", &[(1, &port)]);
    amazon.fabric("rdmap1", "0x1d0f", &[(1, &port)]);
    for root in [&known_from_linux, &known_from_address, &amazon] {
        assert_eq!(printed("check", root.path(), &["--no-memlock"]), (0, String::new()));
    }
    let (_, text) = printed("ports", known_from_address.path(), &[]);
    assert!(text.ends_with("mlx4_0:2  active  Ethernet\neth2  up  10 Gb/s\n"), "{text}");
}

#[test]
fn rates_are_numbers_where_linux_says_one() {
    let rates: [(&str, Option<u64>); 6] = [
        ("2.5 Gb/sec (1X SDR)", Some(2_500)),
        ("100 Gb/sec (4X EDR)", Some(100_000)),
        ("40 Gb/sec (4X)", Some(40_000)),
        ("4x ???", None),
        ("0 Gb/sec", None),
        ("99999999999999999999 Gb/sec", None),
    ];
    let files = rates.map(|(rate, _)| [("state", "4: ACTIVE"), ("rate", rate)]);
    let ports: Vec<Port<'_>> = (1..).zip(&files).map(|(it, files)| (it, &files[..])).collect();
    let (_, text) = printed("ports", machine(&ports).path(), &["--json"]);
    let found: Value = serde_json::from_str(&text).unwrap();
    for (port, (rate, mbps)) in found.as_array().unwrap().iter().zip(rates) {
        assert_eq!((&port["rate"], port["rate_mbps"].as_u64()), (&Value::from(rate), mbps));
    }
}

#[test]
fn partition_keys_are_listed_once_and_unused_ones_left_out() {
    let keys = [
        ("pkeys/0", "0xffff"),
        ("pkeys/1", "0x7fff"),
        ("pkeys/2", "0x0000"),
        ("pkeys/3", "0xffff"),
    ];
    let (_, text) = printed("ports", machine(&[(1, &keys)]).path(), &[]);
    assert_eq!(text, "mlx4_0:1  of unknown state  pkeys 0xffff,0x7fff\n");
}

#[test]
fn little_memory_that_may_be_locked_is_found() {
    let check = |soft: &str, hard: &str| {
        let root = machine(&[(1, &active(FACTORY))]);
        let line =
            format!("Max locked memory         {soft}                {hard}                bytes");
        root.write("proc/self/limits", &line);
        printed("check", root.path(), &[])
    };
    assert_eq!(
        check("32768", "32768"),
        (
            1,
            "memlock: this process may lock 32768 bytes; network adapters need more than 32768 bytes: \
             raise memlock in limits.conf, and restart the daemons that start processes\n"
                .to_owned()
        )
    );
    assert_eq!(
        check("65536", "unlimited"),
        (
            0,
            "note: memlock: this process may lock 65536 bytes; network adapters work best without a \
             limit: raise it with `ulimit -l unlimited`\n"
                .to_owned()
        )
    );
    assert_eq!(check("unlimited", "unlimited"), (0, String::new()));
    let silent = machine(&[(1, &active(FACTORY))]);
    let unknown = "note: memlock: how much memory this process may lock is unknown: its limits are not there\n";
    assert_eq!(printed("check", silent.path(), &[]), (0, unknown.to_owned()));
    silent.write("proc/self/limits", "Max locked memory 0 0 bytes");
    assert_eq!(printed("check", silent.path(), &["--no-memlock"]), (0, String::new()));
    // Without an adapter, it does not matter.
    let without = SavedRoot::new();
    without.write("proc/self/limits", "Max locked memory 0 0 bytes");
    assert_eq!(printed("check", without.path(), &[]), (0, String::new()));
}

/// A machine whose adapter has a driver with these parameters, and 256 GiB of memory.
fn with_driver(driver: &str, parameters: &[(&str, &str)]) -> SavedRoot {
    let root = machine(&[(1, &active(FACTORY))]);
    for (name, value) in parameters {
        root.write(&format!("sys/module/{driver}/parameters/{name}"), value);
    }
    root.write("proc/meminfo", "MemTotal:       268435456 kB");
    root
}

#[test]
fn registerable_memory_follows_from_the_parameters_of_the_driver() {
    const GIB: u64 = 1 << 30;
    let mlx4 = |log_num: &str, page| {
        let parameters = [("log_num_mtt", log_num), ("log_mtts_per_seg", "1")];
        let root = with_driver("mlx4_core", &parameters);
        registerable_memory(&Root::saved(root.path()), page)[0].as_ref().unwrap().bytes
    };
    // The example of Open MPI's FAQ.
    assert_eq!(mlx4("24", 4096), 128 * GIB);
    assert_eq!(mlx4("24", 65_536), 2048 * GIB);
    assert_eq!(mlx4("0", 4096), 4 * GIB);
    let mthca = with_driver("ib_mthca", &[("num_mtt", "1048576"), ("log_mtts_per_seg", "3")]);
    let found = registerable_memory(&Root::saved(mthca.path()), 4096);
    let found = found[0].as_ref().unwrap();
    assert_eq!((found.driver, found.bytes), ("ib_mthca", 32 * GIB));
    let newer = SavedRoot::new();
    assert!(registerable_memory(&Root::saved(newer.path()), 4096).is_empty());
}

#[test]
fn less_registerable_memory_than_the_node_has_is_found() {
    let check = |log_num: &str, more: &[&str]| {
        let parameters = [("log_num_mtt", log_num), ("log_mtts_per_seg", "1")];
        let root = with_driver("mlx4_core", &parameters);
        let output = run("check", root.path(), &[&["--no-memlock"], more].concat());
        let text = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
        (output.status.code().unwrap(), text.concat())
    };
    let (code, text) = check("24", &[]);
    let start = "registerable-memory: mlx4_core can register 137438953472 bytes, and the node has \
                 274877906944; expected at least three quarters of that: ";
    assert!(code == 1 && text.starts_with(start), "{text}");
    let (code, text) = check("25", &[]);
    assert!(code == 0 && text.starts_with("note: registerable-memory: "), "{text}");
    assert_eq!(check("26", &[]), (0, String::new()));
    assert_eq!(check("24", &["--no-registerable-memory"]), (0, String::new()));
    for wrong in ["-1", "63", "many"] {
        let (code, text) = check(wrong, &[]);
        let expected = format!(
            "/sys/module/mlx4_core/parameters/log_num_mtt is {wrong:?}; expected a number from 0 to 40\n"
        );
        assert!(code == 1 && text.ends_with(&expected), "{text}");
    }
}

#[test]
fn only_machines_with_several_active_ports_of_one_network_warn_of_prefixes() {
    let Some(shared) = shared() else { return };
    let mut warning = Vec::new();
    for machine in &machines(&shared) {
        let archive = archived(&machine.path);
        let opened = Archive::open(&archive).unwrap();
        let ports = opened
            .topology()
            .objects_with_type(ObjectType::OSDevice)
            .flat_map(|device| device.ports().collect::<Vec<_>>());
        // Counted in the text of the file, where a state is a digit.
        let text = std::fs::read_to_string(&machine.path).unwrap();
        let is_active = |line: &&str| {
            line.contains("name=\"Port") && line.contains("State\"") && line.contains("value=\"4\"")
        };
        let active = ports.filter(|port| port.is_active()).count();
        assert_eq!(active, text.lines().filter(is_active).count(), "{}", machine.name);
        if !findings::ports(opened.topology()).iter().all(|finding| finding.is_note) {
            warning.push(machine.name.clone());
        }
    }
    let expected = ["sierra", "summit", "turin"];
    let is_expected = |name: &String| expected.iter().any(|part| name.contains(part));
    let is_there = |part: &&str| warning.iter().any(|name| name.contains(part));
    assert!(warning.iter().all(is_expected) && expected.iter().all(is_there), "{warning:?}");
}

#[test]
fn ports_without_states_are_unknown_and_never_counted_active() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let archive = shared.join("clusters/plafrim.tar.xz");
    let mut command = Command::new("tar");
    assert!(
        command.arg("xJf").arg(archive).arg("-C").arg(folder.path()).status().unwrap().success()
    );
    let files = std::fs::read_dir(folder.path().join("plafrim/hwloc")).unwrap();
    let mut with_ports = 0;
    for file in files {
        let path = file.unwrap().path();
        let topology = topology_of_xml(&path);
        let devices = topology.objects_with_type(ObjectType::OSDevice);
        let devices: Vec<_> = devices.filter(|device| device.ports().next().is_some()).collect();
        if devices.is_empty() {
            continue;
        }
        with_ports += 1;
        assert!(devices.iter().all(|it| it.link_state() == LinkState::Unknown), "{path:?}");
        let found = findings::ports(topology);
        assert!(found.iter().all(|it| it.is_note) && found.len() == 1, "{path:?}: {found:?}");
        // A VPI card: its second port is one of Ethernet.
        if path.ends_with("mirage001.xml") {
            let layers: Vec<_> = devices[0].ports().map(|port| port.link_layer()).collect();
            assert_eq!(layers, [Some(LinkLayer::InfiniBand), Some(LinkLayer::Ethernet)]);
        }
    }
    assert_eq!(with_ports, 119);
}

#[test]
fn a_saved_file_system_with_odd_texts_is_read_as_far_as_it_goes_and_none_with_special_files() {
    let root = machine(&[(1, &[("state", "4: ACTIVE"), ("phys_state", "5: \u{1b}[31mLinkUp")])]);
    let port = "sys/devices/pci0000:00/0000:01:00.0/infiniband/mlx4_0/ports/1";
    let path = |file: &str| root.path().join(port).join(file);
    std::fs::write(path("sm_lid"), b"0x1\0").unwrap();
    assert_eq!(printed("ports", root.path(), &[]), (0, "mlx4_0:1  active\n".to_owned()));
    let refused = |found: &str| {
        let mut command = Command::new("timeout");
        command.args(["20", &topobroker_file(), "ls", "-i"]);
        let output = command.arg(root.path()).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && text.contains(found), "{text}");
    };
    for target in ["/etc/hostname", "../../../../../../../../../../../../etc/hostname", "/dev/zero"]
    {
        std::os::unix::fs::symlink(target, path("link_layer")).unwrap();
        refused("ports/1/link_layer is a link out of the root");
        std::fs::remove_file(path("link_layer")).unwrap();
    }
    std::os::unix::fs::symlink("sm_lid", path("link_layer")).unwrap();
    std::os::unix::fs::symlink("nothing", path("sm_sl")).unwrap();
    assert_eq!(printed("ports", root.path(), &[]).0, 0);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        path("rate"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    refused("ports/1/rate is no file and no folder");
}

#[test]
fn each_thing_that_is_wrong_is_found_whatever_else_is() {
    let root = with_driver("mlx4_core", &[("log_num_mtt", "24")]);
    root.write("sys/module/ib_mthca/parameters/num_mtt", "0");
    let (code, text) = printed("check", root.path(), &["--no-memlock"]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(code == 1 && lines.len() == 2, "{text}");
    let of = |place: usize, part: &str| {
        lines[place].starts_with("registerable-memory: ") && lines[place].contains(part)
    };
    assert!(of(0, "/log_mtts_per_seg is not there, so that the limit"), "{text}");
    assert!(of(1, "/num_mtt is \"0\"; expected a number from 1 to "), "{text}");
}
