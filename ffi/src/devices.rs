//! Distances of devices from processes.

use crate::answer::answer;
use crate::failure::Failure;
use crate::given::Found;
use crate::object::{object, tb_obj};
use crate::pointers::{Buffer, Input, Out, Text};
use crate::set::tb_set;
use crate::status::tb_status;
use crate::structs::{Struct, Structs};
use crate::topology::tb_topology;
use alloc::format;
use topobroker_reader::devices::{DeviceDistance, DeviceKinds, Nearness};

/// Kinds of devices to which PMIx gives a distance. They may be combined by `|`. Counterpart:
/// pmix_device_type_t.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_device_kinds {
    /// GPUs.
    TB_DEVICE_GPU = 2,
    /// Network interfaces.
    TB_DEVICE_NETWORK = 4,
    /// OpenFabrics devices.
    TB_DEVICE_OPEN_FABRICS = 8,
    /// Co-processors: GPUs by CUDA, OpenCL or Level Zero. Only PMIx 7 gives them a distance.
    TB_DEVICE_CO_PROCESSOR = 32,
    /// Disks. Only PMIx 7 gives them a distance, if they are asked for.
    TB_DEVICE_BLOCK = 1,
}

/// The distance of a device from a process. Counterpart: pmix_device_distance_t.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_device_distance {
    /// The OS device.
    pub device: tb_obj,
    /// One of tb_device_kinds.
    pub kind: i32,
    /// The least distance; 65535 if there is none.
    pub min: u16,
    /// The greatest distance; 65535 if there is none, 0 if the set is empty.
    pub max: u16,
}

/// Which PUs of a process are local to a device, the nearest first.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_nearness {
    /// All PUs are local to the device.
    TB_NEAR = 0,
    /// Some are local to it.
    TB_SPLIT = 1,
    /// No PU is local to it, but one is on its package.
    TB_SAME_PACKAGE = 2,
    /// No PU is local to it or on its package.
    TB_FAR = 3,
    /// It is unknown to which PUs the device is local.
    TB_NEARNESS_UNKNOWN = 4,
}

/// What is between a process and a device.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_device_path {
    /// A tb_nearness.
    pub nearness: i32,
    /// Number of bridges between the device and the CPUs, with the host bridge.
    pub pci_hops: u32,
    /// NUMA latency from the farthest node of the process to the nearest one of the device,
    /// relative to 10 for local memory; 0 if unknown.
    pub latency: u64,
    /// The slowest link between the device and the CPUs whose speed is known, in GB/s for each
    /// direction; 0 if unknown.
    pub linkspeed: f32,
}

/// Stores the distances of up to `capacity` devices from a process that is bound to a set, and the
/// number of all of them in `count` (may be NULL). `kinds` is a sum of tb_device_kinds, or 0 for
/// all. Devices without an id and sets of several packages have distances too: PMIx fails there.
/// Counterpart: PMIx_Compute_distances.
#[unsafe(no_mangle)]
pub extern "C" fn tb_device_distances(
    topology: Option<&tb_topology>,
    set: Input<'_, tb_set>,
    kinds: i32,
    distances: Structs<'_, tb_device_distance>,
    element_size: usize,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(distances(element_size, capacity, count), |topology, set| {
        let found = topology.device_distances(set, kinds_of(kinds)?);
        found.map(row)
    })
}

/// Stores distances like tb_device_distances, by the rule of PMIx 7: of each PU by itself, so that
/// min and max may differ; each PCI device once, in the order of bus ids; devices without an id are
/// left out. `kinds` 0 is all but disks.
#[unsafe(no_mangle)]
pub extern "C" fn tb_device_distances_pmix7(
    topology: Option<&tb_topology>,
    set: Input<'_, tb_set>,
    kinds: i32,
    distances: Structs<'_, tb_device_distance>,
    element_size: usize,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(distances(element_size, capacity, count), |topology, set| {
        let found = topology.device_distances_pmix7(set, kinds_of(kinds)?);
        found.into_iter().map(row)
    })
}

fn kinds_of(kinds: i32) -> Result<DeviceKinds, Failure> {
    match kinds {
        0 => Ok(DeviceKinds::ALL),
        bits => DeviceKinds::from_bits(u64::try_from(bits).unwrap_or(u64::MAX))
            .ok_or_else(|| Failure::argument(format_args!("kinds {bits}"))),
    }
}

fn row(DeviceDistance { device, kind, min, max }: DeviceDistance<'_>) -> tb_device_distance {
    let kind = i32::try_from(kind.bits()).unwrap_or(0);
    tb_device_distance { device: device.id(), kind, min, max }
}

/// Writes the id by which PMIx knows an OS device, with a zero at its end. `host` is the name of
/// this node, which is in the ids of GPUs. TB_ERR_NOT_FOUND if the topology does not have the id.
/// `length` (may be NULL) is set to the bytes of the text without the zero, also with
/// TB_ERR_TRUNCATED.
#[unsafe(no_mangle)]
pub extern "C" fn tb_device_id(
    topology: Option<&tb_topology>,
    device: tb_obj,
    host: Text<'_>,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    answer!(buffer(size, length), |topology, host| {
        let device = object(topology, device)?;
        let id = device.pmix_device_id(host);
        id.found(|| format!("object {} has no id", device.id()))?
    })
}

/// Stores what is between a process that is bound to a set and a device.
#[unsafe(no_mangle)]
pub extern "C" fn tb_device_path_get(
    topology: Option<&tb_topology>,
    set: Input<'_, tb_set>,
    device: tb_obj,
    path: Struct<'_, tb_device_path>,
    path_size: usize,
) -> tb_status {
    answer!(path(path_size), |topology, set| {
        let path = topology.device_path(set, object(topology, device)?);
        let nearness = match path.nearness {
            Nearness::Near => tb_nearness::TB_NEAR,
            Nearness::Split => tb_nearness::TB_SPLIT,
            Nearness::SamePackage => tb_nearness::TB_SAME_PACKAGE,
            Nearness::Far => tb_nearness::TB_FAR,
            Nearness::Unknown => tb_nearness::TB_NEARNESS_UNKNOWN,
        };
        tb_device_path {
            nearness: nearness as i32,
            pci_hops: path.pci_hops,
            latency: path.latency.unwrap_or(0),
            linkspeed: path.linkspeed.unwrap_or(0.0),
        }
    })
}
