//! Which ports of two nodes reach each other, by the rules of the libraries that use them.

use super::fabric::mbps_of_rate;
use std::collections::BTreeMap;
use topobroker::findings::{named, worded};
use topobroker_reader::{
    ObjectType, Topology,
    devices::{LinkLayer, Port, PortState, prefix_text},
};

/// By whose rule ports reach each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReachRule {
    /// Open MPI's openib BTL: ports of one subnet prefix.
    OpenIb,
    /// The same, with an InfiniBand router between subnets: all active ports.
    OpenIbRouter,
    /// UCX: ports of one subnet prefix, or with a router, whose partition keys match.
    Ucx,
}

impl ReachRule {
    /// What the rule says, in one sentence.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::OpenIb => "openib: active ports of one subnet prefix reach each other",
            Self::OpenIbRouter => {
                "openib+router: active ports reach each other, whatever their subnet prefixes"
            }
            Self::Ucx => {
                "ucx: active ports of one link layer reach each other: over InfiniBand if they \
                 have one subnet prefix, or both a router's (FLID), and a partition key in common \
                 of which one is a full member; over Ethernet if IP has a way, which is not known \
                 here"
            }
        }
    }
}

/// A port that is not paired, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpaired {
    /// Device and number, such as `mlx5_0:1`.
    pub port: String,
    /// Why it is not paired.
    pub reason: String,
}

/// A pair of ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortPair {
    /// Port of the first node.
    pub one: String,
    /// Port of the second node.
    pub other: String,
    /// The subnet prefix of the first.
    pub subnet: u64,
    /// Data that both can carry in one direction, in Mb/s; `None` if unknown.
    pub mbps: Option<u32>,
    /// The rates of both as Linux words them, where they are known.
    pub rates: [Option<String>; 2],
    /// What this pair carries of a long message that goes over all pairs, in thousandths; `None` if
    /// the data of a pair is unknown.
    pub share: Option<u32>,
}

/// The pairs of ports of two nodes, and what is left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortPairs {
    /// The k-th active port of each subnet of one node with the k-th of the other.
    pub pairs: Vec<PortPair>,
    /// Ports of the first node without a pair.
    pub left: Vec<Unpaired>,
    /// Ports of the second node without a pair.
    pub right: Vec<Unpaired>,
}

/// What is known of a port.
#[derive(Debug, Clone)]
struct Known {
    name: String,
    state: Option<PortState>,
    layer: Option<LinkLayer>,
    gids: [Option<u128>; 2],
    keys: Vec<u16>,
    rate: Option<String>,
    /// The connected part of the fabric that the port is in, if that is what counts.
    plane: Option<u16>,
}

/// The connected part of a fabric that each port is in, by its GUID.
pub type Planes = BTreeMap<u64, u16>;

/// Prefixes that end in a router's number of the subnet (FLID) start so: site-local ones.
const SITE_LOCAL: u16 = 0xfec0;

/// Whether any port of one node reaches one of the other, and by which ports. With `planes`, ports
/// in one connected part of the fabric are on one subnet, whatever their prefixes are.
#[must_use]
pub fn reach(
    one: Topology<'_>,
    other: Topology<'_>,
    rule: ReachRule,
    planes: Option<&Planes>,
) -> Vec<(String, String)> {
    let (left, right) = (known(one, planes), known(other, planes));
    let all = left.iter().flat_map(|one| right.iter().map(move |other| (one, other)));
    let reached = all.filter(|(one, other)| reaches(one, other, rule).is_ok());
    reached.map(|(one, other)| (one.name.clone(), other.name.clone())).collect()
}

/// Pairs ports as Open MPI's openib BTL does: of each subnet, the first active port of one node
/// with the first of the other, the second with the second. `planes` is that of [`reach`].
#[must_use]
pub fn port_pairs(
    one: Topology<'_>,
    other: Topology<'_>,
    rule: ReachRule,
    planes: Option<&Planes>,
) -> PortPairs {
    let (left, right) = (known(one, planes), known(other, planes));
    let mut used = vec![false; right.len()];
    let mut pairs = PortPairs::default();
    for one in &left {
        let mut reasons = Vec::new();
        let mut found = None;
        for (place, other) in right.iter().enumerate() {
            match reaches(one, other, rule) {
                Ok(()) if used.get(place) == Some(&false) => {
                    found = Some((place, other));
                    break;
                }
                Ok(()) => reasons.push("not enough ports on the other node".to_owned()),
                Err(reason) => reasons.push(reason),
            }
        }
        match found {
            Some((place, other)) => {
                used.get_mut(place).into_iter().for_each(|used| *used = true);
                pairs.pairs.push(PortPair {
                    one: one.name.clone(),
                    other: other.name.clone(),
                    subnet: one.prefix().unwrap_or(0),
                    mbps: one.mbps().zip(other.mbps()).map(|(one, other)| one.min(other)),
                    rates: [one.rate.clone(), other.rate.clone()],
                    share: None,
                });
            }
            None => pairs.left.push(unpaired(one, reasons)),
        }
    }
    for (place, other) in right.iter().enumerate() {
        if used.get(place) == Some(&false) {
            let reasons = left.iter().map(|one| match reaches(other, one, rule) {
                Ok(()) => "not enough ports on the other node".to_owned(),
                Err(reason) => reason,
            });
            pairs.right.push(unpaired(other, reasons.collect()));
        }
    }
    let data: Option<Vec<u64>> = pairs.pairs.iter().map(|pair| pair.mbps.map(u64::from)).collect();
    let sum = data.as_ref().map(|all| all.iter().sum::<u64>());
    for pair in &mut pairs.pairs {
        let share =
            sum.zip(pair.mbps).and_then(|(sum, own)| (u64::from(own) * 1000).checked_div(sum));
        pair.share = share.and_then(|share| u32::try_from(share).ok());
    }
    pairs
}

