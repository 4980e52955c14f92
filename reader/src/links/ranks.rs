//! How far the ranks of a job are from each other by links.

use super::graph::Links;
use super::paths::{Direction, LinkPath, Measure, Paths};
use crate::groups::{HwResources, ResourceError, ResourceType, Uri};
use crate::object::Object;
use core::ops::Deref;
use topobroker_layout::links::{LinkClass, VertexId};
use topobroker_layout::object_type::ObjectType;

impl<'a, L: Deref<Target = Links<'a>>> Paths<L> {
    /// The best paths from a rank of a job to others, or from them to it, in their order. The graph
    /// must be of the whole topology that the job is over. A rank is where its first GPU is,
    /// otherwise where its memory is: the NUMA node that all of its PUs are local to, otherwise the
    /// CPUs that it is bound to.
    ///
    /// Ranks at the same place have a path without links, with the bandwidth and latency of the
    /// memory there. To a rank on another node, the path is that to the first NIC of the rank, and
    /// one more link of which nothing is known. `None` for the rank itself, and if a rank has no
    /// place, because it is not bound and has no GPU, or no NIC to leave the node.
    ///
    /// Counterpart: `MPI_Group_get_hw_dist_graph` of the proposal to the MPI Forum.
    ///
    /// ```no_run
    /// # let topology = topobroker_reader::adopt()?;
    /// use topobroker_reader::{jobs::Job, links::{Direction, Measure, Paths, SwitchModel}};
    /// let job = Job::find(topology)?.ok_or("no job")?;
    /// let links = topology.topology().links(SwitchModel::One)?;
    /// let mut paths = Paths::new(&links, false);
    /// let ranks = [1, 2, 3];
    /// let resources = job.hw_resources();
    /// let found = paths.of_ranks(&resources, 0, &ranks, Direction::Outgoing, Measure::Hops)?;
    /// for (rank, path) in ranks.iter().zip(found) {
    ///     println!("{rank}: {path:?}");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ResourceError::NotHere`] if `rank` is not on this node.
    pub fn of_ranks<'s>(
        &'s mut self,
        resources: &'s HwResources<'_>,
        rank: u32,
        ranks: &'s [u32],
        direction: Direction,
        measure: Measure,
    ) -> Result<impl ExactSizeIterator<Item = Option<LinkPath>> + 's, ResourceError> {
        let nodes = resources.instances(Uri::of(ResourceType::Object(ObjectType::NUMANode)))?;
        let local = |rank| resources.job().local_rank_of(rank);
        let not_here = || ResourceError::NotHere { job: resources.job().name().into(), rank };
        let place = move |links: &Links<'_>, local_rank: usize| {
            let gpu = resources.job().gpus_of(local_rank).next();
            let node = || {
                let mut all = resources.topology().objects_with_type(ObjectType::NUMANode);
                all.nth(nodes.of(local_rank)? as usize)
            };
            let object = gpu.or_else(node).or_else(|| resources.lowest(local_rank))?;
            let above = core::iter::once(object).chain(object.ancestors());
            above.map(|it| links.vertex_of(it)).find_map(|it| it)
        };
        let own = local(rank).ok_or_else(not_here)?;
        let from = place(self.links(), own);
        if let Some(from) = from {
            self.of(from, direction, measure);
        }
        let nic = resources.job().nics_of(own).next();
        let outside = nic.and_then(|nic| self.to_another_node(nic));
        Ok(ranks.iter().map(move |other| {
            let (Some(from), true) = (from, *other != rank) else { return None };
            let Some(local_rank) = local(*other) else { return outside };
            let to = place(self.links(), local_rank)?;
            match to == from {
                true => Some(self.at(from)),
                false => self.found(to),
            }
        }))
    }

    /// A path without links, at a vertex: what its memory has.
    fn at(&self, vertex: VertexId) -> LinkPath {
        let mut links = self.links().links().iter();
        let memory =
            links.find(|it| it.class == LinkClass::Mem && [it.one, it.other].contains(&vertex));
        let bandwidth = memory.and_then(|it| it.forward.zip(it.backward)).map(|(a, b)| a.min(b));
        LinkPath {
            bandwidth,
            has_unknown_bandwidth: bandwidth.is_none(),
            latency: memory.and_then(|it| it.latency),
            hops: 0,
        }
    }

    /// The path to another node by a NIC, as far as it is known.
    fn to_another_node(&self, nic: Object<'_>) -> Option<LinkPath> {
        let vertex = self.links().vertex_of(nic)?;
        let way = self.found(vertex)?;
        // From Mb/s.
        let port = nic.link_mbps().and_then(|rate| u32::try_from(rate / 8).ok());
        Some(LinkPath {
            bandwidth: way.bandwidth.into_iter().chain(port).min(),
            has_unknown_bandwidth: true,
            latency: None,
            hops: way.hops.saturating_add(1),
        })
    }
}
