//! Networks of a node: NICs that reach each other. `docs/NETWORKS.md` has the rules and why they are
//! so.

use super::candidates::{NicChoice, is_slingshot, pci_vendor};
use super::ports::{AMAZON, LinkLayer, Port, prefix_text};
use crate::object::Object;
use crate::topology::Topology;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;
use topobroker_layout::attributes::OsDeviceKind;

/// A network, by what is the same on every node that it reaches. Of two networks with the same
/// bandwidth, ranks use the one that comes first in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NetworkId {
    /// InfiniBand, by the prefix of its subnet; `None` if nobody knows it.
    InfiniBand(Option<u64>),
    /// Slingshot of HPE.
    Slingshot,
    /// Omni-Path, by the prefix of its subnet.
    OmniPath(Option<u64>),
    /// EFA of Amazon.
    Efa,
    /// Ethernet with RDMA (RoCE, iWARP), by the rate of its ports in Mb/s: nobody tells which ports
    /// reach each other, but those of one network are alike.
    Roce(Option<u64>),
    /// Ethernet, by its rate in Mb/s.
    Ethernet(Option<u64>),
}

/// A network of a node.
#[derive(Debug, Clone)]
pub struct Network<'a> {
    /// What it is.
    pub id: NetworkId,
    /// Its NICs, in logical order.
    pub nics: Vec<Object<'a>>,
    /// The sum of the rates of their fastest active ports, in Mb/s: unknown rates count as 0.
    pub mbps: u64,
}

impl NetworkId {
    /// The network of a NIC: that of its fastest active port, else of its first port. `None` if the
    /// object is no NIC.
    #[must_use]
    pub fn of(nic: Object<'_>) -> Option<Self> {
        if is_slingshot(nic) {
            return Some(Self::Slingshot);
        }
        match nic.os_device_kind()? {
            OsDeviceKind::OpenFabrics => {
                let port = best_port(nic);
                Some(port.map_or(Self::InfiniBand(None), |port| Self::of_port(nic, port)))
            }
            OsDeviceKind::Network => Some(Self::Ethernet(nic.link_mbps())),
            _ => None,
        }
    }

    fn of_port(nic: Object<'_>, port: Port<'_>) -> Self {
        // No subnet manager has set a prefix of 0.
        let subnet = port.subnet_prefix().filter(|subnet| *subnet != 0);
        match port.link_layer() {
            Some(LinkLayer::Ethernet) => Self::Roce(port.rate_mbps()),
            Some(LinkLayer::Other) if pci_vendor(nic) == Some(AMAZON) => Self::Efa,
            _ if is_omni_path(nic) => Self::OmniPath(subnet),
            _ => Self::InfiniBand(subnet),
        }
    }

    /// The kind of network, in words.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::InfiniBand(_) => "InfiniBand",
            Self::Slingshot => "Slingshot",
            Self::OmniPath(_) => "Omni-Path",
            Self::Efa => "EFA",
            Self::Roce(_) => "RoCE",
            Self::Ethernet(_) => "Ethernet",
        }
    }

    /// The prefix of its subnet, if it has one and it is known.
    #[must_use]
    pub const fn subnet(self) -> Option<u64> {
        match self {
            Self::InfiniBand(subnet) | Self::OmniPath(subnet) => subnet,
            _ => None,
        }
    }
}

/// `InfiniBand fe80:0000:0000:0000`, `RoCE 100 Gb/s`, `Slingshot`.
impl fmt::Display for NetworkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        match *self {
            Self::InfiniBand(Some(subnet)) | Self::OmniPath(Some(subnet)) => {
                write!(f, " {}", prefix_text(subnet))
            }
            Self::Roce(Some(mbps)) | Self::Ethernet(Some(mbps)) => match mbps % 1000 {
                0 => write!(f, " {} Gb/s", mbps / 1000),
                _ => write!(f, " {mbps} Mb/s"),
            },
            _ => Ok(()),
        }
    }
}

impl<'a> Topology<'a> {
    /// The networks of the node, the one that ranks should use first: that of the greatest bandwidth
    /// together, then in the order of [`NetworkId`]. All NICs of [`Topology::nics`] are in one of
    /// them. The order depends on nothing that differs between nodes of one kind, so all ranks of a
    /// job have the same network.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// use topobroker_reader::devices::NicChoice;
    /// for network in topology.networks(NicChoice::Active) {
    ///     println!("{}: {} NICs, {} Mb/s", network.id, network.nics.len(), network.mbps);
    /// }
    /// ```
    #[must_use]
    pub fn networks(self, choice: NicChoice) -> Vec<Network<'a>> {
        self.networks_with(choice, |_| true)
    }

    /// [`Topology::networks`] of some NICs.
    #[must_use]
    pub fn networks_with(
        self,
        choice: NicChoice,
        may_be_used: impl Fn(Object<'a>) -> bool,
    ) -> Vec<Network<'a>> {
        let mut networks: Vec<Network<'a>> = Vec::new();
        for nic in self.nics(choice).filter(|nic| may_be_used(*nic)) {
            let Some(id) = NetworkId::of(nic) else { continue };
            let place = networks.iter().position(|network| network.id == id);
            let place = place.unwrap_or_else(|| {
                networks.push(Network { id, nics: Vec::new(), mbps: 0 });
                networks.len() - 1
            });
            if let Some(network) = networks.get_mut(place) {
                network.nics.push(nic);
                network.mbps = network.mbps.saturating_add(nic.link_mbps().unwrap_or(0));
            }
        }
        networks.sort_by_key(|network| (Reverse(network.mbps), network.id));
        networks
    }
}

/// The fastest active port of a device, else its first one.
fn best_port(nic: Object<'_>) -> Option<Port<'_>> {
    let active = nic.ports().filter(|port| port.is_active());
    // Of equally fast ports, the first.
    let best = active.min_by_key(|port| Reverse(port.rate_mbps().unwrap_or(0)));
    best.or_else(|| nic.ports().next())
}

/// Linux names these devices after their driver.
fn is_omni_path(nic: Object<'_>) -> bool {
    nic.name().is_some_and(|name| name.starts_with("hfi1") || name.starts_with("opap"))
}
