//! Conversion of cpusets to nodesets and back.

use crate::object::Object;
use crate::topology::Topology;
use topobroker_layout::set::Set;

impl<'a> Topology<'a> {
    /// NUMA nodes that share a PU with a set, as OS indexes. Counterpart:
    /// `hwloc_cpuset_to_nodeset`.
    #[doc(alias = "hwloc_cpuset_to_nodeset")]
    #[must_use]
    pub fn nodeset_of(self, cpuset: &Set) -> Set {
        let mut nodeset = Set::new();
        self.add_nodes_of(cpuset, &mut nodeset);
        nodeset
    }

    /// Adds the NUMA nodes that share a PU with a set to `nodeset`. Counterpart:
    /// `hwloc_cpuset_to_nodeset`, which empties it first.
    pub fn add_nodes_of(self, cpuset: &Set, nodeset: &mut Set) {
        // Fast path: without it, the nodeset of a cpuset takes 1.4 times as long as hwloc's.
        if self.index.add_nodes_by_thread(cpuset, nodeset) {
            return;
        }
        for node in self.numa_nodes() {
            let is_near = match self.index.has_runs {
                true => self.index.has_some(cpuset, self.index.pus_of(node.id())),
                false => node.intersects(cpuset),
            };
            if is_near && let Some(os_index) = node.os_index() {
                nodeset.insert(os_index);
            }
        }
    }

    /// PUs of the NUMA nodes of a set. Counterpart: `hwloc_cpuset_from_nodeset`.
    #[doc(alias = "hwloc_cpuset_from_nodeset")]
    #[must_use]
    pub fn cpuset_of_nodes(self, nodeset: &Set) -> Set {
        let mut cpuset = Set::new();
        self.add_cpusets_of_nodes(nodeset, &mut cpuset);
        cpuset
    }

    /// Adds the PUs of the NUMA nodes of a set to `cpuset`. Counterpart:
    /// `hwloc_cpuset_from_nodeset`, which empties it first.
    pub fn add_cpusets_of_nodes(self, nodeset: &Set, cpuset: &mut Set) {
        let mut add = |node: Object<'a>| _ = self.index.add_cpuset(node.id(), cpuset);
        // Fast path: up to 15 times as fast.
        if !nodeset.is_infinite() {
            let nodes = nodeset.iter().filter_map(|os| self.numa_node_by_os_index(os));
            return nodes.for_each(add);
        }
        for node in self.numa_nodes() {
            if node.os_index().is_some_and(|os| nodeset.contains(os)) {
                add(node);
            }
        }
    }
}
