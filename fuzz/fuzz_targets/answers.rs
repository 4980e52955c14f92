//! A cluster, a job or links that were changed and sealed again are refused, or all questions about
//! them have answers that agree: those of a node and those of its group, of both ends of a link, of
//! a rank and of all ranks, of a graph and of what is written of it.
#![no_main]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a fault ends the run")]

use libfuzzer_sys::fuzz_target;
use std::collections::BTreeSet;
use topobroker::links::json;
use topobroker_cluster::SlurmTopology;
use topobroker_cluster::formats::{FluxLevels, jgf, topology_conf};
use topobroker_reader::{
    Locality,
    cluster::{Cluster, Fabric, NodeGroups, Totals},
    jobs::Job,
    links::{DeclaredLinks, Direction, Measure, Paths, SwitchModel},
};

fuzz_target!(|data: &[u8]| {
    let Some((kind, data)) = data.split_first() else { return };
    match kind % 3 {
        0 => of_cluster(&topobroker_fuzz::clusters(data).1),
        1 => of_job(data),
        _ => of_links(data),
    }
});

fn of_cluster(file: &[u8]) {
    let Ok(cluster) = Cluster::open(file) else { return };
    let mut sum = Some(Totals::default());
    for node in cluster.nodes() {
        assert_eq!(cluster.node(node.number()).map(|it| it.name()), Some(node.name()));
        let found = cluster.node_by_name(node.name());
        assert!(found.is_none_or(|found| found.name() == node.name()));
        let own = cluster.totals_of([node.number()]).ok();
        sum = sum.zip(own).map(|(sum, own)| Totals {
            nodes: sum.nodes + own.nodes,
            cores: sum.cores + own.cores,
            pus: sum.pus + own.pus,
            gpus: sum.gpus + own.gpus,
            memory: sum.memory.saturating_add(own.memory),
        });
    }
    assert_eq!(cluster.totals().ok(), sum);
    if let Ok(groups) = cluster.groups() {
        of_groups(&cluster, groups);
    }
    if let Ok(fabric) = cluster.fabric() {
        of_fabric(&cluster, fabric);
    }
    let _ = jgf(&cluster, FluxLevels::default());
}

fn of_groups(cluster: &Cluster<'_>, groups: NodeGroups<'_>) {
    for group in groups.iter() {
        let nodes: BTreeSet<u32> = group.nodes().map(|node| node.number()).collect();
        assert_eq!(nodes.len(), group.node_count() as usize);
        let below = group.children().map(|child| child.node_count()).sum::<u32>();
        assert_eq!(below as usize + group.own_nodes().count(), nodes.len());
        for child in group.children() {
            assert_eq!(child.parent().map(|it| it.number()), Some(group.number()));
            assert_eq!(child.depth(), group.depth() + 1);
        }
        for node in group.own_nodes() {
            assert_eq!(node.group().map(|it| it.number()).ok(), Some(group.number()));
        }
    }
    let own: u32 =
        groups.iter().map(|group| u32::try_from(group.own_nodes().count()).unwrap()).sum();
    assert_eq!(own, cluster.node_count());
    let Ok(text) = topology_conf(groups) else { return };
    let written = SlurmTopology::from_conf("written", &text).expect("what is written is read");
    assert!(written.groups().len() < groups.iter().len());
}

fn of_fabric(cluster: &Cluster<'_>, fabric: Fabric<'_>) {
    let mut ends = 0;
    for vertex in fabric.switches().chain(fabric.ports()) {
        for link in vertex.links() {
            ends += 1;
            let is_back = |it: topobroker_reader::cluster::FabricLink<'_>| {
                (it.peer, it.port, it.peer_port) == (vertex, link.peer_port, link.port)
            };
            assert!(link.peer.links().any(is_back));
            assert_eq!(link.peer.plane(), vertex.plane());
        }
    }
    assert_eq!(ends, 2 * fabric.link_count());
    for port in fabric.ports() {
        assert!(port.node().is_none_or(|node| fabric.ports_of(node).any(|own| own == port)));
    }
    for node in cluster.nodes() {
        assert!(
            fabric
                .ports_of(node)
                .all(|port| { port.node().map(|it| it.number()) == Some(node.number()) })
        );
        let far = fabric.distances_from(node);
        for other in cluster.nodes() {
            let back = fabric.distances_from(other).to(node).map(|way| way.hops);
            assert_eq!(far.to(other).map(|way| way.hops), back);
            assert_eq!(fabric.hops_of_nodes(node, other), fabric.hops_of_nodes(other, node));
        }
    }
    let ports = fabric.ports().len() as u64;
    assert_eq!(fabric.port_pairs().values().sum::<u64>(), ports * ports.saturating_sub(1) / 2);
}

fn of_job(data: &[u8]) {
    let (base, sealed) = topobroker_fuzz::job(data);
    let Ok(job) = Job::from_segment(base.topology(), &sealed) else { return };
    let ranks: Vec<u32> = job.ranks().map(|it| it.rank).collect();
    assert_eq!(ranks.iter().collect::<BTreeSet<_>>().len(), ranks.len());
    let pus = base.topology().root().cpuset().unwrap_or_default();
    for rank in job.ranks().take(64) {
        assert_eq!(job.rank(rank.rank).map(|it| it.cpuset), Some(rank.cpuset.clone()));
        assert_eq!(job.local_rank_of(rank.rank), Some(rank.local_rank as usize));
        let near: Vec<Locality> = job.localities(rank.rank).expect("a rank").collect();
        assert_eq!(near.len(), ranks.len());
        for (other, locality) in ranks.iter().zip(&near).take(64) {
            assert_eq!(job.locality(rank.rank, *other), Some(*locality));
            assert_eq!(job.locality(*other, rank.rank), Some(*locality));
        }
        let shares_node: Vec<u32> = job.sharing(rank.rank, Locality::NODE).collect();
        assert_eq!(shares_node, ranks);
        assert!(rank.cpuset.is_none_or(|own| own.is_included_in(&pus)));
    }
}

fn of_links(data: &[u8]) {
    let (base, segment) = topobroker_fuzz::links(data);
    let topology = base.topology();
    let Ok(declared) = DeclaredLinks::from_segment(topology, &segment) else { return };
    let Ok(links) = topology.links_with_declared(SwitchModel::One, declared) else { return };
    let written = json(&links);
    let length = |name: &str| written[name].as_array().map(Vec::len);
    assert_eq!(length("nodes"), Some(links.vertices().len()));
    assert_eq!(length("edges"), Some(2 * links.links().len()));
    let mut paths = Paths::new(&links, true);
    for vertex in links.vertex_ids() {
        for measure in [Measure::Bandwidth, Measure::Latency, Measure::Hops] {
            let out = paths.of(vertex, Direction::Outgoing, measure).to_vec();
            for (other, path) in links.vertex_ids().zip(out) {
                assert_eq!(paths.between(vertex, other, measure), path);
            }
        }
    }
}
