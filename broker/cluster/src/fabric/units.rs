//! The fabric as a tree, for batch systems: nodes that share leaf switches, and the switches
//! that join them.

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
    /// The groups of nodes, each before those in it. `nodes` has the node of each port. Nodes with
    /// the same leaf switches are one group, named after the leaf that most of them are at: on
    /// rails each node is at several. Groups that a level of switches joins are in a group of the
    /// first of these switches.
    pub(crate) fn units(&self, nodes: &BTreeMap<u64, usize>) -> Vec<Unit> {
        let names = self.switch_names();
        let units = self.leaf_units(nodes, &names);
        let leaves = nodes.keys().filter_map(|port| self.leaf_of(*port)).collect();
        let mut levels: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for (switch, level) in self.levels(leaves) {
            levels.entry(level).or_default().push(switch);
        }
        let mut tree = Tree::new(units);
        for (height, switches) in levels {
            self.join(&mut tree, height, &switches, &names);
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

    /// How many switches away from a leaf each switch is.
    fn levels(&self, leaves: BTreeSet<u64>) -> BTreeMap<u64, usize> {
        let mut level: BTreeMap<u64, usize> = leaves.into_iter().map(|leaf| (leaf, 0)).collect();
        let mut open: VecDeque<u64> = level.keys().copied().collect();
        while let Some(switch) = open.pop_front() {
            let next = level.get(&switch).map_or(0, |own| own + 1);
            for peer in self.neighbours_of(switch) {
                level.entry(peer).or_insert_with(|| {
                    open.push_back(peer);
                    next
                });
            }
        }
        level
    }

    fn neighbours_of(&self, switch: u64) -> impl Iterator<Item = u64> {
        let from = super::graph::End { guid: switch, port: 0 };
        let own = self.links.range(from..).take_while(move |(end, _)| end.guid == switch);
        own.map(|(_, (peer, _))| peer.guid).filter(|peer| self.switches.contains_key(peer))
    }

    /// Joins groups that the switches of a level connect, and those below it.
    fn join(
        &self,
        tree: &mut Tree,
        height: usize,
        switches: &[u64],
        names: &BTreeMap<u64, String>,
    ) {
        for switch in switches {
            tree.add(*switch);
        }
        for switch in switches {
            self.neighbours_of(*switch).for_each(|peer| tree.connect(*switch, peer));
        }
        // The first switch of this level in each connected part, by GUID.
        let mut tops: BTreeMap<u64, u64> = BTreeMap::new();
        for switch in switches {
            tops.entry(tree.part_of(*switch)).or_insert(*switch);
        }
        for (part, top) in tops {
            // Leaves that are connected with each other have no switch above.
            let name = names.get(&top).filter(|_| height > 0);
            tree.close(part, name, height);
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

/// Groups while they are joined. Switches that are connected so far are one part, known by one of
/// them.
struct Tree {
    units: Vec<(Unit, BTreeSet<u64>)>,
    /// The unit of each leaf switch.
    of_leaf: BTreeMap<u64, usize>,
    /// From each switch on, the way to the one by which its part is known.
    part: BTreeMap<u64, u64>,
    /// The highest groups of each part.
    highest: BTreeMap<u64, BTreeSet<usize>>,
}

impl Tree {
    fn new(units: Vec<(Unit, BTreeSet<u64>)>) -> Self {
        let leaves = units.iter().zip(0..);
        let of_leaf = leaves.flat_map(|((_, own), at)| own.iter().map(move |it| (*it, at)));
        let of_leaf = of_leaf.collect();
        Self { units, of_leaf, part: BTreeMap::new(), highest: BTreeMap::new() }
    }

    /// Adds a switch, which is connected to nothing yet.
    fn add(&mut self, switch: u64) {
        self.part.insert(switch, switch);
        let unit = self.of_leaf.get(&switch).copied();
        self.highest.insert(switch, unit.into_iter().collect());
    }

    fn part_of(&mut self, switch: u64) -> u64 {
        let mut known = switch;
        while let Some(next) = self.part.get(&known).copied().filter(|next| *next != known) {
            // The way gets shorter for whoever asks next.
            let after = self.part.get(&next).copied().unwrap_or(next);
            self.part.insert(known, after);
            known = next;
        }
        known
    }

    /// Connects two switches; one that was not added is of a higher level.
    fn connect(&mut self, one: u64, other: u64) {
        if !self.part.contains_key(&other) {
            return;
        }
        let (one, other) = (self.part_of(one), self.part_of(other));
        if one == other {
            return;
        }
        let count = |part| self.highest.get(&part).map_or(0, BTreeSet::len);
        // The smaller one moves.
        let (kept, gone) = if count(one) < count(other) { (other, one) } else { (one, other) };
        let moved = self.highest.remove(&gone).unwrap_or_default();
        self.highest.entry(kept).or_default().extend(moved);
        self.part.insert(gone, kept);
    }

    /// Puts the highest groups of a part into one, if there are several. The groups below the first
    /// level of switches above leaves are in a group of these also if there is one alone.
    fn close(&mut self, part: u64, top: Option<&String>, height: usize) {
        let Some(highest) = self.highest.get_mut(&part) else { return };
        let is_new = highest.len() > 1 || (highest.len() == 1 && height == 1 && top.is_some());
        if !is_new {
            return;
        }
        let place = self.units.len();
        let below = std::mem::replace(highest, BTreeSet::from([place]));
        let name = top.cloned().unwrap_or_else(|| {
            let first = below.first().and_then(|at| self.units.get(*at));
            format!("fabric-{}", first.map_or("", |(unit, _)| &unit.name))
        });
        for at in below {
            self.units.get_mut(at).into_iter().for_each(|(unit, _)| unit.above = Some(place));
        }
        self.units.push((Unit { name, above: None, nodes: Vec::new() }, BTreeSet::new()));
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
