//! Makes the graph of links of a topology.

use super::graph::{Links, LinksError};
use super::parts::{Parts, SwitchModel};
use super::{devices, gpu_links, memory, numa_latency};
use crate::topology::Topology;

impl<'a> Topology<'a> {
    /// The graph of links: what connects CPUs, memory, GPUs, NICs and disks. It has what hwloc
    /// reports, and the greatest speeds of PCI links that the publisher found out. What is
    /// unknown is `None`.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// use topobroker_reader::{links::{Measure, Paths, SwitchModel}};
    /// let links = topology.links(SwitchModel::One)?;
    /// if let (Some(gpu), Some(nic)) = (links.find("cuda0"), links.find("mlx5_0")) {
    ///     let path = Paths::new(&links, false).between(gpu, nic, Measure::Bandwidth);
    ///     println!("{path:?}");
    /// }
    /// # Ok::<(), topobroker_reader::links::LinksError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LinksError::TooMany`].
    pub fn links(self, switches: SwitchModel) -> Result<Links<'a>, LinksError> {
        parts_of(self, switches).finish()
    }
}

/// The parts of the graph of a topology.
pub(super) fn parts_of(topology: Topology<'_>, switches: SwitchModel) -> Parts<'_> {
    let mut parts = Parts::new(topology);
    memory::add(&mut parts);
    numa_latency::add(&mut parts);
    devices::add(&mut parts, switches);
    gpu_links::add(&mut parts);
    parts
}
