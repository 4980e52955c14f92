//! Environment variables from which programs read which GPUs a process is to use.

use crate::jobs::Job;
use crate::object::Object;
use crate::topology::Topology;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::iter;
use topobroker_layout::attributes::vendor;

/// A programming interface of GPUs that can be given which of them to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Interface {
    /// CUDA: `CUDA_VISIBLE_DEVICES`, and `CUDA_DEVICE_ORDER` if GPUs are named by number.
    Cuda,
    /// ROCm: `ROCR_VISIBLE_DEVICES`.
    Rocm,
    /// Level Zero: `ZE_AFFINITY_MASK`, with `ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE`, in which `1` is a
    /// card and `1.0` a tile of it.
    LevelZero,
    /// OpenCL of AMD: `GPU_DEVICE_ORDINAL`.
    OpenCl,
}

impl Interface {
    /// Those whose variables a rank is given.
    pub const OF_RANKS: [Self; 3] = [Self::Cuda, Self::Rocm, Self::LevelZero];
}

/// Names and values of the variables that make a programming interface use the GPUs that a rank of
/// a job was given, as [`of_gpus`] names them. Of a GPU that NVIDIA's MIG parts, the rank uses one
/// instance: the ranks that were given this GPU have its instances in turn. Ranks that share a GPU
/// with tiles (Level Zero) have these in turn.
///
/// ```
/// use topobroker_reader::{devices::environment::{Interface, of_gpus_of_rank}, jobs::Job};
/// fn print(job: Job<'_>) {
///     for (name, value) in of_gpus_of_rank(Interface::Cuda, job, 0) {
///         println!("{name}={value}");
///     }
/// }
/// ```
#[must_use]
pub fn of_gpus_of_rank(
    interface: Interface,
    job: Job<'_>,
    rank: u32,
) -> Vec<(&'static str, String)> {
    let given = job.gpus(rank).map(|gpu| (gpu, part_of(job, rank, gpu)));
    variables(interface, &given.collect::<Vec<_>>(), job.topology())
}

/// What a rank uses of a GPU.
#[derive(Debug, Clone, Copy)]
enum Part<'a> {
    All,
    /// An instance of MIG, by its UUID.
    Instance(&'a str),
    Tile(usize),
}

/// Ranks that were given the same GPU have its MIG instances, or its tiles, in turn.
fn part_of<'a>(job: Job<'a>, rank: u32, gpu: Object<'a>) -> Part<'a> {
    let (instances, tiles) = (gpu.mig_instances().count(), gpu.tiles());
    if instances == 0 && tiles == 0 {
        return Part::All;
    }
    let sharers = || job.ranks().filter(|it| job.gpus(it.rank).any(|it| it == gpu));
    let earlier = sharers().take_while(|other| other.rank != rank).count();
    if tiles > 0 && sharers().nth(1).is_some() {
        return Part::Tile(earlier % tiles);
    }
    let instance = earlier.checked_rem(instances).and_then(|it| gpu.mig_instances().nth(it));
    instance.map_or(Part::All, Part::Instance)
}

