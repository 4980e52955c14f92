//! Networks of a node: NICs that reach each other. `docs/NETWORKS.md` has the rules and why they
//! are so.

use super::candidates::{NicChoice, is_slingshot};
use super::ports::{AMAZON, LinkLayer, Port, gid_in_address, prefix_text};
use crate::object::Object;
use crate::text::rate;
use crate::topology::Topology;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;
use smallvec::SmallVec;
use topobroker_layout::attributes::OsDeviceKind;

/// A network, by what is the same on every node that it reaches. Of two networks with the same
/// bandwidth, ranks use the one that comes first in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NetworkId {
    /// InfiniBand, by the prefix of its subnet; `None` if it is not known.
    InfiniBand(Option<u64>),
    /// Slingshot of HPE.
    Slingshot,
    /// Omni-Path, by the prefix of its subnet.
    OmniPath(Option<u64>),
    /// EFA of Amazon.
    Efa,
    /// Ethernet with RDMA (RoCE, iWARP), by the rate of its ports in Mb/s: it is not known which
    /// ports reach each other, but those of one network are alike.
    Roce(Option<u64>),
    /// Ethernet, by its rate in Mb/s.
    Ethernet(Option<u64>),
}

/// How much of a network a node has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkShare {
    /// What the network is.
    pub id: NetworkId,
    /// Number of the node's NICs in it.
    pub nics: usize,
    /// The sum of the rates of their fastest active ports, in Mb/s: unknown rates count as 0.
    pub mbps: u64,
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
    /// The network of a NIC: that of its fastest active port, otherwise of its first port. `None`
    /// if the object is no NIC.
    #[must_use]
    pub fn of(nic: Object<'_>) -> Option<Self> {
        Self::and_rate(nic).map(|(id, _)| id)
    }

    /// The network of a NIC, and its rate in Mb/s.
    fn and_rate(nic: Object<'_>) -> Option<(Self, Option<u64>)> {
        if is_slingshot(nic) {
            return Some((Self::Slingshot, nic.link_mbps()));
        }
        match nic.os_device_kind()? {
            OsDeviceKind::OpenFabrics => {
                let Some(port) = best_port(nic) else {
                    return Some((Self::InfiniBand(None), None));
                };
                let rate = port.rate_mbps().filter(|_| port.is_active());
                Some((Self::of_port(nic, port), rate))
            }
            OsDeviceKind::Network => {
                let (rate, gid) = (nic.link_mbps(), nic.info("Address").and_then(gid_in_address));
                let subnet = gid.and_then(|gid| u64::try_from(gid.to_bits() >> 64).ok());
                let id = subnet.map_or(Self::Ethernet(rate), |it| Self::InfiniBand(Some(it)));
                Some((id, rate))
            }
            _ => None,
        }
    }

    fn of_port(nic: Object<'_>, port: Port<'_>) -> Self {
        // No subnet manager has set a prefix of 0.
        let subnet = port.subnet_prefix().filter(|subnet| *subnet != 0);
        match port.link_layer() {
            Some(LinkLayer::Ethernet) => Self::Roce(port.rate_mbps()),
            Some(LinkLayer::Other) if nic.pci_vendor() == Some(AMAZON) => Self::Efa,
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
            Self::Roce(Some(mbps)) | Self::Ethernet(Some(mbps)) => {
                write!(f, " {}", rate(mbps))
            }
            _ => Ok(()),
        }
    }
}

impl<'a> Topology<'a> {
    /// The networks of the node, the one that ranks should use first: that of the greatest
    /// bandwidth together, then in the order of [`NetworkId`]. All NICs of [`Topology::nics`] are
    /// in one of them. The order depends on nothing that differs between nodes of one kind, so all
    /// ranks of a job have the same network.
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
        let nics = || self.nics(choice).filter(|nic| may_be_used(*nic));
        let networks = shares(nics()).into_iter().map(|NetworkShare { id, mbps, .. }| {
            let nics = nics().filter(|nic| NetworkId::of(*nic) == Some(id));
            Network { id, nics: nics.collect(), mbps }
        });
        networks.collect()
    }

    /// [`Topology::networks`] without the NICs. It takes no memory, unless there are more than
    /// eight.
    pub fn network_shares(self, choice: NicChoice) -> impl Iterator<Item = NetworkShare> {
        shares(self.nics(choice)).into_iter()
    }

    /// The NICs of a network, in logical order.
    pub fn nics_of_network(
        self,
        choice: NicChoice,
        network: NetworkId,
    ) -> impl Iterator<Item = Object<'a>> {
        self.nics(choice).filter(move |nic| NetworkId::of(*nic) == Some(network))
    }
}

/// The networks of some NICs, the best first.
fn shares<'a>(nics: impl Iterator<Item = Object<'a>>) -> SmallVec<[NetworkShare; 8]> {
    let mut shares: SmallVec<[NetworkShare; 8]> = SmallVec::new();
    for nic in nics {
        let Some((id, rate)) = NetworkId::and_rate(nic) else { continue };
        let place = shares.iter().position(|share| share.id == id);
        let place = place.unwrap_or_else(|| {
            shares.push(NetworkShare { id, nics: 0, mbps: 0 });
            shares.len() - 1
        });
        if let Some(share) = shares.get_mut(place) {
            share.nics += 1;
            share.mbps = share.mbps.saturating_add(rate.unwrap_or(0));
        }
    }
    shares.sort_unstable_by_key(|share| (Reverse(share.mbps), share.id));
    shares
}

/// The fastest active port of a device, otherwise its first one.
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
