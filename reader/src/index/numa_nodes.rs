//! NUMA nodes near PUs. If every node has the same number of PUs, nodes are found by division
//! instead of one by one.

use super::Index;
use super::regular::block_of;
use core::ops::Range;
use topobroker_layout::cluster::field::{Field, Property};
use topobroker_layout::column::partition_point;
use topobroker_layout::set::Set;

impl Index<'_> {
    /// Whether an object is a NUMA node.
    #[inline]
    pub(crate) fn is_numa_node(&self, id: u32) -> bool {
        (self.first_special..self.end_of_nodes).contains(&id)
    }

    /// A function that returns the local memory of a NUMA node in bytes, by the number of the node.
    #[inline]
    pub(crate) fn local_memory(&self) -> impl Fn(u32) -> u64 {
        let (rows, first) = (self.rows_of_nodes, self.first_special);
        move |node| {
            let stored = self.archive.numa_nodes.local_memory.get(rows.row(node - first));
            self.number(|| Field::new(Property::LOCAL_MEMORY, node, 0), stored)
        }
    }

    /// The NUMA node with an OS index, if it is visible.
    #[inline]
    pub(crate) fn numa_node_by_os_index(&self, os_index: u32) -> Option<u32> {
        // Fast path: up to 16 times as fast.
        // Nearly always nodes are numbered in order and without gaps.
        let guess = self.first_special.saturating_add(os_index);
        let is_it = guess < self.end_of_nodes && self.os_index_of(guess) == Some(os_index);
        let node = if is_it { guess } else { self.search_numa_node(os_index)? };
        self.is_visible(node).then_some(node)
    }

    fn search_numa_node(&self, os_index: u32) -> Option<u32> {
        let order = &self.archive.numa_by_os_index;
        let at = |row: u32| self.first_special.saturating_add(order.get_u32(row as usize));
        let count = u32::try_from(order.len()).unwrap_or(u32::MAX);
        let is_before = |row: u32| self.os_index_of(at(row)) < Some(os_index);
        let row = partition_point(0..count, is_before);
        let found = (row < count).then(|| at(row)).filter(|found| *found < self.end_of_nodes)?;
        (self.os_index_of(found) == Some(os_index)).then_some(found)
    }

    /// Numbers of the NUMA nodes, visible or hidden, that have a PU of a range; `None` if that
    /// would take a search.
    #[inline]
    pub(crate) fn nodes_of_pus(&self, pus: &Range<u32>) -> Option<Range<u32>> {
        // Fast path: up to 11 times as fast.
        let each = self.pus_of_node.filter(|_| !pus.is_empty())?;
        let node = |pu: u32| self.first_special + block_of(pu, each);
        Some(node(pus.start)..node(pus.end - 1) + 1)
    }

    /// The visible NUMA node that has all PUs of a set, `Some(None)` if there is none; `None` if
    /// that would take a search.
    #[inline]
    pub(crate) fn node_around(&self, cpuset: &Set) -> Option<Option<u32>> {
        // Fast path: up to 6.7 times as fast.
        let each = self.pus_of_node?;
        let numbering = self.numbering.as_ref()?;
        let lowest = cpuset.first()?;
        let position = block_of(numbering.logical_index(lowest)?, each);
        let visible = self.contiguous_run(&(position * each..(position + 1) * each))?;
        let node = self.first_special + position;
        let has_all = numbering.has_no_others(cpuset, lowest, &visible) && self.is_visible(node);
        Some(has_all.then_some(node))
    }

    /// Adds the NUMA nodes that share a PU with `cpuset` to `nodeset`, for each thread of the SMT
    /// numbering in turn. If that would take a search, adds nothing and returns false.
    #[inline]
    pub(crate) fn add_nodes_by_thread(&self, cpuset: &Set, nodeset: &mut Set) -> bool {
        let known = self.pus_of_node.zip(self.numbering.as_ref()).zip(self.contiguous);
        let Some(((each, numbering), (start, end))) = known else { return false };
        let Some(each) = numbering.per_thread(each) else { return false };
        for thread in numbering.threads() {
            let (first, visible) =
                (numbering.start_of(thread), numbering.os_range(thread, &(start..end)));
            if self.add_nodes_of_thread(cpuset, first, &visible, each, nodeset) {
                break;
            }
        }
        true
    }

    /// Adds the NUMA nodes that share a PU of one thread with `cpuset`. `first` is the lowest OS
    /// index of the thread, `visible` are its visible OS indexes, and `each` is the number of its
    /// PUs in each node. Returns true if every visible node was added.
    #[inline]
    fn add_nodes_of_thread(
        &self,
        cpuset: &Set,
        first: u32,
        visible: &Range<u32>,
        each: u32,
        nodeset: &mut Set,
    ) -> bool {
        let (mut end, mut all) = (first, true);
        let mut next = cpuset.next_from(visible.start);
        for node in self.first_special..self.end_of_nodes {
            end += each;
            let Some(found) = next.filter(|found| *found < visible.end) else { return false };
            if found >= end {
                all = false;
                continue;
            }
            if self.is_visible(node)
                && let Some(os_index) = self.os_index_of(node)
            {
                nodeset.insert(os_index);
            }
            next = cpuset.next_from(end);
        }
        all
    }
}
