//! NUMA nodes near PUs where each has as many: found by counting PUs instead of asking one node after the other.

use crate::blocks::blocks;
use crate::levels::Objects;
use crate::object::Object;
use crate::topology::Topology;
use std::ops::Range;
use topobroker_layout::set::Set;
use topobroker_layout::tree::TreeRows;

/// PUs of each NUMA node, if the first has the first of all PUs, the next one those that follow, and so on.
pub(crate) fn pus_of_each(tree: &TreeRows<'_>, nodes: Range<u32>, pus: u32) -> Option<u32> {
    let each = pus.checked_div(nodes.end - nodes.start).filter(|each| *each != 0)?;
    let is_block = |(node, place): (u32, u32)| {
        let member = tree.member(node);
        member.pu_first == place * each && member.pu_count == each
    };
    (each * (nodes.end - nodes.start) == pus && nodes.zip(0..).all(is_block)).then_some(each)
}

impl<'a> Topology<'a> {
    /// NUMA nodes shown, at least those that have some of a range of PUs.
    #[inline]
    pub(crate) fn nodes_of_pus(self, pus: &Range<u32>) -> Objects<'a> {
        match self.seen.pus_of_node {
            Some(each) if !pus.is_empty() => {
                let node = |pu: u32| self.seen.first_special + blocks(pu, each);
                self.numa_nodes().within(&(node(pus.start)..node(pus.end - 1) + 1))
            }
            _ => self.numa_nodes(),
        }
    }

    /// The NUMA node that has all PUs of a set, or none; `None` if it takes more to tell.
    #[inline]
    pub(crate) fn node_around(self, cpuset: &Set) -> Option<Option<Object<'a>>> {
        let each = self.seen.pus_of_node?;
        let numbering = self.seen.numbering.as_ref()?;
        let lowest = cpuset.first()?;
        let place = blocks(numbering.logical_index(lowest)?, each);
        let shown = self.solid_run(&(place * each..(place + 1) * each))?;
        let node = self.seen.first_special + place;
        let has_it = numbering.has_no_others(cpuset, lowest, &shown) && self.shows(node);
        Some(has_it.then(|| Object::new(self, node)))
    }

    /// Puts the NUMA nodes that share a PU with a set into `nodeset`; false if it takes more to tell.
    #[inline]
    pub(crate) fn add_nodes_of_turns(self, cpuset: &Set, nodeset: &mut Set) -> bool {
        let known = self.seen.pus_of_node.zip(self.seen.numbering.as_ref()).zip(self.seen.solid);
        let Some(((each, numbering), (start, end))) = known else { return false };
        let Some(each) = numbering.part_of_turn(each) else { return false };
        for turn in numbering.turns() {
            let (first, shown) = (numbering.start_of(turn), numbering.turn(turn, &(start..end)));
            if self.add_nodes_of_turn(cpuset, first, &shown, each, nodeset) {
                break;
            }
        }
        true
    }

    /// The same with those OS indexes of a turn that are shown, where each node has so many from the first one on.
    /// Whether that was every node.
    #[inline]
    fn add_nodes_of_turn(
        self,
        cpuset: &Set,
        first: u32,
        shown: &Range<u32>,
        each: u32,
        nodeset: &mut Set,
    ) -> bool {
        let (mut behind, mut all) = (first, true);
        let mut next = cpuset.next_from(shown.start);
        for node in self.seen.first_special..self.seen.end_of_nodes {
            behind += each;
            let Some(found) = next.filter(|found| *found < shown.end) else { return false };
            if found >= behind {
                all = false;
                continue;
            }
            if self.shows(node)
                && let Some(os_index) = self.os_index_of(node)
            {
                nodeset.insert(os_index);
            }
            next = cpuset.next_from(behind);
        }
        all
    }
}
