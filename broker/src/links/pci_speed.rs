//! Speeds of PCI links in NCCL's words.

use topobroker_reader::{Object, ObjectType};

/// NCCL's words for the generations of PCI, and what a lane carries in GB/s in one direction. Other
/// words mean the third generation to NCCL.
const GENERATIONS: [(&str, f32); 6] = [
    ("2.5 GT/s", 0.25),
    ("5 GT/s", 0.5),
    ("8 GT/s", 0.984_615),
    ("16 GT/s", 1.969_231),
    ("32 GT/s", 3.938_462),
    ("64.0 GT/s PCIe", 7.876_923),
];

/// Numbers of lanes that links have.
const WIDTHS: [u16; 5] = [1, 2, 4, 8, 16];

/// The speed and the number of lanes of the link of a PCI device or of the upstream side of a
/// bridge: the greatest ones of both ends, if the publisher found them out, otherwise those that
/// give the speed that hwloc reports. `None` if neither is known.
pub(super) fn pci_speed(object: Object<'_>) -> Option<(&'static str, u16)> {
    let port = object.parent().filter(|it| it.object_type() == ObjectType::Bridge);
    let ends = [greatest(object), port.and_then(greatest)];
    let generation = ends.iter().flatten().map(|(generation, _)| *generation).min();
    let width = ends.iter().flatten().map(|(_, width)| *width).min();
    let known = generation.zip(width).or_else(|| now(object).or_else(|| now(port?)));
    known.and_then(|(generation, width)| Some((GENERATIONS.get(generation)?.0, width)))
}

/// The greatest generation and number of lanes of an end of a link.
fn greatest(object: Object<'_>) -> Option<(usize, u16)> {
    let link = object.pci_link()?;
    let width = Some(link.lanes.into()).filter(|it| WIDTHS.contains(it))?;
    Some((link.generation()? - 1, width))
}

/// The lowest generation that has the speed which hwloc reports with some number of lanes.
fn now(object: Object<'_>) -> Option<(usize, u16)> {
    let pci = object.pci_attributes()?;
    if pci.linkspeed <= 0.0 {
        return None;
    }
    let fits = |lane: f32, width: u16, tolerance: f32| {
        let speed = lane * f32::from(width);
        (speed - pci.linkspeed).abs() < speed * tolerance
    };
    let within = |tolerance: f32| {
        let with_lanes = |(generation, (_, lane)): (usize, &(&str, f32))| {
            let width = WIDTHS.into_iter().find(|width| fits(*lane, *width, tolerance))?;
            Some((generation, width))
        };
        GENERATIONS.iter().enumerate().find_map(with_lanes)
    };
    // Old versions of hwloc took more bits for the encoding.
    within(0.005).or_else(|| within(0.06))
}
