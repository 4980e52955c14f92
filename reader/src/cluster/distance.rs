//! How far nodes are from each other by the fabric.

use super::fabric::{Fabric, FabricVertex};
use super::node::ClusterNode;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// The way between two nodes by the fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FabricPath {
    /// Number of links, 2 if both nodes are at one switch.
    pub hops: u32,
    /// What the narrowest link of the way carries in Mb/s of data; of several ways of as few links,
    /// the widest one counts. `None` if no rate on it is known.
    pub mbps: Option<u32>,
    /// Whether the rate of a link of the way is unknown, so that it may carry less.
    pub has_unknown: bool,
}

/// How far all nodes are from one node.
pub struct NodeDistances {
    /// By number of the node.
    found: Vec<Option<FabricPath>>,
}

impl<'a> Fabric<'a> {
    /// Searches the ways from all ports of a node.
    ///
    /// ```no_run
    /// let cluster = topobroker_reader::cluster::adopt_cluster()?;
    /// let own = cluster.local().ok_or("this node is not in the cluster")?;
    /// let distances = cluster.fabric()?.distances_from(own);
    /// for node in cluster.nodes() {
    ///     println!("{}: {:?}", node.name(), distances.to(node));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn distances_from(self, node: ClusterNode<'a>) -> NodeDistances {
        let found = self.ways_from(self.ports_of(node));
        let mut of_nodes: Vec<Option<FabricPath>> = vec![None; self.node_count()];
        for port in self.ports() {
            let way = found.get(port.number()).copied().flatten();
            let of_node = port.node_number().and_then(|it| of_nodes.get_mut(it as usize));
            if let (Some(way), Some(best)) = (way, of_node) {
                *best = Some(best.map_or(way, |best| best.or_nearer(way)));
            }
        }
        NodeDistances { found: of_nodes }
    }

    /// The way between two ports; `None` if there is none.
    #[must_use]
    pub fn way(self, one: FabricVertex<'a>, other: FabricVertex<'a>) -> Option<FabricPath> {
        self.ways_from(core::iter::once(one)).get(other.number()).copied().flatten()
    }

    /// Least number of links between a vertex of one set and a vertex of another, searched.
    #[cold]
    pub(super) fn search(
        self,
        from: impl Iterator<Item = FabricVertex<'a>>,
        to: impl Iterator<Item = FabricVertex<'a>>,
    ) -> Option<u32> {
        let found = self.ways_from(from);
        let way = |vertex: FabricVertex<'_>| found.get(vertex.number()).copied().flatten();
        to.filter_map(way).map(|way| way.hops).min()
    }

    /// How many pairs of ports are how many links apart, `None` if they are not connected. Ports
    /// that are linked to the same vertices are looked at together.
    #[must_use]
    pub fn port_pairs(self) -> BTreeMap<Option<u32>, u64> {
        let mut alike: BTreeMap<Vec<usize>, Vec<FabricVertex<'a>>> = BTreeMap::new();
        for port in self.ports() {
            let mut peers: Vec<usize> = port.links().map(|link| link.peer.number()).collect();
            peers.sort_unstable();
            peers.dedup();
            alike.entry(peers).or_default().push(port);
        }
        let mut pairs: BTreeMap<Option<u32>, u64> = BTreeMap::new();
        let mut add = |hops, count| *pairs.entry(hops).or_default() += count;
        let groups: Vec<(Vec<usize>, Vec<FabricVertex<'a>>)> = alike.into_iter().collect();
        for (place, (peers, ports)) in groups.iter().enumerate() {
            let count = ports.len() as u64;
            let inside = count * (count - 1) / 2;
            if inside > 0 {
                add(if peers.is_empty() { None } else { Some(2) }, inside);
            }
            let Some(first) = ports.first() else { continue };
            let found = self.ways_from(core::iter::once(*first));
            for (_, others) in groups.iter().skip(place + 1) {
                let other = others.first().map_or(usize::MAX, |other| other.number());
                let way = found.get(other).copied().flatten();
                add(way.map(|way| way.hops), count * others.len() as u64);
            }
        }
        pairs
    }

    /// The ways from some vertices to all, by number of the vertex.
    fn ways_from(self, starts: impl Iterator<Item = FabricVertex<'a>>) -> Vec<Option<FabricPath>> {
        let mut found: Vec<Option<FabricPath>> = vec![None; self.vertex_count()];
        let mut open: VecDeque<FabricVertex<'a>> = VecDeque::new();
        let start = FabricPath { hops: 0, mbps: None, has_unknown: false };
        for port in starts {
            found.get_mut(port.number()).into_iter().for_each(|it| *it = Some(start));
            open.push_back(port);
        }
        while let Some(vertex) = open.pop_front() {
            let Some(so_far) = found.get(vertex.number()).copied().flatten() else { continue };
            // Ports of nodes forward nothing.
            if so_far.hops > 0 && !vertex.is_switch() {
                continue;
            }
            for link in vertex.links() {
                let next = so_far.after(link.mbps);
                let Some(known) = found.get_mut(link.peer.number()) else { continue };
                match known {
                    None => {
                        *known = Some(next);
                        open.push_back(link.peer);
                    }
                    // A vertex is left only after all of its ways of as few links have come in.
                    Some(known) if known.hops == next.hops => *known = known.or_wider(next),
                    Some(_) => {}
                }
            }
        }
        found
    }
}

impl NodeDistances {
    /// The way to a node: of those between all ports the one of the fewest links, then the widest.
    /// `None` if there is none.
    #[must_use]
    pub fn to(&self, node: ClusterNode<'_>) -> Option<FabricPath> {
        self.found.get(node.number() as usize).copied().flatten()
    }
}

impl FabricPath {
    fn after(self, mbps: Option<u32>) -> Self {
        Self {
            hops: self.hops + 1,
            mbps: self.mbps.into_iter().chain(mbps).min(),
            has_unknown: self.has_unknown || mbps.is_none(),
        }
    }

    /// The way of fewer links, or the wider of two that have as many.
    fn or_nearer(self, other: Self) -> Self {
        match self.hops.cmp(&other.hops) {
            Ordering::Less => self,
            Ordering::Equal => self.or_wider(other),
            Ordering::Greater => other,
        }
    }

    /// The wider of two ways; one whose rates are known is preferred.
    fn or_wider(self, other: Self) -> Self {
        let rank = |it: &Self| (!it.has_unknown, it.mbps);
        if rank(&other) > rank(&self) { other } else { self }
    }
}
