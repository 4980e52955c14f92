//! The rule of Open MPI 5 over libfabric.

use super::rank::Rank;
use topobroker_layout::set::Set;
use topobroker_reader::{DeviceDistance, DeviceKinds, Locality, Object, Topology};

pub(super) fn chosen<'a>(
    topology: Topology<'a>,
    nics: &[Object<'a>],
    ranks: &[Rank<'a>],
) -> Vec<Option<Object<'a>>> {
    let choose = |(place, rank): (usize, &Rank<'a>)| {
        let near = near(topology, nics, rank.cpuset.as_ref());
        match near.as_slice() {
            [] => None,
            [only] => Some(*only),
            several => {
                let turn = turn(topology, ranks, place, rank);
                several.get(turn % several.len()).copied()
            }
        }
    };
    ranks.iter().enumerate().map(choose).collect()
}

/// The NICs at the least distance of all network devices; all NICs if PMIx gives no distances, or
/// none of them is there.
fn near<'a>(topology: Topology<'a>, nics: &[Object<'a>], set: Option<&Set>) -> Vec<Object<'a>> {
    let Some(set) = set else { return nics.to_vec() };
    let kinds = DeviceKinds::NETWORK | DeviceKinds::OPEN_FABRICS;
    let distances: Vec<DeviceDistance<'a>> = topology.device_distances(set, kinds).collect();
    let fails = |it: &DeviceDistance<'_>| {
        it.min == DeviceDistance::UNKNOWN || it.device.pmix_device_id("").is_none()
    };
    let least = distances.iter().map(|it| it.min).min();
    if distances.iter().any(fails) {
        return nics.to_vec();
    }
    // Devices of one PCI device have one distance.
    let nearest: Vec<Option<Object<'a>>> = distances
        .iter()
        .filter(|it| Some(it.min) == least)
        .map(|it| it.device.pci_device_above())
        .collect();
    let is_near = |nic: &Object<'a>| {
        let pci = nic.pci_device_above();
        pci.is_some() && nearest.contains(&pci)
    };
    let near: Vec<Object<'a>> = nics.iter().copied().filter(is_near).collect();
    if near.is_empty() { nics.to_vec() } else { near }
}

/// Which of several near NICs a rank takes: how many ranks before it share its package, or its rank
/// if a process is not bound, because it has no locality string then.
fn turn(topology: Topology<'_>, ranks: &[Rank<'_>], place: usize, rank: &Rank<'_>) -> usize {
    let before = ranks.get(..place).unwrap_or_default().iter().map(|it| it.cpuset.as_ref());
    let sets = rank.cpuset.as_ref().zip(before.collect::<Option<Vec<&Set>>>());
    let Some((own, before)) = sets else { return usize::try_from(rank.rank).unwrap_or(0) };
    let shares = |set: &&Set| topology.relative_locality(own, set).shares(Locality::PACKAGE);
    before.into_iter().filter(shares).count()
}
