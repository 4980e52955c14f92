//! NICs and GPUs that ranks may be given, and those that they were given.

use crate::answer::answer;
use crate::call::call_with;
use crate::failure::Failure;
use crate::given::{Found, Given};
use crate::job::tb_job;
use crate::object::{object, tb_obj};
use crate::pointers::{Buffer, Input, List, Out, Room};
use crate::set::tb_set;
use crate::status::tb_status;
use crate::structs::Structs;
use crate::topology::tb_topology;
use alloc::format;
use alloc::vec::Vec;
use topobroker_reader::{
    Object,
    devices::{NearTo, NetworkId, NicChoice, PathClass, RankDevice},
};

/// What is between two devices, from the nearest to the farthest. Counterpart: the words of
/// nvidia-smi topo -m.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_path_class {
    /// Nothing: they are one PCI device.
    TB_PATH_SAME = 0,
    /// One PCI switch.
    TB_PATH_PIX = 1,
    /// Several PCI switches, but no host bridge.
    TB_PATH_PXB = 2,
    /// A host bridge.
    TB_PATH_PHB = 3,
    /// Several host bridges of the same NUMA nodes.
    TB_PATH_NODE = 4,
    /// What connects NUMA nodes.
    TB_PATH_SYS = 5,
}

/// Stores up to `capacity` NICs that ranks may be given, in logical order, and the number of all of
/// them in `count` (may be NULL): one of each PCI device, OpenFabrics devices if there are any,
/// otherwise network interfaces. They are known to be active, unless `unknown` also allows those
/// whose state is unknown.
#[unsafe(no_mangle)]
pub extern "C" fn tb_nics(
    topology: Option<&tb_topology>,
    unknown: bool,
    nics: Room<'_, tb_obj>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(nics(capacity, count), |topology| {
        let all = topology.nics(NicChoice::new(unknown));
        all.map(Object::id)
    })
}

/// Kinds of networks. Of two networks with the same bandwidth, ranks use the one whose kind is
/// listed first.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_network_kind {
    /// InfiniBand.
    TB_NETWORK_INFINIBAND = 0,
    /// Slingshot of HPE.
    TB_NETWORK_SLINGSHOT = 1,
    /// Omni-Path.
    TB_NETWORK_OMNI_PATH = 2,
    /// EFA of Amazon.
    TB_NETWORK_EFA = 3,
    /// Ethernet with RDMA.
    TB_NETWORK_ROCE = 4,
    /// Ethernet.
    TB_NETWORK_ETHERNET = 5,
    /// Another network.
    TB_NETWORK_OTHER = 6,
}

/// A network of the node: NICs that reach each other.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_network {
    /// A tb_network_kind.
    pub kind: i32,
    /// Number of its NICs; see tb_network_nics.
    pub nics: u32,
    /// Prefix of its subnet; 0 if it has none or it is unknown.
    pub subnet: u64,
    /// The rates of its NICs together, in Mb/s; unknown rates count as 0.
    pub mbps: u64,
}

/// Stores up to `capacity` networks of the node, the one that ranks should use first, and the
/// number of all of them in `count` (may be NULL). The order is the same on nodes of one kind.
/// `unknown` is that of tb_nics.
#[unsafe(no_mangle)]
pub extern "C" fn tb_networks(
    topology: Option<&tb_topology>,
    unknown: bool,
    networks: Structs<'_, tb_network>,
    element_size: usize,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(networks(element_size, capacity, count), |topology| {
        topology.network_shares(NicChoice::new(unknown)).map(|network| {
            let kind = match network.id {
                NetworkId::InfiniBand(_) => tb_network_kind::TB_NETWORK_INFINIBAND,
                NetworkId::Slingshot => tb_network_kind::TB_NETWORK_SLINGSHOT,
                NetworkId::OmniPath(_) => tb_network_kind::TB_NETWORK_OMNI_PATH,
                NetworkId::Efa => tb_network_kind::TB_NETWORK_EFA,
                NetworkId::Roce(_) => tb_network_kind::TB_NETWORK_ROCE,
                NetworkId::Ethernet(_) => tb_network_kind::TB_NETWORK_ETHERNET,
                _ => tb_network_kind::TB_NETWORK_OTHER,
            };
            tb_network {
                kind: kind as i32,
                nics: u32::try_from(network.nics).unwrap_or(u32::MAX),
                subnet: network.id.subnet().unwrap_or(0),
                mbps: network.mbps,
            }
        })
    })
}

/// Stores up to `capacity` NICs of a network, from 0 as tb_networks stores them, and the number of
/// all of them in `count` (may be NULL). TB_ERR_NOT_FOUND after the last network.
#[unsafe(no_mangle)]
pub extern "C" fn tb_network_nics(
    topology: Option<&tb_topology>,
    unknown: bool,
    network: usize,
    nics: Room<'_, tb_obj>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(nics(capacity, count), |topology| {
        let choice = NicChoice::new(unknown);
        let found = topology.network_shares(choice).nth(network);
        let found = found.found(|| format!("the node has no network {network}"))?;
        topology.nics_of_network(choice, found.id).map(Object::id)
    })
}

/// Stores up to `capacity` GPUs that ranks may be given, in logical order, and the number of all of
/// them in `count` (may be NULL): of each GPU, the OS device of its best programming interface.
#[unsafe(no_mangle)]
pub extern "C" fn tb_gpus(
    topology: Option<&tb_topology>,
    gpus: Room<'_, tb_obj>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(gpus(capacity, count), |topology| {
        let all = topology.gpus();
        all.map(Object::id)
    })
}

