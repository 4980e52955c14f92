//! A machine with NICs or GPUs, which no synthetic description has.

use topobroker_layout::attributes::{Attributes, Bridge, OsDeviceKind, Pci};
use topobroker_layout::depth::Depth;
use topobroker_layout::description::{Description, Distances, Object};
use topobroker_layout::object_type::ObjectType;

/// [`with_devices`] with active NICs.
pub fn with_nics(machine: &Description) -> Description {
    with_devices(machine, OsDeviceKind::OpenFabrics)
}

/// Adds a device of a kind to each group of a machine that has a NUMA node in each, and latencies
/// between the nodes.
pub fn with_devices(machine: &Description, kind: OsDeviceKind) -> Description {
    let mut machine = machine.clone();
    let places = |machine: &Description, kind| -> Vec<usize> {
        let all = machine.objects.iter().zip(0..);
        all.filter(|(object, _)| object.object_type == kind).map(|(_, place)| place).collect()
    };
    for (group, index) in places(&machine, ObjectType::Group).into_iter().zip(0..) {
        let pci = Pci { bus: u8::try_from(index).unwrap_or(u8::MAX), ..Pci::default() };
        let bridge = Attributes::Bridge(Bridge::default());
        let device = Attributes::OsDevice { kind };
        let mut above = group;
        for (object_type, depth, attributes) in [
            (ObjectType::Bridge, Depth::Bridge, bridge),
            (ObjectType::PCIDevice, Depth::PciDevice, Attributes::Pci(pci)),
            (ObjectType::OSDevice, Depth::OsDevice, device),
        ] {
            let place = machine.objects.len();
            machine.objects.push(Object {
                object_type,
                depth,
                logical_index: index,
                gp_index: 1_000_000 + place as u64,
                subtype: (kind == OsDeviceKind::CoProcessor && depth == Depth::OsDevice)
                    .then(|| "CUDA".to_owned()),
                name: (depth == Depth::OsDevice).then(|| format!("mlx5_{index}")),
                infos: vec![("Port1State".to_owned(), "4".to_owned())],
                facts: vec![("Port1Rate".to_owned(), "100 Gb/sec (4X EDR)".to_owned())],
                attributes,
                parent: Some(above),
                ..Object::default()
            });
            if let Some(object) = machine.objects.get_mut(above) {
                object.children.push(place);
            }
            above = place;
        }
    }
    let objects = places(&machine, ObjectType::NUMANode);
    let count = objects.len();
    let values = (0..count * count).map(|place| if place % (count + 1) == 0 { 10 } else { 21 });
    machine.distances = vec![Distances {
        name: Some("NUMALatency".to_owned()),
        // From the operating system, of latency.
        kind: 5,
        objects,
        values: values.collect(),
    }];
    machine
}
