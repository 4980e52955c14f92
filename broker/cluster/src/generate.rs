//! Clusters that do not exist, for tests and measurements: nodes like a real one, and a tree of
//! switches above them.

use super::builder::{ClusterBuilder, GroupId};
use super::error::ClusterError;
use super::fabric::{End, FabricError, FabricGraph};
use topobroker_layout::attributes::Attributes;
use topobroker_layout::description::{Description, Object};
use topobroker_reader::cluster::GroupKind;

/// Makes nodes that are like one node, and differ as the nodes of real clusters do: names,
/// addresses, GUIDs, serial numbers, and a few pages of memory.
#[derive(Debug, Clone)]
pub struct Like(Description);

impl Like {
    /// Nodes like this one.
    #[must_use]
    pub fn new(example: Description) -> Self {
        Self(example)
    }

    /// Name of a node.
    #[must_use]
    pub fn name(number: u32) -> String {
        format!("node{number:06}")
    }

    /// A node. The same number gives the same node.
    #[must_use]
    pub fn node(&self, number: u32) -> Description {
        let mut node = self.0.clone();
        for (object, place) in node.objects.iter_mut().zip(0_u64..) {
            change(object, number, place);
        }
        node
    }
}

fn change(object: &mut Object, number: u32, place: u64) {
    let mixed = mix(u64::from(number) << 20 | place);
    for (name, value) in &mut object.infos {
        match name.as_str() {
            "HostName" => *value = Like::name(number),
            "Address" | "NodeGUID" | "SysImageGUID" => {
                *value = with_last_digits(value, 4 * u64::from(number) + place % 4);
            }
            name if name.starts_with("Port") && name.ends_with("GID0") => {
                *value = with_last_digits(value, 4 * u64::from(number) + 1);
            }
            name if name.starts_with("Port") && name.ends_with("LID") => {
                *value = format!("{:#x}", number % 49_151 + 1);
            }
            name if name.ends_with("Serial") || name.ends_with("SerialNumber") => {
                *value = with_last_digits(value, mixed % 100_000_000);
            }
            _ => {}
        }
    }
    if let Attributes::NumaNode { local_memory } = &mut object.attributes {
        let pages = mixed % 64;
        *local_memory = local_memory.saturating_sub(4096 * pages);
        let small = object.page_types.iter_mut().find(|page| page.size == 4096);
        small.into_iter().for_each(|page| page.count = page.count.saturating_sub(pages));
    }
}

/// The text with its last hexadecimal digits replaced by those of a number, six at most.
fn with_last_digits(text: &str, number: u64) -> String {
    let mut left = number;
    let (mut letters, mut count): (Vec<char>, u32) = (text.chars().collect(), 0);
    for letter in letters.iter_mut().rev().filter(|letter| letter.is_ascii_hexdigit()) {
        if count < 6 {
            let digit = u32::try_from(left % 16).unwrap_or(0);
            *letter = char::from_digit(digit, 16).unwrap_or('0');
            left /= 16;
            count += 1;
        }
    }
    letters.into_iter().collect()
}

/// A number that looks random (`SplitMix64`).
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A tree of switches: leaves with `nodes_a_leaf` nodes, spines above each `leaves_a_pod` leaves,
/// and one level of core switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwitchTree {
    /// Number of nodes at a leaf switch.
    pub nodes_a_leaf: u32,
    /// Number of leaf switches of a pod.
    pub leaves_a_pod: u32,
    /// Number of links from a leaf to the spines of its pod, and of spines of a pod.
    pub spines_a_pod: u32,
}

impl SwitchTree {
    /// Adds a group for each pod and leaf, moves the nodes into them, and sets the fabric. The
    /// nodes are those of [`Like`], with the numbers below `count`.
    ///
    /// # Errors
    ///
    /// [`ClusterError`].
    pub fn add_to(&self, cluster: &mut ClusterBuilder, count: u32) -> Result<(), ClusterError> {
        let (a_leaf, a_pod) = (self.nodes_a_leaf.max(1), self.leaves_a_pod.max(1));
        let mut pod = GroupId::CLUSTER;
        let mut leaf = GroupId::CLUSTER;
        for number in 0..count {
            if number % (a_leaf * a_pod) == 0 {
                let name = format!("pod{}", number / (a_leaf * a_pod));
                pod = cluster.add_group(GroupId::CLUSTER, GroupKind::Switch, &name)?;
            }
            if number % a_leaf == 0 {
                let name = format!("leaf{}", number / a_leaf);
                leaf = cluster.add_group(pod, GroupKind::Switch, &name)?;
            }
            cluster.move_node(&Like::name(number), leaf)?;
        }
        cluster.set_fabric(self.fabric(count)?);
        Ok(())
    }

    /// The switches and links as a graph: one port a node.
    ///
    /// # Errors
    ///
    /// None with numbers that fit into ports.
    pub fn fabric(&self, count: u32) -> Result<FabricGraph, FabricError> {
        let (a_leaf, a_pod) = (self.nodes_a_leaf.max(1), self.leaves_a_pod.max(1));
        let leaves = count.div_ceil(a_leaf);
        let (leaf, spine, core) = (0x1_0000_0000_u64, 0x2_0000_0000_u64, 0x3_0000_0000_u64);
        let port = |number: u32| u16::try_from(number + 1).unwrap_or(u16::MAX);
        let mut graph = FabricGraph::default();
        for number in 0..count {
            let own = End { guid: 0x10_0000_0000 + u64::from(number), port: 1 };
            let at = End { guid: leaf + u64::from(number / a_leaf), port: port(number % a_leaf) };
            graph.link_host(own, at, &Like::name(number), Some(32_000))?;
        }
        for number in 0..leaves {
            for up in 0..self.spines_a_pod {
                let pod = number / a_pod;
                let own = End { guid: leaf + u64::from(number), port: port(a_leaf + up) };
                let above = spine + u64::from(pod * self.spines_a_pod + up);
                let at = End { guid: above, port: port(number % a_pod) };
                graph.link_switches(own, at, Some(32_000))?;
            }
        }
        for pod in 0..leaves.div_ceil(a_pod) {
            for up in 0..self.spines_a_pod {
                let own = End {
                    guid: spine + u64::from(pod * self.spines_a_pod + up),
                    port: port(a_pod),
                };
                let at = End { guid: core + u64::from(up), port: port(pod) };
                graph.link_switches(own, at, Some(32_000))?;
            }
        }
        Ok(graph)
    }
}
