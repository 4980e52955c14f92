//! Compares networks of random nodes with a model of the rule.

use crate::networks::given;
use std::collections::{BTreeMap, BTreeSet};
use topobroker::nics::NicFilter;
use topobroker_reader::devices::{NetworkId, NicChoice};
use topobroker_samples::made_nodes::{self, FACTORY, Kind, Nic};

/// The network that the rule chooses, computed in another way: the bandwidth of each is summed up,
/// and the first in the order of kinds, subnets and rates of those with the most is taken.
fn model(nics: &[Nic]) -> Option<(u8, u64)> {
    let has_fabric = nics.iter().any(|nic| nic.kind != Kind::Ethernet);
    let mut sums: BTreeMap<(u8, u64), u64> = BTreeMap::new();
    for nic in
        nics.iter().filter(|nic| nic.is_active && (!has_fabric || nic.kind != Kind::Ethernet))
    {
        let key = match nic.kind {
            Kind::InfiniBand(subnet) => (0, subnet),
            Kind::Slingshot => (1, 0),
            Kind::Efa => (3, 0),
            Kind::Roce => (4, nic.rate),
            Kind::Ethernet => (5, nic.rate),
        };
        *sums.entry(key).or_default() += nic.rate;
    }
    let most = sums.values().copied().max()?;
    sums.into_iter().find(|(_, sum)| *sum == most).map(|(key, _)| key)
}

fn key_of(id: NetworkId) -> (u8, u64) {
    match id {
        NetworkId::InfiniBand(subnet) => (0, subnet.unwrap_or(0)),
        NetworkId::Slingshot => (1, 0),
        NetworkId::OmniPath(_) => (2, 0),
        NetworkId::Efa => (3, 0),
        NetworkId::Roce(mbps) => (4, mbps.unwrap_or(0) / 1000),
        NetworkId::Ethernet(mbps) => (5, mbps.unwrap_or(0) / 1000),
        _ => (9, 0),
    }
}

#[test]
fn on_random_nodes_all_ranks_use_the_network_of_the_model_and_share_its_nics_evenly() {
    let mut random = fastrand::Rng::with_seed(38);
    let mut chosen = BTreeSet::new();
    // A person who changes the rule asks for more.
    let rounds = std::env::var("TOPOBROKER_ROUNDS").map_or(1000, |it| it.parse().unwrap());
    for round in 0..rounds {
        let packages = random.usize(1..5);
        let nics: Vec<Nic> = (0..random.usize(0..7))
            .map(|number| Nic {
                name: format!("nic{number}"),
                package: random.usize(..packages),
                rate: [1, 25, 100, 200, 400][random.usize(..5)],
                is_active: random.u8(..5) > 0,
                kind: [
                    Kind::InfiniBand(FACTORY),
                    Kind::InfiniBand(FACTORY + 7),
                    Kind::Roce,
                    Kind::Efa,
                    Kind::Ethernet,
                    Kind::Slingshot,
                ][random.usize(..6)],
            })
            .collect();
        let topology = made_nodes::topology(packages, &nics);
        let network = NicFilter::default().network(topology, NicChoice::Active);
        let expected = model(&nics);
        assert_eq!(network.as_ref().map(|it| key_of(it.id)), expected, "{round}: {nics:?}");
        // The names and places of NICs differ between nodes of one kind, their networks do not.
        let mut other = nics.clone();
        random.shuffle(&mut other);
        other.iter_mut().for_each(|nic| nic.package = random.usize(..packages));
        let other = made_nodes::topology(packages, &other);
        let there = NicFilter::default().network(other, NicChoice::Active);
        assert_eq!(there.map(|it| it.id), network.as_ref().map(|it| it.id), "{round}");
        let Some(network) = network else { continue };
        chosen.insert(network.id.kind());
        let own: BTreeSet<&str> = network.nics.iter().map(|nic| nic.name().unwrap()).collect();
        let ranks = given(topology, &NicFilter::default());
        assert_eq!(ranks.len(), 4 * packages);
        assert!(ranks.iter().all(|name| own.contains(name.as_str())), "{round}: {ranks:?}");
        // The ranks of a package that has NICs of the same rate share them evenly.
        for package in 0..packages {
            let near: Vec<&Nic> = nics
                .iter()
                .filter(|nic| nic.package == package && own.contains(nic.name.as_str()))
                .collect();
            if near.is_empty() || near.iter().any(|nic| nic.rate != near[0].rate) {
                continue;
            }
            let mine = &ranks[4 * package..4 * package + 4];
            let counts: Vec<usize> = near
                .iter()
                .map(|nic| mine.iter().filter(|name| **name == nic.name).count())
                .collect();
            assert_eq!(
                counts.iter().sum::<usize>(),
                4,
                "{round}: ranks leave their package: {ranks:?}"
            );
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(most - least <= 1, "{round}: {counts:?}");
        }
    }
    assert!(chosen.len() >= 5, "{chosen:?}");
}