/// The reason that says most: what is wrong with the port itself, otherwise that there are too few
/// that it would reach.
fn unpaired(port: &Known, mut reasons: Vec<String>) -> Unpaired {
    reasons.sort_by_key(|reason| !reason.starts_with("not enough"));
    let none = || "the other node has no ports".to_owned();
    let reason = match port.is_active() {
        Err(what) => what,
        Ok(()) => reasons.into_iter().next().unwrap_or_else(none),
    };
    Unpaired { port: port.name.clone(), reason }
}

fn known(topology: Topology<'_>, planes: Option<&Planes>) -> Vec<Known> {
    let devices = topology.objects_with_type(ObjectType::OSDevice);
    let known = |port: Port<'_>| Known {
        name: named(port),
        state: port.state(),
        layer: port.link_layer(),
        gids: [0, 1].map(|index| port.gid(index).map(|gid| gid.to_bits())),
        keys: port.pkeys().collect(),
        rate: port.rate().map(str::to_owned),
        plane: planes.and_then(|planes| planes.get(&port.guid()?).copied()),
    };
    devices.flat_map(|device| device.ports()).map(known).collect()
}

impl Known {
    fn mbps(&self) -> Option<u32> {
        mbps_of_rate(self.rate.as_deref()?)
    }

    /// What its state is, if that is not active.
    fn is_active(&self) -> Result<(), String> {
        match self.state {
            Some(PortState::Active) => Ok(()),
            None => Err("is of unknown state".to_owned()),
            state => Err(format!("is {}", worded(state))),
        }
    }

    fn prefix(&self) -> Option<u64> {
        let [gid, _] = self.gids;
        u64::try_from(gid? >> 64).ok()
    }

    /// The router's number of the subnet: the last 16 bits of a site-local prefix.
    fn router_subnet(&self) -> Option<u16> {
        let prefixes = self.gids.iter().flatten().map(|gid| (gid >> 64) as u64);
        let mut numbers = prefixes
            .filter(|prefix| (prefix >> 48) as u16 == SITE_LOCAL)
            .map(|prefix| (prefix & 0xffff) as u16);
        numbers.find(|number| *number != 0)
    }
}

/// Whether one port reaches another, or why not.
fn reaches(one: &Known, other: &Known, rule: ReachRule) -> Result<(), String> {
    one.is_active()?;
    other.is_active().map_err(|what| format!("{} of the other node {what}", other.name))?;
    if one.layer != other.layer {
        return Err("one is InfiniBand and the other is not, or of unknown layer".to_owned());
    }
    if one.layer == Some(LinkLayer::Ethernet) && rule != ReachRule::Ucx {
        return Err("over Ethernet, subnets are those of IP, which are not known here".to_owned());
    }
    let (Some(subnet), Some(other_subnet)) = (one.prefix(), other.prefix()) else {
        return Err("the subnet prefix of one is unknown".to_owned());
    };
    if let Some((plane, other_plane)) = one.plane.zip(other.plane)
        && plane != other_plane
        && rule != ReachRule::OpenIbRouter
    {
        return Err("the fabric has no way between them".to_owned());
    }
    let same = subnet == other_subnet || one.plane.zip(other.plane).is_some();
    let differ =
        || format!("subnet {} here and {} there", prefix_text(subnet), prefix_text(other_subnet));
    match rule {
        ReachRule::OpenIb if same => Ok(()),
        ReachRule::OpenIb => Err(differ()),
        ReachRule::OpenIbRouter => Ok(()),
        ReachRule::Ucx => {
            let routed = one.router_subnet().is_some() && other.router_subnet().is_some();
            if !same && !routed && one.layer != Some(LinkLayer::Ethernet) {
                return Err(differ());
            }
            keys_match(&one.keys, &other.keys)
        }
    }
}

/// Whether two ports have a partition key in common: its low 15 bits, and one of them a full
/// member. A port without known keys has the default one, as a full member.
fn keys_match(one: &[u16], other: &[u16]) -> Result<(), String> {
    const FULL: u16 = 0x8000;
    let keys = |keys: &[u16]| if keys.is_empty() { vec![0xffff] } else { keys.to_vec() };
    let (one, other) = (keys(one), keys(other));
    let all = one.iter().flat_map(|key| other.iter().map(move |other| (*key, *other)));
    let mut common = all.filter(|(key, other)| (key ^ other) & !FULL == 0 && key & !FULL != 0);
    let is_full = |(key, other): (u16, u16)| (key | other) & FULL != 0;
    match common.clone().next() {
        None => Err("no partition key in common".to_owned()),
        Some((key, _)) if !common.any(is_full) => {
            Err(format!("both are limited members of partition {key:#06x}"))
        }
        Some(_) => Ok(()),
    }
}
