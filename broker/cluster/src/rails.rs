//! Rails of a fabric: NICs that have the same place on their nodes are connected to the same switches,
//! so that they reach each other without a spine.

use crate::majority::majority;
use std::collections::{BTreeMap, BTreeSet};
use topobroker_reader::{
    ObjectType, OsDeviceKind,
    cluster::{Cluster, ClusterNode, ClusterOpenError, Fabric},
};

/// The rails of a fabric. A rail has the number that most of its NICs have on their nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rails {
    /// The rail of each leaf switch, by the GUID of the switch.
    of_leaf: BTreeMap<u64, usize>,
    /// The NICs that each node has in the fabric.
    nics: BTreeMap<u32, Vec<CabledNic>>,
}

/// A NIC that is on another rail than its place on the node says: a cable in the wrong switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miscabled {
    /// Its name.
    pub nic: String,
    /// Its number on the node, which is the rail that it should be on.
    pub number: usize,
    /// The rail that it is on.
    pub rail: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct CabledNic {
    name: String,
    /// Its number among the OpenFabrics devices of the node.
    number: usize,
    leaf: u64,
}

impl Rails {
    /// The rails of a cluster's fabric; `None` if it is not made of rails. It is, if most nodes with
    /// several NICs have them on as many leaf switches, and if most NICs of each leaf have the same
    /// number.
    ///
    /// # Errors
    ///
    /// [`ClusterOpenError`] of the fabric, or of the first node that cannot be opened.
    pub fn of(cluster: &Cluster<'_>) -> Result<Option<Self>, ClusterOpenError> {
        let fabric = cluster.fabric()?;
        let mut nics = BTreeMap::new();
        let (mut apart, mut several) = (0, 0);
        let mut numbers: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for node in cluster.nodes() {
            let own = cabled(fabric, node)?;
            let leaves: BTreeSet<u64> = own.iter().map(|nic| nic.leaf).collect();
            several += usize::from(own.len() > 1);
            apart += usize::from(own.len() > 1 && leaves.len() == own.len());
            for nic in &own {
                numbers.entry(nic.leaf).or_default().push(nic.number);
            }
            nics.insert(node.number(), own);
        }
        let of_leaf = numbers.into_iter().map(|(leaf, numbers)| Some((leaf, majority(numbers)?)));
        let of_leaf: Option<BTreeMap<u64, usize>> = of_leaf.collect();
        Ok(of_leaf.filter(|_| apart * 2 > several).map(|of_leaf| Self { of_leaf, nics }))
    }

    /// The names of the NICs of a node by the rail that they are on, each after that of the NIC whose
    /// place on the node is that of the rail. Empty if the node has not one NIC on each of its rails.
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
            (rail != number).then(|| Miscabled { nic: nic.name.clone(), number, rail })
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
        Some(CabledNic { name: nic.device_name().into_owned(), number, leaf })
    });
    Ok(nics.collect())
}