/// Names and values of the variables that make a programming interface use the GPUs `given`,
/// objects of `node`. None if there are none, and not an empty value, which would mean no GPU.
///
/// GPUs are named by UUID where it is known, because a UUID means the same in every container.
/// Otherwise they are named by their number, in the order of PCI bus ids of the GPUs of one vendor
/// on the node.
#[must_use]
pub fn of_gpus(
    interface: Interface,
    given: &[Object<'_>],
    node: Topology<'_>,
) -> Vec<(&'static str, String)> {
    variables(interface, &given.iter().map(|gpu| (*gpu, Part::All)).collect::<Vec<_>>(), node)
}

/// What [`of_gpus`] says of GPUs, each whole or as one of its instances.
fn variables(
    interface: Interface,
    given: &[(Object<'_>, Part<'_>)],
    node: Topology<'_>,
) -> Vec<(&'static str, String)> {
    let vendor = match interface {
        Interface::Cuda => vendor::NVIDIA,
        Interface::Rocm | Interface::OpenCl => vendor::AMD,
        Interface::LevelZero => vendor::INTEL,
    };
    let own: Vec<_> = given.iter().filter(|(gpu, _)| gpu.pci_vendor() == Some(vendor)).collect();
    if own.is_empty() {
        return Vec::new();
    }
    let numbers = || {
        let number = |(gpu, part): &&(Object<'_>, Part<'_>)| match interface {
            Interface::LevelZero => number_of_tile(*gpu, *part, node),
            _ => number_of(*gpu, node).to_string(),
        };
        own.iter().map(number).collect::<Vec<_>>().join(",")
    };
    let uuids = || {
        let uuids = own.iter().map(|(gpu, part)| match part {
            Part::Instance(uuid) => Some(*uuid),
            Part::All | Part::Tile(_) => gpu.gpu_uuid(),
        });
        uuids.collect::<Option<Vec<_>>>()
    };
    match interface {
        Interface::Cuda => match uuids() {
            Some(uuids) => vec![("CUDA_VISIBLE_DEVICES", uuids.join(","))],
            None => vec![
                ("CUDA_DEVICE_ORDER", "PCI_BUS_ID".to_owned()),
                ("CUDA_VISIBLE_DEVICES", numbers()),
            ],
        },
        Interface::Rocm => {
            let uuids = uuids().map(|uuids| {
                // ROCm wants the sixteen digits behind GPU-.
                let named: Vec<String> =
                    uuids.iter().map(|it| format!("GPU-{}", it.trim_start_matches("0x"))).collect();
                named.join(",")
            });
            vec![("ROCR_VISIBLE_DEVICES", uuids.unwrap_or_else(numbers))]
        }
        Interface::LevelZero => vec![
            ("ZE_FLAT_DEVICE_HIERARCHY", "COMPOSITE".to_owned()),
            ("ZE_AFFINITY_MASK", numbers()),
        ],
        Interface::OpenCl => vec![("GPU_DEVICE_ORDINAL", numbers())],
    }
}

/// The infos of hwloc that have the UUID of a GPU.
const UUIDS: [&str; 2] = ["NVIDIAUUID", "AMDUUID"];

impl<'a> Object<'a> {
    /// The UUID of a GPU of NVIDIA or AMD that hwloc knows of one of its OS devices, or the driver
    /// of its PCI device, as they write it. `None` if neither does; AMD's driver has zeros for a
    /// GPU without one.
    #[must_use]
    pub fn gpu_uuid(self) -> Option<&'a str> {
        let pci = self.pci_device_above()?;
        // Another partition has a UUID of its own.
        let others = pci.io_children().filter(|it| it.subtype() != self.subtype());
        let infos = iter::once(self).chain(others).flat_map(Object::infos);
        let is_one = |text: &str| !text.trim_start_matches("0x").bytes().all(|it| it == b'0');
        let mut uuids = infos.chain(pci.facts()).filter(|it| UUIDS.contains(&it.name));
        uuids.find(|it| is_one(it.value)).map(|it| it.value)
    }
}

/// The place of a GPU among those of its vendor, in the order of bus ids and, on one PCI device, of
/// the partitions.
fn number_of(gpu: Object<'_>, node: Topology<'_>) -> usize {
    let place = |gpu: Object<'_>| (gpu.bus_id(), gpu.logical_index());
    let all = node.gpus().filter(|it| it.pci_vendor() == gpu.pci_vendor());
    all.filter(|it| place(*it) < place(gpu)).count()
}

/// The card of a GPU, and its tile if it has one alone.
fn number_of_tile(gpu: Object<'_>, part: Part<'_>, node: Topology<'_>) -> String {
    let mut cards: Vec<_> = node
        .gpus()
        .filter(|it| it.pci_vendor() == gpu.pci_vendor())
        .filter_map(Object::bus_id)
        .filter(|it| Some(*it) < gpu.bus_id())
        .collect();
    cards.sort_unstable();
    cards.dedup();
    let card = cards.len();
    let tiles = || gpu.pci_device_above().into_iter().flat_map(Object::gpus_of_pci);
    match part {
        Part::Tile(tile) => format!("{card}.{tile}"),
        _ if tiles().nth(1).is_some() => {
            let tile = tiles().take_while(|it| *it != gpu).count();
            format!("{card}.{tile}")
        }
        _ => card.to_string(),
    }
}
