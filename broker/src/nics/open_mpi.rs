//! The rule of Open MPI 5.0.11 over libfabric.

use super::NicRank;
use topobroker_layout::set::Set;
use topobroker_reader::{
    Locality, Object, Topology,
    devices::{DeviceDistance, DeviceKinds},
};

pub(super) fn chosen<'a>(
    topology: Topology<'a>,
    nics: &[Object<'a>],
    ranks: &[NicRank<'a>],
) -> Vec<Option<Object<'a>>> {
    let choose = |(place, rank): (usize, &NicRank<'a>)| {
        // Processes that are not bound take turns.
        let Some(set) = &rank.cpuset else {
            return nics.get(place.checked_rem(nics.len())?).copied();
        };
        let near = near(topology, nics, set);
        let turn = turn(topology, ranks, place, rank);
        near.get(turn.checked_rem(near.len())?).copied()
    };
    ranks.iter().enumerate().map(choose).collect()
}

/// The NICs at the least distance; all NICs if PMIx gives no distances.
fn near<'a>(topology: Topology<'a>, nics: &[Object<'a>], set: &Set) -> Vec<Object<'a>> {
    let kinds = DeviceKinds::NETWORK | DeviceKinds::OPEN_FABRICS;
    let distances: Vec<DeviceDistance<'a>> = topology.device_distances(set, kinds).collect();
    let fails = |it: &DeviceDistance<'_>| {
        it.min == DeviceDistance::UNKNOWN || it.device.pmix5_device_id("").is_none()
    };
    if distances.iter().any(fails) {
        return nics.to_vec();
    }
    let distance = |nic: &Object<'a>| {
        let pci = nic.pci_device_above();
        let mut of_nic = distances.iter().filter(|it| it.device.pci_device_above() == pci);
        of_nic.next().filter(|_| pci.is_some()).map_or(DeviceDistance::UNKNOWN, |it| it.min)
    };
    let least = nics.iter().map(distance).min();
    nics.iter().copied().filter(|nic| Some(distance(nic)) == least).collect()
}

/// Which of several near NICs a rank takes: how many ranks before it share its package, or its rank
/// if one of them is not bound, because that has no locality string.
fn turn(topology: Topology<'_>, ranks: &[NicRank<'_>], place: usize, rank: &NicRank<'_>) -> usize {
    let before = ranks.get(..place).unwrap_or_default().iter().map(|it| it.cpuset.as_ref());
    let sets = rank.cpuset.as_ref().zip(before.collect::<Option<Vec<&Set>>>());
    let Some((own, before)) = sets else { return usize::try_from(rank.rank).unwrap_or(0) };
    let shares = |set: &&Set| topology.relative_locality(own, set).shares(Locality::PACKAGE);
    before.into_iter().filter(shares).count()
}
