//! The rule of NCCL. Its bandwidths are estimates: of PCI links by their generation and width, of
//! links between processors by their kind.

use super::NicRank;
use std::cmp::Reverse;
use topobroker_reader::{Object, ObjectType, OsDeviceKind, Topology, devices::PathClass};

pub(super) fn chosen<'a>(
    topology: Topology<'a>,
    nics: &[Object<'a>],
    ranks: &[NicRank<'a>],
) -> Vec<Option<Object<'a>>> {
    // CUDA's numbers, in the order of bus ids; of the GPUs that ranks have, all are in one
    // communicator.
    let mut gpus: Vec<Object<'a>> = topology.gpus().collect();
    gpus.sort_by_key(|gpu| gpu.bus_id());
    let has_rank = |gpu: &Object<'a>| ranks.iter().any(|rank| rank.gpu == Some(*gpu));
    let used: Vec<Object<'a>> = gpus.iter().copied().filter(has_rank).collect();
    let choose = |rank: &NicRank<'a>| {
        let gpu = rank.gpu?;
        let number = gpus.iter().position(|it| *it == gpu)?;
        let local = best(topology, gpu, nics);
        let sharing = best(topology, *local.first()?, &used).len();
        let turn = number.checked_rem(sharing)?;
        let turn = if local.len().is_power_of_two() { mirrored(turn, local.len()) } else { turn };
        local.get(turn % local.len()).copied()
    };
    ranks.iter().map(choose).collect()
}

/// The devices of the highest bandwidth from a device, and of those the ones of the shortest path.
fn best<'a>(topology: Topology<'a>, from: Object<'a>, to: &[Object<'a>]) -> Vec<Object<'a>> {
    let merit = |other: &Object<'a>| {
        let class = match topology.path_class(from, *other) {
            // NCCL knows one host bridge of each NUMA node.
            PathClass::Node => PathClass::Phb,
            class => class,
        };
        (bandwidth(topology, from, *other, class), Reverse(class))
    };
    let most = to.iter().map(merit).max();
    to.iter().copied().filter(|other| Some(merit(other)) == most).collect()
}

/// Bandwidth between a GPU and a NIC in MB/s.
fn bandwidth<'a>(
    topology: Topology<'a>,
    one: Object<'a>,
    other: Object<'a>,
    class: PathClass,
) -> u64 {
    let common = one.common_ancestor(other);
    let links = [one, other].into_iter().flat_map(|device| {
        let up = device.ancestors().take_while(move |it| *it != common && it.object_type().is_io());
        up.filter_map(link)
    });
    let network = [one, other].into_iter().filter_map(|it| network(it));
    let between = (class == PathClass::Sys).then(|| between_processors(topology));
    links.chain(network).chain(between).min().unwrap_or(u64::MAX)
}

/// Bandwidth of a network device; NCCL takes 10 Gb/s if it is unknown.
fn network(device: Object<'_>) -> Option<u64> {
    let kind = device.os_device_kind()?;
    let is_network = matches!(kind, OsDeviceKind::OpenFabrics | OsDeviceKind::Network);
    is_network.then(|| device.link_mbps().unwrap_or(10_000) / 8)
}

/// Bandwidth of the link above a PCI device or bridge: three quarters of what is on the wire. NCCL
/// takes 16 lanes of the third generation if it is unknown.
fn link(object: Object<'_>) -> Option<u64> {
    let pci = object.pci_attributes()?;
    let reported = object.pci_link().and_then(|link| {
        let of_lane = [250, 500, 1_000, 2_000, 4_000, 8_000].get(link.generation()? - 1)?;
        Some(of_lane * u64::from(link.lanes))
    });
    // Encoding takes away a little, so that the number of lanes is found by rounding.
    let measured = (pci.linkspeed > 0.0).then(|| {
        let powers = (0..20).map(|power| 125_u64 << power);
        let speed = f64::from(pci.linkspeed) * 1000.0;
        let is_below = |it: &u64| u32::try_from(*it).is_ok_and(|it| f64::from(it) < speed * 1.4);
        powers.take_while(is_below).last().unwrap_or(125)
    });
    Some(reported.or(measured).unwrap_or(16_000) * 3 / 4)
}

/// Bandwidth between two processors.
fn between_processors(topology: Topology<'_>) -> u64 {
    let root = topology.root();
    let package = topology.objects_with_type(ObjectType::Package).next();
    let info = |name| package.and_then(|it| it.info(name)).or(root.info(name));
    let model = info("CPUModelNumber").and_then(|it| it.parse::<u32>().ok()).unwrap_or(0);
    match (info("CPUVendor"), info("Architecture")) {
        (Some("GenuineIntel"), _) if model >= 0xcf => 40_000,
        (Some("GenuineIntel"), _) if model >= 0x8f => 22_000,
        (Some("GenuineIntel"), _) if model >= 0x55 => 10_000,
        (Some("AuthenticAMD"), _) => 16_000,
        (_, Some("ppc64" | "ppc64le")) => 32_000,
        _ => 6_000,
    }
}

/// A number below a power of two, with its bits reversed.
fn mirrored(number: usize, below: usize) -> usize {
    let bits = below.trailing_zeros();
    (0..bits).filter(|bit| number >> bit & 1 == 1).map(|bit| 1 << (bits - 1 - bit)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_reversed_within_a_power_of_two() {
        let mirrored: Vec<usize> = (0..8).map(|number| mirrored(number, 8)).collect();
        assert_eq!(mirrored, [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(super::mirrored(0, 1), 0);
    }
}
