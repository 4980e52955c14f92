//! Which instance of a hardware resource a rank is on.

use super::error::ResourceError;
use super::lowest::{are_visible, lowest};
use super::resource_type::{ResourceType, group_levels};
use super::uri::Uri;
use crate::devices::device_number;
use crate::devices::{Domains, GpuLink};
use crate::jobs::Job;
use crate::object::Object;
use crate::topology::Topology;
use core::ops::Range;
use topobroker_layout::depth::Depth;
use topobroker_layout::pu_sets::PuSet;

/// Which instance of a type each rank of a job is on.
pub struct Instances<'r> {
    job: Job<'r>,
    topology: Topology<'r>,
    uri: Uri<'r>,
    way: Way,
    domains: Option<Domains<'r>>,
}

/// How the instance of a rank is found.
enum Way {
    /// There is none.
    Nowhere,
    /// By the PUs of the rank, among the objects of a depth.
    Pus(InstanceLevel),
    /// By the devices that the rank was given.
    Devices,
    /// By the PUs of the rank, as they are.
    Binding,
    /// All ranks are on the same one.
    All,
}

/// The objects of a depth. All but the depth is for NUMA nodes and other special objects.
struct InstanceLevel {
    depth: Depth,
    /// Their numbers, visible or hidden, if each has a run of PUs in the order of the objects.
    ids: Range<u32>,
    first_ordinal: u32,
    /// The number of the first one, if those that are visible are contiguous.
    first: Option<u32>,
}

impl<'r> Instances<'r> {
    pub(super) fn new(
        job: Job<'r>,
        topology: Topology<'r>,
        uri: Uri<'r>,
    ) -> Result<Self, ResourceError> {
        let domains = |link| Domains::new(job.topology(), link);
        let domains = match uri.resource {
            ResourceType::NvLinkDomain => domains(GpuLink::NvLink),
            ResourceType::XgmiHive => domains(GpuLink::Xgmi),
            _ => None,
        };
        let among = |depth: Option<Depth>| {
            let level = depth.and_then(|depth| InstanceLevel::new(topology, depth));
            level.map_or(Way::Nowhere, Way::Pus)
        };
        let way = match uri.resource {
            _ if !uri.is_of_node(job.topology()) => Way::Nowhere,
            ResourceType::Object(kind) => among(topology.type_depth(kind).depth()),
            ResourceType::Group(level) => {
                let level = level.map_or_else(|| only_level(topology), |it| Ok(Some(it)))?;
                among(level.and_then(|level| topology.group_depth(level)))
            }
            ResourceType::Job => Way::All,
            ResourceType::Binding => Way::Binding,
            _ => Way::Devices,
        };
        Ok(Self { job, topology, uri, way, domains })
    }

    /// The instance that the rank with a local rank is on; `None` if it is on none or on several,
    /// and past the last rank. Of hwloc's types, a rank that is not
    /// bound is on the machine alone.
    #[must_use]
    pub fn of(&self, local_rank: usize) -> Option<u32> {
        let is_here = local_rank < self.job.rank_count();
        let instance = match &self.way {
            Way::Nowhere => None,
            Way::All => is_here.then_some(0),
            Way::Binding => self.job.binding_of(local_rank),
            Way::Devices => self.of_devices(local_rank),
            Way::Pus(level) => match self.job.pus_of(local_rank) {
                Some(pus) => self.of_pus(level, &pus),
                None => (is_here && level.depth == Depth::ROOT).then_some(0),
            },
        };
        instance.filter(|it| self.uri.instance.is_none_or(|only| only == *it))
    }

    /// The instances of all ranks, in the order of local ranks.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<u32>> + '_ {
        (0..self.job.rank_count()).map(|local_rank| self.of(local_rank))
    }

    /// The first object of a level that has all of some PUs.
    fn of_pus(&self, level: &InstanceLevel, pus: &PuSet<'_>) -> Option<u32> {
        let index = self.topology.index;
        if level.depth.normal().is_some() {
            let lowest = lowest(self.job, self.topology, pus)?;
            let mut above = core::iter::once(lowest).chain(lowest.ancestors());
            return above.find(|it| it.depth() == level.depth).map(Object::logical_index);
        }
        if !index.is_plain() {
            let set = self.job.cpuset(pus);
            let mut all = self.topology.objects_at_depth(level.depth);
            let found = all.find(|it| it.covers(&set) && self.is_wanted(it.id()));
            return found.map(Object::logical_index);
        }
        if !are_visible(self.topology, pus) {
            return None;
        }
        let (low, high) = pus.bounds();
        let has_all = |id: &u32| {
            let own = index.pus_of(*id);
            own.start <= low && high < own.end && self.is_wanted(*id)
        };
        let near = index.nodes_of_pus(&(low..low + 1));
        let near = near.filter(|_| level.depth == Depth::NumaNode);
        let id = near.unwrap_or_else(|| level.ids.clone()).find(has_all)?;
        Some(match level.first {
            Some(first) => id - first,
            None => index.ordinal_of(id) - level.first_ordinal,
        })
    }

    /// Whether an object is visible and of the subtype that is asked for.
    fn is_wanted(&self, id: u32) -> bool {
        let index = self.topology.index;
        index.is_visible(id) && self.uri.has_subtype(Object::new(index, id).subtype())
    }

    /// The instance that all devices hang on which a rank was given.
    fn of_devices(&self, local_rank: usize) -> Option<u32> {
        let gpus = || self.job.gpus_of(local_rank);
        let nics = || self.job.nics_of(local_rank);
        let index = |device: Option<Object<'_>>| device.map(Object::logical_index);
        match self.uri.resource {
            ResourceType::Gpu => same(gpus().map(device_number)),
            ResourceType::Nic => same(nics().map(device_number)),
            ResourceType::HostBridge => {
                same(gpus().chain(nics()).map(|it| index(it.host_bridge())))
            }
            ResourceType::PciSwitch => {
                let first = gpus().chain(nics()).next()?;
                let has_all = |switch: &Object<'_>| {
                    gpus().chain(nics()).all(|it| it.pci_switches().any(|it| it == *switch))
                };
                index(first.pci_switches().find(has_all))
            }
            _ => {
                let domains = self.domains.as_ref()?;
                same(gpus().map(|it| domains.number(it)))
            }
        }
    }
}

impl InstanceLevel {
    /// `None` if the topology has no such depth.
    fn new(topology: Topology<'_>, depth: Depth) -> Option<Self> {
        let index = topology.index;
        let level = index.level_of_depth(depth)?;
        let base_level = index.base_level(level);
        Some(Self {
            depth,
            ids: index.base_ids(base_level),
            first_ordinal: index.level_ordinals(level).start,
            first: index.first_of_contiguous(level),
        })
    }
}

/// The common value; `None` if values differ, if one is `None`, or if there are none.
fn same(values: impl Iterator<Item = Option<u32>>) -> Option<u32> {
    let mut values = values;
    let first = values.next()??;
    values.all(|value| value == Some(first)).then_some(first)
}

/// The level of the groups of a topology; `None` if it has no groups.
fn only_level(topology: Topology<'_>) -> Result<Option<u32>, ResourceError> {
    let mut levels = group_levels(topology);
    let first = levels.next();
    match first.zip(levels.last()) {
        Some((first, last)) => Err(ResourceError::SeveralLevels { first, last }),
        None => Ok(first),
    }
}
