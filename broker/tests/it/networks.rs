//! Networks of a node, and which of them a job uses, in situations of public bug reports.

use std::collections::{BTreeMap, BTreeSet};
use topobroker::findings;
use topobroker::hwloc::Input;
use topobroker::nics::{NicFilter, NicRank, Rule, chosen};
use topobroker_layout::job as layout;
use topobroker_reader::devices::environment::{Library, of_nics};
use topobroker_reader::jobs::runs_of_pus;
use topobroker_reader::{
    Object, Set, Topology, View,
    devices::{LinkLayer, NearTo, NicChoice},
    jobs::Job,
};
use topobroker_samples::jobs::segment_of_job;
use topobroker_samples::made_nodes::{FACTORY, Kind, Nic, nic};
use topobroker_samples::{describe, made_nodes, shared, topology_of};

/// The NIC that each of the ranks, one on each core, is given.
pub(crate) fn given(topology: Topology<'_>, filter: &NicFilter) -> Vec<String> {
    let Some(network) = filter.network(topology, NicChoice::Active) else { return Vec::new() };
    let sets: Vec<Set> = (0..)
        .zip(topology.objects_with_type(topobroker_reader::ObjectType::Core))
        .map(|(_, core)| core.cpuset().unwrap())
        .collect();
    let ranks: Vec<NearTo<'_, '_>> = sets.iter().map(NearTo::Pus).collect();
    let nics = topology.assign(&network.nics, &ranks, 1);
    nics.iter().map(|nic| nic.name().unwrap().to_owned()).collect()
}

