//! The tree that a fabric is for a batch system: nodes that share leaf switches, and the switches that
//! join them.

use super::graph::FabricGraph;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A group of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    /// A name that no other group has.
    pub(crate) name: String,
    /// The place of the group that it is in; it comes first.
    pub(crate) above: Option<usize>,
    /// Numbers of the nodes that are directly in it.
    pub(crate) nodes: Vec<usize>,
}

impl FabricGraph {
    /// The groups of nodes, each before those in it. `nodes` has the node of each port. Nodes with the same
    /// leaf switches are one group, named after the leaf that most of them are at: on rails each node is at
    /// several. Groups that a level of switches joins are in a group of the first of these switches.
    pub(crate) fn units(&self, nodes: &BTreeMap<u64, usize>) -> Vec<Unit> {
        let names = self.switch_names();
        let mut tree = Tree { units: self.leaf_units(nodes, &names), tops: BTreeMap::new() };
        let level = self.levels();
        let highest = level.values().copied().max().unwrap_or(0);
        for height in 0..=highest {
            self.join(&mut tree, height, &level, &names);
        }
        tree.in_order()
    }

    /// The groups of nodes at leaf switches, with the leaves of each.
    fn leaf_units(
        &self,
        nodes: &BTreeMap<u64, usize>,
        names: &BTreeMap<u64, String>,
    ) -> Vec<(Unit, BTreeSet<u64>)> {
        let mut at_leaf: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
        for (port, node) in nodes {
            if let Some(leaf) = self.leaf_of(*port) {
                at_leaf.entry(leaf).or_default().insert(*node);
            }
        }
        let mut leaves: Vec<(u64, BTreeSet<usize>)> = at_leaf.into_iter().collect();
        leaves.sort_by_key(|(leaf, nodes)| (Reverse(nodes.len()), *leaf));
        let mut units: Vec<(Unit, BTreeSet<u64>)> = Vec::new();
        let mut unit_of: BTreeMap<usize, usize> = BTreeMap::new();
        for (leaf, nodes) in leaves {
            let own: BTreeSet<usize> =
                nodes.iter().filter_map(|it| unit_of.get(it)).copied().collect();
            let free: Vec<usize> =
                nodes.iter().filter(|it| !unit_of.contains_key(it)).copied().collect();
            // Of the nodes of a unit, a few have no cable to the leaf that the unit is named after.
            let is_same = own.len() == 1 && nodes.len() >= 4 * free.len();
            let place = own.first().copied().filter(|_| is_same || free.is_empty());
            let place = place.unwrap_or_else(|| {
                let name = names.get(&leaf).cloned().unwrap_or_default();
                units.push((Unit { name, above: None, nodes: Vec::new() }, BTreeSet::new()));
                units.len() - 1
            });
            unit_of.extend(free.iter().map(|node| (*node, place)));
            if let Some((unit, leaves)) = units.get_mut(place) {
                unit.nodes.extend(free);
                leaves.insert(leaf);
            }
        }
        units
    }

    /// How many switches away from one with hosts each switch is.
    fn levels(&self) -> BTreeMap<u64, usize> {
        let is_host = |guid: &u64| self.ports.contains_key(guid);
        let leaves = self.links.iter().filter(|(_, (peer, _))| is_host(&peer.guid));
        let mut level: BTreeMap<u64, usize> =
            leaves.map(|(end, _)| (end.guid, 0)).filter(|(guid, _)| !is_host(guid)).collect();
        let mut open: VecDeque<u64> = level.keys().copied().collect();
        while let Some(switch) = open.pop_front() {
            let next = level.get(&switch).map_or(0, |own| own + 1);
            for peer in self.switches_beside(switch) {
                level.entry(peer).or_insert_with(|| {
                    open.push_back(peer);
                    next
                });
            }
        }
        level
    }

