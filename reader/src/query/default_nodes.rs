//! The NUMA nodes from which memory comes by default.

use crate::object::Object;
use crate::topology::Topology;
use alloc::vec::Vec;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

impl<'a> Topology<'a> {
    /// The default NUMA nodes of a machine, which people mean by its NUMA nodes: no two of them
    /// have a PU in common, so that high-bandwidth memory, CXL memory and GPU memory next to
    /// ordinary memory are left out. By logical index. Counterpart:
    /// `hwloc_topology_get_default_nodeset` of hwloc 2.12.
    ///
    /// The node with the lowest OS index is the first. Then nodes of its subtype are added, by OS
    /// index, if no node before has a PU of theirs; then nodes of other subtypes. Nodes without PUs
    /// are added as long as PUs are left.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// let nodes: Vec<u32> = topology.default_numa_nodes().map(|node| node.logical_index()).collect();
    /// # assert!(!nodes.is_empty());
    /// ```
    #[doc(alias = "hwloc_topology_get_default_nodeset")]
    pub fn default_numa_nodes(self) -> impl Iterator<Item = Object<'a>> {
        let mut nodes: Vec<Object<'a>> = self.objects_with_type(ObjectType::NUMANode).collect();
        nodes.sort_by_key(|node| node.os_index());
        let mut chosen: Vec<Object<'a>> = nodes.first().copied().into_iter().collect();
        let first = chosen.first().copied();
        let mut left = self.root().cpuset().unwrap_or_default();
        if let Some(pus) = first.and_then(Object::cpuset) {
            left = left.and_not(&pus);
        }
        let subtype = first.and_then(Object::subtype);
        for is_alike in [true, false] {
            for node in nodes.iter().skip(1) {
                let pus: Set = node.cpuset().unwrap_or_default();
                let is_free = !left.is_empty() && pus.is_included_in(&left);
                if is_free && (node.subtype() == subtype) == is_alike {
                    left = left.and_not(&pus);
                    chosen.push(*node);
                }
            }
        }
        chosen.sort_by_key(|node| node.logical_index());
        chosen.into_iter()
    }
}
