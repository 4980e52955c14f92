//! How far nodes are from each other by the fabric.

use super::fabric::{Fabric, FabricVertex};
use super::node::ClusterNode;
use alloc::collections::VecDeque;
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
    /// let cluster = topobroker_reader::adopt_cluster()?;
    /// let own = cluster.local().ok_or("this node is not in the cluster")?;
    /// let distances = cluster.fabric()?.distances_from(own);
    /// for node in cluster.nodes() {
    ///     println!("{}: {:?}", node.name(), distances.to(node));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn distances_from(self, node: ClusterNode<'a>) -> NodeDistances {
        let mut found: Vec<Option<FabricPath>> = vec![None; self.vertex_count()];
        let mut open: VecDeque<FabricVertex<'a>> = VecDeque::new();
        let start = FabricPath { hops: 0, mbps: None, has_unknown: false };
        for port in self.ports_of(node) {
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