    fn switches_beside(&self, switch: u64) -> impl Iterator<Item = u64> {
        let from = super::graph::End { guid: switch, port: 0 };
        let own = self.links.range(from..).take_while(move |(end, _)| end.guid == switch);
        own.map(|(_, (peer, _))| peer.guid).filter(|peer| self.switches.contains_key(peer))
    }

    /// Joins groups that switches up to a level connect.
    fn join(
        &self,
        tree: &mut Tree,
        height: usize,
        level: &BTreeMap<u64, usize>,
        names: &BTreeMap<u64, String>,
    ) {
        let is_low = |switch: &u64| level.get(switch).is_some_and(|own| *own <= height);
        let mut seen: BTreeSet<u64> = BTreeSet::new();
        for first in level.keys().filter(|switch| is_low(switch)) {
            if !seen.insert(*first) {
                continue;
            }
            let (mut connected, mut next) = (vec![*first], 0);
            while let Some(switch) = connected.get(next).copied() {
                let beside = self.switches_beside(switch).filter(is_low);
                connected.extend(beside.filter(|peer| seen.insert(*peer)));
                next += 1;
            }
            connected.sort_unstable();
            let top = connected.iter().find(|switch| level.get(switch) == Some(&height));
            // Leaves that are connected with each other have no switch above.
            let top = top.filter(|_| height > 0).and_then(|switch| names.get(switch));
            tree.join(&connected, top, height);
        }
    }

    /// The names of switches as one word each, which no other switch has.
    fn switch_names(&self) -> BTreeMap<u64, String> {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
        let word = |name: &str| -> String {
            name.chars().map(|it| if is_plain(it) { it } else { '_' }).take(40).collect()
        };
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        self.switches.values().for_each(|it| *count.entry(word(&it.name)).or_default() += 1);
        let names = self.switches.iter().map(|(guid, switch)| {
            let name = word(&switch.name);
            let is_own = !name.is_empty() && count.get(&name) == Some(&1);
            (*guid, if is_own { name } else { format!("{name}-{guid:016x}") })
        });
        names.collect()
    }
}

/// Groups while they are joined.
struct Tree {
    units: Vec<(Unit, BTreeSet<u64>)>,
    /// The group that each leaf switch is in so far; at the start there is none.
    tops: BTreeMap<u64, usize>,
}

impl Tree {
    /// Puts the highest groups of these switches into one.
    fn join(&mut self, switches: &[u64], top: Option<&String>, height: usize) {
        if self.tops.is_empty() {
            let leaves = self.units.iter().zip(0..);
            self.tops =
                leaves.flat_map(|((_, own), at)| own.iter().map(move |it| (*it, at))).collect();
        }
        let below: BTreeSet<usize> =
            switches.iter().filter_map(|it| self.tops.get(it)).copied().collect();
        // A single group is in one of the switches above it, but of one level only.
        let is_new = below.len() > 1 || (below.len() == 1 && height == 1 && top.is_some());
        if !is_new {
            return;
        }
        let name = top.cloned().unwrap_or_else(|| {
            let first = below.first().and_then(|at| self.units.get(*at));
            format!("fabric-{}", first.map_or("", |(unit, _)| &unit.name))
        });
        let place = self.units.len();
        self.units.push((Unit { name, above: None, nodes: Vec::new() }, BTreeSet::new()));
        for (at, (unit, _)) in self.units.iter_mut().enumerate() {
            if below.contains(&at) {
                unit.above = Some(place);
            }
        }
        self.tops.values_mut().filter(|at| below.contains(at)).for_each(|at| *at = place);
    }

    /// The groups, each before those in it: those that were made last are the highest.
    fn in_order(self) -> Vec<Unit> {
        let last = self.units.len().saturating_sub(1);
        let units = self
            .units
            .into_iter()
            .rev()
            .map(|(unit, _)| Unit { above: unit.above.map(|at| last - at), ..unit });
        units.collect()
    }
}
