//! The NUMA nodes that a device is near.

use crate::object::Object;
use topobroker_layout::set::Set;

/// The fact of a PCI device that hwloc puts below the machine: the OS index of the NUMA node that
/// Linux, or a file about the machine, says it is near.
pub const NUMA_NODE: &str = "NumaNode";

impl Object<'_> {
    /// The NUMA nodes that a device, or any other object, is local to, by OS index: those that
    /// people mean ([`default_numa_nodes`](crate::Topology::default_numa_nodes)), and only if no
    /// such node is local, others, as where all PUs near the device are those of other cgroups. If
    /// Linux says which one a device is near, it is that one.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// let pu = topology.objects_with_type(topobroker_reader::ObjectType::PU).next().ok_or("no PU")?;
    /// assert!(!pu.local_nodeset().is_empty());
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn local_nodeset(self) -> Set {
        let topology = self.topology();
        let said = self
            .pci_device_above()
            .unwrap_or(self)
            .fact(NUMA_NODE)
            .and_then(|node| node.parse().ok());
        if let Some(node) = said.and_then(|node| topology.numa_node_by_os_index(node)) {
            return node.nodeset().unwrap_or_default();
        }
        let local = self.non_io_ancestor().nodeset().unwrap_or_default();
        let usual: Set = topology.default_numa_nodes().filter_map(Object::os_index).collect();
        let both = &local & &usual;
        if both.is_empty() { local } else { both }
    }
}
