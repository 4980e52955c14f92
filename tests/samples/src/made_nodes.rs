//! Made nodes with NICs of several networks.

use crate::{describe, topology_of};
use std::fmt::Write;
use topobroker::hwloc::Input;
use topobroker_layout::description::Description;
use topobroker_reader::Topology;
use topobroker_reader::devices::prefix_text;

/// The prefix that InfiniBand subnets have from the factory.
pub const FACTORY: u64 = 0xfe80 << 48;

/// A NIC of a made node.
#[derive(Debug, Clone)]
pub struct Nic {
    /// Name of its OpenFabrics device or interface.
    pub name: String,
    /// Logical index of the package that it is near.
    pub package: usize,
    /// Gb/s of its port.
    pub rate: u64,
    /// Whether its port is active.
    pub is_active: bool,
    /// What it is.
    pub kind: Kind,
}

/// Network of a NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// By the prefix of its subnet.
    InfiniBand(u64),
    /// RDMA over Ethernet.
    Roce,
    /// Of Amazon.
    Efa,
    /// An interface of the kernel.
    Ethernet,
    /// As old versions of hwloc know it: an interface of a vendor.
    Slingshot,
}

/// An active NIC.
pub fn nic(name: &str, package: usize, rate: u64, kind: Kind) -> Nic {
    Nic { name: name.to_owned(), package, rate, is_active: true, kind }
}

/// The XML of a node with packages of four PUs each.
pub fn node(packages: usize, nics: &[Nic]) -> String {
    let mut ids = 1..;
    let mut id = || ids.next().unwrap();
    let all = format!("{:#x}", (1_u64 << (4 * packages)) - 1);
    let nodes = format!("{:#x}", (1_u64 << packages) - 1);
    let mut xml = format!(
        "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" cpuset=\"{all}\" complete_cpuset=\"{all}\" \
         allowed_cpuset=\"{all}\" nodeset=\"{nodes}\" complete_nodeset=\"{nodes}\" allowed_nodeset=\"{nodes}\" gp_index=\"{}\">",
        id()
    );
    for package in 0..packages {
        let (pus, own) =
            (format!("{:#x}", 0xf_u64 << (4 * package)), format!("{:#x}", 1 << package));
        let sets = format!(
            "cpuset=\"{pus}\" complete_cpuset=\"{pus}\" nodeset=\"{own}\" complete_nodeset=\"{own}\""
        );
        write!(
            xml,
            "<object type=\"Package\" os_index=\"{package}\" {sets} gp_index=\"{}\">",
            id()
        )
        .unwrap();
        write!(xml, "<object type=\"NUMANode\" os_index=\"{package}\" {sets} local_memory=\"1073741824\" gp_index=\"{}\"/>", id()).unwrap();
        for pu in 4 * package..4 * package + 4 {
            let set = format!("{:#x}", 1_u64 << pu);
            let sets = format!(
                "cpuset=\"{set}\" complete_cpuset=\"{set}\" nodeset=\"{own}\" complete_nodeset=\"{own}\""
            );
            write!(xml, "<object type=\"Core\" os_index=\"{pu}\" {sets} gp_index=\"{}\">", id())
                .unwrap();
            write!(
                xml,
                "<object type=\"PU\" os_index=\"{pu}\" {sets} gp_index=\"{}\"/></object>",
                id()
            )
            .unwrap();
        }
        for (place, nic) in nics.iter().enumerate().filter(|(_, nic)| nic.package == package) {
            let bus = 0x10 + place;
            write!(xml, "<object type=\"Bridge\" gp_index=\"{}\" bridge_type=\"0-1\" depth=\"0\" bridge_pci=\"0000:[{bus:02x}-{bus:02x}]\">", id()).unwrap();
            let (class, vendor) = match nic.kind {
                Kind::InfiniBand(_) => ("0207", "15b3"),
                Kind::Roce => ("0200", "15b3"),
                Kind::Efa => ("0200", "1d0f"),
                Kind::Ethernet => ("0200", "8086"),
                Kind::Slingshot => ("0200", "17db"),
            };
            write!(xml, "<object type=\"PCIDev\" gp_index=\"{}\" pci_busid=\"0000:{bus:02x}:00.0\" pci_type=\"{class} [{vendor}:1021] [0000:0000] 00\" pci_link_speed=\"31.5\">", id()).unwrap();
            let fabric = !matches!(nic.kind, Kind::Ethernet | Kind::Slingshot);
            let kind = if fabric { 3 } else { 2 };
            write!(
                xml,
                "<object type=\"OSDev\" gp_index=\"{}\" name=\"{}\" osdev_type=\"{kind}\">",
                id(),
                nic.name
            )
            .unwrap();
            let mut info = |name: &str, value: String| {
                write!(xml, "<info name=\"{name}\" value=\"{value}\"/>").unwrap();
            };
            if fabric {
                info("Port1State", if nic.is_active { "4" } else { "1" }.to_owned());
                let lid = if matches!(nic.kind, Kind::InfiniBand(_)) { place + 1 } else { 0 };
                info("Port1LID", format!("{lid:#x}"));
                let prefix = match nic.kind {
                    Kind::InfiniBand(subnet) => subnet,
                    _ => 0xfe80 << 48,
                };
                let prefix = prefix_text(prefix);
                info("Port1GID0", format!("{prefix}:0000:0000:0000:{:04x}", place + 1));
            }
            xml.push_str("</object></object></object>");
        }
        xml.push_str("</object>");
    }
    xml.push_str("</object></topology>");
    xml
}

/// The topology of a node, for as long as the test runs.
pub fn topology(packages: usize, nics: &[Nic]) -> Topology<'static> {
    topology_of(&described(packages, nics))
}

/// A node. What hwloc does not report, rates and states of interfaces, is added as
/// the publisher finds it out.
fn described(packages: usize, nics: &[Nic]) -> Description {
    let mut described = describe(&Input::XmlText(node(packages, nics)));
    for object in &mut described.objects {
        let Some(nic) = nics.iter().find(|nic| object.name.as_deref() == Some(&nic.name)) else {
            continue;
        };
        let facts = match nic.kind {
            Kind::Ethernet | Kind::Slingshot => vec![
                ("OperState", if nic.is_active { "up" } else { "down" }.to_owned()),
                ("Speed", (nic.rate * 1000).to_string()),
            ],
            _ => vec![("Port1Rate", format!("{} Gb/sec (4X HDR)", nic.rate))],
        };
        object.facts.extend(facts.into_iter().map(|(name, value)| (name.to_owned(), value)));
    }
    described
}
