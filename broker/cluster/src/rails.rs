//! Rails: NICs that have the same place on their nodes are connected to the same switches, so that
//! they reach each other without a spine. Where the switches are not known, as of Ethernet, the IP
//! subnets of NICs decide.

use crate::majority::majority;
use std::collections::{BTreeMap, BTreeSet};
use topobroker_reader::{
    ObjectType, OsDeviceKind,
    cluster::{Cluster, ClusterNode, ClusterOpenError, Fabric},
    devices::NicChoice,
};

/// The rails of a cluster. A rail has the number that most of its NICs have on their nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rails {
    /// The rail of each leaf switch or subnet.
    of_leaf: BTreeMap<Leaf, usize>,
    /// The NICs that each node has in them.
    nics: BTreeMap<u32, Vec<CabledNic>>,
}

/// What NICs of a rail share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leaf {
    /// A leaf switch, by its GUID.
    Switch(u64),
    /// An IP subnet, such as `10.1.0.0/16`.
    Subnet(String),
}

/// A NIC that is on another rail than its place on the node says: a cable in the wrong switch, or
/// an address of the wrong subnet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miscabled {
    /// Its name.
    pub nic: String,
    /// Its number on the node, which is the rail that it should be on.
    pub number: usize,
    /// The rail that it is on.
    pub rail: usize,
    /// What that rail shares.
    pub leaf: Leaf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct CabledNic {
    name: String,
    /// Its number among the OpenFabrics devices of the node; among the interfaces of NICs, if it
    /// has none.
    number: usize,
    leaf: Leaf,
}

impl Rails {
    /// The rails of a cluster's fabric, or those of its IP subnets, if it has no fabric; `None` if
    /// there are none. There are, if most nodes with several NICs have them on as many leaf
    /// switches, or in as many subnets, and if most NICs of each have the same number.
    ///
    /// # Errors
    ///
    /// [`ClusterOpenError`] of the fabric, or of the first node that cannot be opened.
    pub fn of(cluster: &Cluster<'_>) -> Result<Option<Self>, ClusterOpenError> {
        let fabric = cluster.fabric()?;
        let mut nics = BTreeMap::new();
        let (mut apart, mut several) = (0, 0);
        let mut numbers: BTreeMap<Leaf, Vec<usize>> = BTreeMap::new();
        for node in cluster.nodes() {
            let own = match fabric.ports().len() {
                0 => addressed(node)?,
                _ => cabled(fabric, node)?,
            };
            let leaves: BTreeSet<&Leaf> = own.iter().map(|nic| &nic.leaf).collect();
            several += usize::from(own.len() > 1);
            apart += usize::from(own.len() > 1 && leaves.len() == own.len());
            for nic in &own {
                numbers.entry(nic.leaf.clone()).or_default().push(nic.number);
            }
            nics.insert(node.number(), own);
        }
        let of_leaf = numbers.into_iter().map(|(leaf, numbers)| Some((leaf, majority(numbers)?)));
        let of_leaf: Option<BTreeMap<Leaf, usize>> = of_leaf.collect();
        Ok(of_leaf.filter(|_| apart * 2 > several).map(|of_leaf| Self { of_leaf, nics }))
    }

    /// The names of the NICs of a node by the rail that they are on, each after that of the NIC
    /// whose place on the node is that of the rail. Empty if the node has not one NIC on each of
    /// its rails.
    #[must_use]
    pub fn on_node(&self, node: u32) -> BTreeMap<String, String> {
        let nics = self.nics.get(&node).map(Vec::as_slice).unwrap_or_default();
        let on_rail = |rail| nics.iter().find(|nic| self.of_leaf.get(&nic.leaf) == Some(&rail));
        let pairs = nics
            .iter()
            .map(|usual| Some((usual.name.clone(), on_rail(usual.number)?.name.clone())));
        pairs.collect::<Option<_>>().unwrap_or_default()
    }

    /// The NICs of a node that are on another rail than their places say.
    #[must_use]
    pub fn miscabled(&self, node: u32) -> Vec<Miscabled> {
        let nics = self.nics.get(&node).map(Vec::as_slice).unwrap_or_default();
        let wrong = nics.iter().filter_map(|nic| {
            let (number, rail) = (nic.number, *self.of_leaf.get(&nic.leaf)?);
            let (nic, leaf) = (nic.name.clone(), nic.leaf.clone());
            (rail != number).then_some(Miscabled { nic, number, rail, leaf })
        });
        wrong.collect()
    }
}

/// The NICs of a node whose ports the fabric has.
fn cabled(fabric: Fabric<'_>, node: ClusterNode<'_>) -> Result<Vec<CabledNic>, ClusterOpenError> {
    let leaves: BTreeMap<u64, u64> = fabric
        .ports_of(node)
        .filter_map(|port| Some((port.guid(), port.links().next()?.peer.guid())))
        .collect();
    let opened = node.open()?;
    let archive = opened.archive();
    let devices = archive.topology().objects_with_type(ObjectType::OSDevice);
    let fabrics = devices.filter(|it| it.os_device_kind() == Some(OsDeviceKind::OpenFabrics));
    let nics = fabrics.enumerate().filter_map(|(number, nic)| {
        let leaf = nic.ports().find_map(|port| leaves.get(&port.guid()?).copied())?;
        Some(CabledNic { name: nic.device_name().into_owned(), number, leaf: Leaf::Switch(leaf) })
    });
    Ok(nics.collect())
}

/// The NICs of a node that are in an IP subnet.
fn addressed(node: ClusterNode<'_>) -> Result<Vec<CabledNic>, ClusterOpenError> {
    let opened = node.open()?;
    let archive = opened.archive();
    let nics = archive.topology().nics(NicChoice::ActiveOrUnknown).enumerate();
    let nics = nics.filter_map(|(number, nic)| {
        let leaf = Leaf::Subnet(nic.ip_subnets().next()?.to_owned());
        Some(CabledNic { name: nic.device_name().into_owned(), number, leaf })
    });
    Ok(nics.collect())
}