/// Kinds of devices that ranks are given.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_rank_device {
    /// A NIC of the network that ranks should use first.
    TB_RANK_NIC = 0,
    /// A GPU.
    TB_RANK_GPU = 1,
}

/// Stores the device that is best for a process that is bound to `cpuset`, if no other process
/// counts: by the rules of tb_devices_assign. `device` is a tb_rank_device; a NIC is one of the
/// first network of tb_networks. TB_ERR_NOT_FOUND if the node has no GPU, or no NIC that is known
/// to be active.
#[unsafe(no_mangle)]
pub extern "C" fn tb_nearest(
    topology: Option<&tb_topology>,
    cpuset: Input<'_, tb_set>,
    device: i32,
    obj: Out<'_, tb_obj>,
) -> tb_status {
    call_with(|handles| {
        let (topology, set) = (topology.given("topology")?.get(), cpuset.given(handles, "cpuset")?);
        let (device, what) = match device {
            0 => (RankDevice::Nic, "NIC that is known to be active"),
            1 => (RankDevice::Gpu, "GPU"),
            other => {
                return Err(Failure::argument(format_args!("device {other}, expected 0 or 1")));
            }
        };
        let found = topology.nearest(&set.0, device).found(|| format!("the node has no {what}"))?;
        obj.given("obj")?.write(found.id());
        Ok(())
    })
}

/// Deals devices to ranks that are bound to sets: to each rank, in their order, `per_rank` of those
/// that are best for it, or all if there are fewer. The best are the nearest ones, then those of
/// the least latency of memory. NICs are shared: of equally near ones a rank gets the fastest, then
/// those that the fewest ranks have. Other devices, such as GPUs, are not: ranks share one only if
/// there are more ranks than devices, and then evenly. Every process that asks has the same answer.
/// Stores the devices of the first rank, then those of the second, and so on: up to `capacity`, and
/// the number of all in `count` (may be NULL).
#[unsafe(no_mangle)]
pub extern "C" fn tb_devices_assign(
    topology: Option<&tb_topology>,
    devices: List<'_, tb_obj>,
    device_count: usize,
    cpusets: List<'_, Input<'_, tb_set>>,
    rank_count: usize,
    per_rank: usize,
    given: Room<'_, tb_obj>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    call_with(|handles| {
        let (topology, handles) = (topology.given("topology")?.get(), &*handles);
        let devices = devices.get(device_count, "devices")?.iter();
        let devices: Vec<Object<'_>> =
            devices.map(|device| object(topology, *device)).collect::<Result<_, _>>()?;
        let sets = cpusets.get(rank_count, "cpusets")?.iter();
        let ranks: Vec<NearTo<'_, '_>> = sets
            .map(|set| Ok(NearTo::Pus(&set.given(handles, "a set of cpusets")?.0)))
            .collect::<Result<_, Failure>>()?;
        let all = topology.assign(&devices, &ranks, per_rank);
        given.fill(all.into_iter().map(Object::id), capacity, count)
    })
}

/// Stores up to `capacity` NICs that a rank was given when its job was added, the best first, and
/// the number of all of them in `count` (may be NULL): 0 if the rank is not on this node. They are
/// objects of the adopted topology.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_nics(
    job: Option<&tb_job>,
    rank: u32,
    nics: Room<'_, tb_obj>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(nics(capacity, count), |job| job.nics(rank).map(Object::id))
}

/// Stores up to `capacity` GPUs that a rank was given when its job was added, like tb_job_nics.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_gpus(
    job: Option<&tb_job>,
    rank: u32,
    gpus: Room<'_, tb_obj>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(gpus(capacity, count), |job| job.gpus(rank).map(Object::id))
}

/// Writes the name of the NVLink domain over nodes that all GPUs of a rank are in, with a zero at
/// its end: ranks with the same one, on whatever nodes, reach each other by NVLink. It has up to 47
/// letters. TB_ERR_NOT_FOUND if its GPUs are in none, or in several. `length` (may be NULL) is set
/// to the bytes of the text without the zero, also with TB_ERR_TRUNCATED. Counterpart:
/// nvmlDeviceGetGpuFabricInfo.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_nvlink_domain(
    job: Option<&tb_job>,
    rank: u32,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    answer!(buffer(size, length), |job| {
        let none = || format!("the GPUs of rank {rank} are in no NVLink domain, or in several");
        job.nvlink_domain(rank).found(none)?
    })
}

/// Stores what is between two devices, a tb_path_class.
#[unsafe(no_mangle)]
pub extern "C" fn tb_device_path_class(
    topology: Option<&tb_topology>,
    one: tb_obj,
    other: tb_obj,
    class: Out<'_, i32>,
) -> tb_status {
    answer!(class, |topology| {
        let found = topology.path_class(object(topology, one)?, object(topology, other)?);
        let class = match found {
            PathClass::Same => tb_path_class::TB_PATH_SAME,
            PathClass::Pix => tb_path_class::TB_PATH_PIX,
            PathClass::Pxb => tb_path_class::TB_PATH_PXB,
            PathClass::Phb => tb_path_class::TB_PATH_PHB,
            PathClass::Node => tb_path_class::TB_PATH_NODE,
            PathClass::Sys => tb_path_class::TB_PATH_SYS,
        };
        class as i32
    })
}
