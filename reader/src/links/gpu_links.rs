//! Links between GPUs: hwloc's matrices of NVLink, XGMI and Xe Link.

use super::parts::Parts;
use crate::devices::GpuLink;
use crate::object::Object;
use crate::tables::Distances;
use alloc::vec::Vec;
use topobroker_layout::attributes::Attributes;
use topobroker_layout::links::{Link, LinkClass, LinkOrigin, VertexId, VertexKind};

/// Adds the links between the GPUs, switches and CPUs of matrices.
pub(super) fn add(parts: &mut Parts<'_>) {
    for link in GpuLink::ALL {
        let class = match link {
            GpuLink::NvLink => LinkClass::NvLink,
            GpuLink::Xgmi => LinkClass::Xgmi,
            GpuLink::XeLink => LinkClass::XeLink,
        };
        for matrix in parts.topology.distances_with_name(link.matrix()) {
            add_matrix(parts, matrix, class);
        }
    }
}

fn add_matrix<'a>(parts: &mut Parts<'a>, matrix: Distances<'a>, class: LinkClass) {
    let objects: Vec<Object<'a>> = matrix.objects().collect();
    let vertices: Vec<VertexId> = objects.iter().map(|it| vertex(parts, *it)).collect();
    let value = |from, to| matrix.value(from, to).and_then(|it| u32::try_from(it).ok());
    let pairs = (0..objects.len()).flat_map(|one| (0..one).map(move |other| (other, one)));
    for (one, other) in pairs {
        if parts.is_full() {
            return;
        }
        let (forward, backward) = (value(one, other), value(other, one));
        let is_link = forward.is_some_and(|it| it > 0) || backward.is_some_and(|it| it > 0);
        let ends = vertices.get(one).copied().zip(vertices.get(other).copied());
        let Some((first, second)) = ends.filter(|ends| is_link && ends.0 != ends.1) else {
            continue;
        };
        let is_one_device = || {
            let pci = |place: usize| objects.get(place).and_then(|it| it.pci_device_above());
            pci(one).is_some() && pci(one) == pci(other)
        };
        let class = if is_one_device() { LinkClass::Loc } else { class };
        let each = || [one, other].iter().find_map(|place| of_one_nvlink(*objects.get(*place)?));
        let count = || {
            let each = each().filter(|_| class == LinkClass::NvLink)?;
            let all = forward.filter(|all| all.checked_rem(each) == Some(0))?;
            u16::try_from(all.checked_div(each)?).ok()
        };
        let count = count();
        // Several rows may be of one vertex: then this is one more link between the same two.
        let merges = [first, second].iter().any(|vertex| parts.is_merged(*vertex));
        let origin = if merges { LinkOrigin::Assumed } else { LinkOrigin::Reported };
        let link = Link {
            links: count,
            forward: forward.filter(|it| *it > 0),
            backward: backward.filter(|it| *it > 0),
            ..Link::between(first, second, class, origin)
        };
        parts.add_link(link);
    }
}

/// [`nvlink_bandwidth`] of a GPU.
fn of_one_nvlink(gpu: Object<'_>) -> Option<u32> {
    match gpu.pci_device_above()?.attributes() {
        Attributes::Pci(pci) => Some(nvlink_bandwidth(pci.device_id)),
        _ => None,
    }
}

/// The bandwidth in MB/s of one NVLink of a GPU in one direction, which is that of its generation:
/// hwloc has only the sum of all links. `device_id` is the PCI device id of an NVIDIA GPU that has
/// NVLink; of any other the answer means nothing.
///
/// ```
/// // An H100.
/// assert_eq!(topobroker_reader::links::nvlink_bandwidth(0x2330), 25_000);
/// ```
#[must_use]
pub fn nvlink_bandwidth(device_id: u16) -> u32 {
    match device_id {
        // Pascal.
        ..0x1d00 => 20_000,
        // Volta to Hopper.
        0x1d00..0x2900 => 25_000,
        // Blackwell and later.
        0x2900.. => 50_000,
    }
}

/// The vertex of an object of a matrix: a device, or CPUs, or CPUs that memory hangs on.
fn vertex<'a>(parts: &mut Parts<'a>, object: Object<'a>) -> VertexId {
    let device = parts.known(object).or_else(|| parts.known(object.pci_device_above()?));
    match device {
        Some(vertex) if !object.object_type().is_memory() => vertex,
        Some(_) => parts.cpus(object.normal_part()),
        None if object.object_type().is_io() => {
            let pci = object.pci_device_above().unwrap_or(object);
            parts.vertex(VertexKind::Gpu, pci)
        }
        None => parts.cpus(object.normal_part()),
    }
}