/// The NICs that ranks get on a node with two packages, each once.
fn used(nics: &[Nic]) -> BTreeSet<String> {
    let topology = made_nodes::topology(2, nics);
    given(topology, &NicFilter::default()).into_iter().collect()
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn ranks_of_a_job_use_one_network_in_the_situations_of_public_bug_reports() {
    use Kind::{Efa, Ethernet, InfiniBand, Roce, Slingshot};
    let ib = InfiniBand(FACTORY);
    let mut down = nic("mlx5_0", 0, 400, ib);
    down.is_active = false;
    let cases: [(&str, Vec<Nic>, BTreeSet<String>); 10] = [
        (
            "InfiniBand on one socket, RoCE on the other",
            vec![nic("mlx5_0", 0, 200, ib), nic("mlx5_1", 1, 100, Roce)],
            names(&["mlx5_0"]),
        ),
        (
            "equal rates: the order of networks decides",
            vec![nic("mlx5_0", 0, 100, Roce), nic("mlx5_1", 1, 100, ib)],
            names(&["mlx5_1"]),
        ),
        (
            "two subnets",
            vec![
                nic("mlx5_0", 0, 100, InfiniBand(FACTORY + 2)),
                nic("mlx5_1", 1, 100, InfiniBand(FACTORY + 1)),
            ],
            names(&["mlx5_1"]),
        ),
        (
            "two subnets, one of them wider",
            vec![
                nic("a0", 0, 100, InfiniBand(FACTORY + 1)),
                nic("b0", 0, 200, InfiniBand(FACTORY + 2)),
                nic("b1", 1, 200, InfiniBand(FACTORY + 2)),
            ],
            names(&["b0", "b1"]),
        ),
        (
            "1 Gb/s near, 100 Gb/s far",
            vec![nic("eno1", 0, 1, Ethernet), nic("ens1", 1, 100, Ethernet)],
            names(&["ens1"]),
        ),
        (
            "an accelerated function of Ethernet",
            vec![nic("mlx5_ib0", 0, 100, ib), nic("mlx5_an0", 1, 25, Roce)],
            names(&["mlx5_ib0"]),
        ),
        (
            "Slingshot far, Ethernet near",
            vec![nic("eno1", 0, 1, Ethernet), nic("hsn0", 1, 200, Slingshot)],
            names(&["hsn0"]),
        ),
        (
            "EFA and an interface",
            vec![
                nic("ens5", 0, 25, Ethernet),
                nic("rdmap0s6", 0, 100, Efa),
                nic("rdmap16s6", 1, 100, Efa),
            ],
            names(&["rdmap0s6", "rdmap16s6"]),
        ),
        ("a port that is down", vec![down, nic("mlx5_1", 1, 100, ib)], names(&["mlx5_1"])),
        (
            "several rates in one subnet",
            vec![nic("mlx5_0", 0, 200, ib), nic("mlx5_1", 1, 100, ib)],
            names(&["mlx5_0", "mlx5_1"]),
        ),
    ];
    let mut mixed = BTreeMap::new();
    for (situation, nics, expected) in cases {
        assert_eq!(used(&nics), expected, "{situation}");
        let variables = variables(&nics, &expected);
        let [open_mpi, mpich] = [Rule::OpenMpi, Rule::Mpich].map(|rule| alone(rule, &nics));
        let networks = |chosen: &BTreeSet<String>| {
            let kinds = nics.iter().filter(|nic| chosen.contains(&nic.name));
            let kinds = kinds.map(|nic| {
                format!("{:?} {}", nic.kind, nic.rate * u64::from(nic.kind == Ethernet))
            });
            kinds.collect::<BTreeSet<_>>().len()
        };
        assert_eq!(networks(&expected), 1, "{situation}");
        for (library, chosen) in [("Open MPI", &open_mpi), ("MPICH", &mpich)] {
            *mixed.entry(library).or_insert(0) += usize::from(networks(chosen) > 1);
        }
        let list =
            |names: &BTreeSet<String>| Vec::from_iter(names.iter().map(String::as_str)).join(", ");
        // The table of docs/NETWORKS.md.
        eprintln!(
            "| {situation} | {} | {} | {} | {variables} |",
            list(&expected),
            list(&open_mpi),
            list(&mpich)
        );
    }
    // What they find, they use, unless a variable says otherwise.
    assert_eq!(mixed, BTreeMap::from([("MPICH", 6), ("Open MPI", 6)]));
}

/// The NICs that a library gives to one rank on each core, if no variable says which to use.
fn alone(rule: Rule, nics: &[Nic]) -> BTreeSet<String> {
    let topology = made_nodes::topology(2, nics);
    let all: Vec<Object<'_>> = topology.nics(NicChoice::Active).collect();
    let ranks: Vec<NicRank<'_>> = (0..)
        .zip(topology.objects_with_type(topobroker_reader::ObjectType::Core))
        .map(|(rank, core)| NicRank { rank, cpuset: core.cpuset(), gpu: None })
        .collect();
    let chosen = chosen(rule, topology, &all, &ranks);
    chosen.into_iter().flatten().map(|nic| nic.name().unwrap().to_owned()).collect()
}

/// The variables of UCX, NCCL and MPICH for a rank that has the first of some NICs.
fn variables(nics: &[Nic], given: &BTreeSet<String>) -> String {
    let topology = made_nodes::topology(2, nics);
    let all: Vec<Object<'_>> = topology.nics(NicChoice::Active).collect();
    let first = topology.os_device(given.first().unwrap()).unwrap();
    let of = |library| of_nics(library, &[first], &all);
    let all = [Library::Ucx, Library::Nccl, Library::Mpich].into_iter().flat_map(of);
    all.map(|(name, value)| format!("`{name}={value}`")).collect::<Vec<_>>().join(" ")
}

#[test]
fn of_a_reference_machine_no_rank_gets_the_accelerated_ethernet_function() {
    let Some(shared) = shared() else { return };
    let machine = Input::Xml(shared.join("topologies/openpmix__test-topo.xml"));
    let topology = topology_of(&describe(&machine));
    let network = NicFilter::default().network(topology, NicChoice::ActiveOrUnknown);
    let network = network.unwrap();
    assert_eq!(network.id.kind(), "InfiniBand");
    let names: Vec<&str> = network.nics.iter().filter_map(|nic| nic.name()).collect();
    assert_eq!(names, ["mlx5_ib0"]);
}

#[test]
fn a_port_with_a_lid_is_of_infiniband_and_an_active_one_without_is_not() {
    let topology = made_nodes::topology(
        1,
        &[nic("mlx5_0", 0, 100, Kind::InfiniBand(FACTORY)), nic("mlx5_1", 0, 100, Kind::Roce)],
    );
    let layer = |name: &str| {
        let device = topology.os_device(name).unwrap();
        device.ports().next().unwrap().link_layer()
    };
    assert_eq!(layer("mlx5_0"), Some(LinkLayer::InfiniBand));
    assert_eq!(layer("mlx5_1"), Some(LinkLayer::Ethernet));
}

#[test]
fn sites_name_networks_and_nics_as_ucx_and_nccl_do() {
    let ib = Kind::InfiniBand(FACTORY + 1);
    let nics = [
        nic("mlx5_0", 0, 200, ib),
        nic("mlx5_1", 1, 200, ib),
        nic("mlx5_10", 1, 200, ib),
        nic("mlx5_an0", 0, 100, Kind::Roce),
    ];
    let topology = made_nodes::topology(2, &nics);
    let used = |network, only, without| -> BTreeSet<String> {
        let filter = NicFilter::new(network, only, without).unwrap();
        given(topology, &filter).into_iter().collect()
    };
    assert_eq!(used(None, Some("=mlx5_0:1,mlx5_1"), None), names(&["mlx5_0", "mlx5_1"]));
    assert_eq!(used(None, Some("=mlx5_0:2"), None), names(&[]));
    assert_eq!(used(None, Some("mlx5_1"), None), names(&["mlx5_1"]));
    assert_eq!(used(None, Some("mlx5_1*"), None), names(&["mlx5_1", "mlx5_10"]));
    assert_eq!(used(None, Some("^mlx5_1"), None), names(&["mlx5_0", "mlx5_10"]));
    assert_eq!(used(None, Some("mlx5_an"), None), names(&["mlx5_an0"]));
    assert_eq!(used(None, None, Some("mlx5_0,mlx5_1")), names(&["mlx5_10"]));
    assert_eq!(used(Some("roce"), None, None), names(&["mlx5_an0"]));
    assert_eq!(
        used(Some("fe80:0000:0000:0001"), None, None),
        names(&["mlx5_0", "mlx5_1", "mlx5_10"])
    );
    assert_eq!(used(Some("slingshot"), None, None), names(&[]));
}

#[test]
fn mpich_numbers_the_nics_of_one_provider_of_libfabric() {
    let nics = [
        nic("eno1", 0, 1, Kind::Ethernet),
        nic("hsn0", 0, 200, Kind::Slingshot),
        nic("hsn1", 1, 200, Kind::Slingshot),
    ];
    let topology = made_nodes::topology(2, &nics);
    let all: Vec<Object<'_>> =
        ["eno1", "hsn0", "hsn1"].map(|name| topology.os_device(name).unwrap()).into();
    let variables = of_nics(Library::Mpich, &all[2..], &all);
    // MPICH 5 uses one NIC by default, and 4.3 opens all: what else it does is left to the user.
    assert_eq!(variables, [("MPIR_CVAR_CH4_OFI_PREF_NIC", "1".to_owned())]);
    let variables = of_nics(Library::Libfabric, &all[2..], &all);
    assert_eq!(variables, []);
    let variables = of_nics(Library::Libfabric, &all[..1], &all);
    assert_eq!(variables, [("FI_TCP_IFACE", "eno1".to_owned())]);
}

#[test]
fn a_job_whose_ranks_are_on_networks_that_do_not_reach_each_other_is_found() {
    let nics =
        [nic("mlx5_0", 0, 200, Kind::InfiniBand(FACTORY)), nic("mlx5_1", 1, 100, Kind::Roce)];
    let topology = made_nodes::topology(2, &nics);
    let found = |names: [&str; 2]| {
        let cores: Vec<Set> = [0, 4].map(|pu| [pu].into_iter().collect()).into();
        let ranks = [0, 1].map(|rank| (rank, runs_of_pus(topology, &cores[rank as usize])));
        let overlay = View::whole(topology).to_overlay().unwrap();
        let job = layout::Job::new([0; 16], "ranks", overlay, &ranks);
        let index = |name: &str| topology.os_device(name).unwrap().logical_index();
        let nics = layout::DevicesOfRanks::pack(1, &names.map(index));
        let segment = segment_of_job(&layout::Job { nics, ..job }).unwrap();
        let job = Job::from_segment(topology, &segment).unwrap();
        let findings = findings::binding(topology, job);
        let texts = findings.into_iter().filter(|it| it.kind == findings::FindingKind::Networks);
        texts.map(|it| it.text).collect::<Vec<_>>()
    };
    assert!(found(["mlx5_0", "mlx5_0"]).is_empty());
    let expected = "rank 0 is on InfiniBand fe80:0000:0000:0000, rank 1 is on RoCE 100 Gb/s: \
                    these networks do not reach each other; add the job again with --network";
    assert_eq!(found(["mlx5_0", "mlx5_1"]), [expected]);
}
