//! Environment variables by which programs are told which GPUs a process is to use.

use topobroker_reader::{Object, Topology};

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

/// Name and value of each variable by which a programming interface is told to use the GPUs `given`,
/// objects of `node`. None if there are none, and not an empty value, which would mean no GPU.
///
/// GPUs are told by UUID where hwloc knows it, because a UUID means the same in every container. Else
/// they are told by their number, in the order of PCI bus ids of the GPUs of one vendor on the node.
///
/// ```
/// use topobroker::gpus::{Interface, variables};
/// use topobroker_reader::{Topology, jobs::Job, Object};
/// fn print(node: Topology<'_>, job: Job<'_>) {
///     let given: Vec<Object<'_>> = job.gpus(0).collect();
///     for (name, value) in variables(Interface::Cuda, &given, node) {
///         println!("{name}={value}");
///     }
/// }
/// ```
#[must_use]
pub fn variables(
    interface: Interface,
    given: &[Object<'_>],
    node: Topology<'_>,
) -> Vec<(&'static str, String)> {
    let vendor = match interface {
        Interface::Cuda => NVIDIA,
        Interface::Rocm | Interface::OpenCl => AMD,
        Interface::LevelZero => INTEL,
    };
    let own: Vec<Object<'_>> =
        given.iter().copied().filter(|gpu| vendor_of(*gpu) == Some(vendor)).collect();
    if own.is_empty() {
        return Vec::new();
    }
    let numbers = || {
        let numbers: Vec<String> = own.iter().map(|gpu| number_of(*gpu, node)).collect();
        numbers.join(",")
    };
    let uuids = |info: &str| own.iter().map(|gpu| uuid_of(*gpu, info)).collect::<Option<Vec<_>>>();
    match interface {
        Interface::Cuda => match uuids("NVIDIAUUID") {
            Some(uuids) => vec![("CUDA_VISIBLE_DEVICES", uuids.join(","))],
            None => vec![
                ("CUDA_DEVICE_ORDER", "PCI_BUS_ID".to_owned()),
                ("CUDA_VISIBLE_DEVICES", numbers()),
            ],
        },
        Interface::Rocm => {
            let uuids = uuids("AMDUUID").map(|uuids| {
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

const NVIDIA: u16 = 0x10de;
const AMD: u16 = 0x1002;
const INTEL: u16 = 0x8086;

fn vendor_of(gpu: Object<'_>) -> Option<u16> {
    gpu.pci_device_above()?.pci_attributes().map(|pci| pci.vendor_id)
}

/// The UUID that one of the OS devices of a GPU has.
fn uuid_of<'a>(gpu: Object<'a>, info: &str) -> Option<&'a str> {
    let beside = gpu.pci_device_above()?.io_children().find_map(|it| it.info(info));
    gpu.info(info).or(beside)
}

/// The place of a GPU among those of its vendor, by PCI bus id.
fn number_of(gpu: Object<'_>, node: Topology<'_>) -> String {
    let place = |gpu: Object<'_>| {
        let pci = gpu.pci_device_above()?.pci_attributes()?;
        Some((pci.domain, pci.bus_id()))
    };
    let mut all: Vec<_> =
        node.gpus().filter(|it| vendor_of(*it) == vendor_of(gpu)).filter_map(place).collect();
    all.sort_unstable();
    all.dedup();
    let own = place(gpu);
    all.iter().take_while(|it| Some(**it) != own).count().to_string()
}
