//! Files of NCCL about virtual machines: switches that hwloc does not see there.

use crate::links::with;
use topobroker::links::declared;
use topobroker_reader::links::{LinkClass, SwitchModel, VertexKind};
use topobroker_samples::shared;

#[test]
fn files_of_virtual_machines_show_hidden_switches_and_those_of_several_hosts_are_refused() {
    let Some(shared) = shared() else { return };
    let folder = shared.join("cases/nccl");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    with(&folder.join("vm.hwloc.xml"), |topology| {
        let known = topology.links(SwitchModel::Separate).unwrap();
        for (file, counts) in [
            ("hidden-nvswitch.xml", [18, 18]),
            ("switch-that-the-vm-lacks.xml", [18, 18]),
            // A GPU in two parts lists all of its links at each.
            ("mlopart.xml", [36, 18]),
        ] {
            let graph = declared(&known, &read(file)).unwrap().links;
            let to_switch = graph.links().iter().filter(|link| link.class == LinkClass::NvLink);
            let found: Vec<u16> = to_switch.map(|link| link.links.unwrap()).collect();
            assert_eq!(found, counts, "{file}");
            let switches =
                graph.vertices().iter().filter(|vertex| vertex.kind == VertexKind::NvSwitch);
            assert_eq!(switches.count(), 1, "{file}");
            let from_cpus = graph.links().iter().filter(|link| link.class == LinkClass::C2c);
            assert_eq!(from_cpus.count(), 2, "{file}");
        }
        let hosts = read("two-hosts.xml");
        let refused = declared(&known, &hosts).unwrap_err().to_string();
        assert!(
            refused.contains("2 hosts, of which 2 have only devices of this machine"),
            "{refused}"
        );
        // If the other host has devices that are not here, its part is left out.
        let start = hosts.rfind("host_hash=\"0x1111111111111111\" numaid=\"0\"").unwrap();
        let other = hosts[start..].replace("0003:00:00.0", "0009:00:00.0");
        let graph = declared(&known, &(hosts[..start].to_owned() + &other)).unwrap().links;
        let nvlinks = graph.links().iter().filter(|link| link.class == LinkClass::NvLink);
        let counts: Vec<u16> = nvlinks.map(|link| link.links.unwrap()).collect();
        assert_eq!(counts, [18, 18]);
    });
}
