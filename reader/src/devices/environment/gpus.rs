//! Environment variables by which programs are told which GPUs a process is to use.

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

/// A programming interface of GPUs that can be told which of them to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Interface {
    /// CUDA: `CUDA_VISIBLE_DEVICES`, and `CUDA_DEVICE_ORDER` if GPUs are told by number.
    Cuda,
    /// ROCm: `ROCR_VISIBLE_DEVICES`.
    Rocm,
    /// Level Zero: `ZE_AFFINITY_MASK`, with `ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE`, in which a number is
    /// that of a card.
    LevelZero,
    /// OpenCL of AMD: `GPU_DEVICE_ORDINAL`.
    OpenCl,
}

impl Interface {
    /// Those whose variables a rank is given.
    pub const OF_RANKS: [Self; 3] = [Self::Cuda, Self::Rocm, Self::LevelZero];
}

/// Name and value of each variable by which a programming interface is told to use the GPUs that a rank
/// of a job was given, as [`of_gpus`] tells them. Of a GPU that NVIDIA's MIG parts, the rank uses one
/// instance: the ranks that were given this GPU have its instances in turn.
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
    let given = job.gpus(rank).map(|gpu| (gpu, instance_of(job, rank, gpu)));
    told(interface, &given.collect::<Vec<_>>(), job.topology())
}

/// The UUID of the MIG instance of a GPU that a rank uses; `None` if the GPU is whole.
fn instance_of<'a>(job: Job<'a>, rank: u32, gpu: Object<'a>) -> Option<&'a str> {
    let count = gpu.mig_instances().count();
    if count == 0 {
        return None;
    }
    let earlier = job.ranks().take_while(|other| other.rank != rank);
    let earlier = earlier.filter(|other| job.gpus(other.rank).any(|it| it == gpu)).count();
    gpu.mig_instances().nth(earlier % count)
}

/// Name and value of each variable by which a programming interface is told to use the GPUs `given`,
/// objects of `node`. None if there are none, and not an empty value, which would mean no GPU.
///
/// GPUs are told by UUID where it is known, because a UUID means the same in every container. Else
/// they are told by their number, in the order of PCI bus ids of the GPUs of one vendor on the node.
#[must_use]
pub fn of_gpus(
    interface: Interface,
    given: &[Object<'_>],
    node: Topology<'_>,
) -> Vec<(&'static str, String)> {
    told(interface, &given.iter().map(|gpu| (*gpu, None)).collect::<Vec<_>>(), node)
}

/// What [`of_gpus`] tells of GPUs, each whole or as one of its instances.
fn told(
    interface: Interface,
    given: &[(Object<'_>, Option<&str>)],
    node: Topology<'_>,
) -> Vec<(&'static str, String)> {
    let vendor = match interface {
        Interface::Cuda => vendor::NVIDIA,
        Interface::Rocm | Interface::OpenCl => vendor::AMD,
        Interface::LevelZero => vendor::INTEL,
    };
    let own: Vec<_> = given.iter().filter(|(gpu, _)| vendor_of(*gpu) == Some(vendor)).collect();
    if own.is_empty() {
        return Vec::new();
    }
    let numbers = || {
        let numbers: Vec<String> = own.iter().map(|(gpu, _)| number_of(*gpu, node)).collect();
        numbers.join(",")
    };
    let uuids = || {
        let uuids = own.iter().map(|(gpu, instance)| instance.or_else(|| gpu.gpu_uuid()));
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

fn vendor_of(gpu: Object<'_>) -> Option<u16> {
    gpu.pci_device_above()?.pci_attributes().map(|pci| pci.vendor_id)
}

impl<'a> Object<'a> {
    /// The UUID of a GPU of NVIDIA or AMD that hwloc knows of one of its OS devices, or the driver of its
    /// PCI device, as they write it. `None` if neither does.
    #[must_use]
    pub fn gpu_uuid(self) -> Option<&'a str> {
        let pci = self.pci_device_above()?;
        let infos = iter::once(self).chain(pci.io_children()).flat_map(Object::infos);
        infos.chain(pci.facts()).find(|it| UUIDS.contains(&it.name)).map(|it| it.value)
    }
}

/// The place of a GPU among those of its vendor, by PCI bus id.
fn number_of(gpu: Object<'_>, node: Topology<'_>) -> String {
    let mut all: Vec<_> = node
        .gpus()
        .filter(|it| vendor_of(*it) == vendor_of(gpu))
        .filter_map(Object::bus_id)
        .collect();
    all.sort_unstable();
    all.dedup();
    let own = gpu.bus_id();
    all.iter().take_while(|it| Some(**it) != own).count().to_string()
}
