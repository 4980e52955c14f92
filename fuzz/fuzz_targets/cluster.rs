//! Any bytes are refused as a cluster or read: the fields of a class, groups and a fabric behind a
//! right checksum, and the whole file.
#![no_main]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a fault ends the run")]

use libfuzzer_sys::fuzz_target;
use topobroker_layout::cluster::delta::ClassFields;
use topobroker_reader::cluster::Cluster;

fuzz_target!(|data: &[u8]| {
    if let Some(fields) = ClassFields::read(data) {
        let _ = fields.values(data, "node", |_| Some("text".into()));
    }
    let (whole, sealed) = topobroker_fuzz::clusters(data);
    for (file, is_trusted) in [(&whole, false), (&sealed, false), (&whole, true), (&sealed, true)] {
        let Ok(cluster) = Cluster::open_certified(file, is_trusted) else { continue };
        for class in (0..=cluster.class_count()).filter_map(|it| u16::try_from(it).ok()) {
            let _ = cluster.class_bytes(class);
        }
        let _ = cluster.totals();
        for node in cluster.nodes() {
            let _ = (node.name(), node.group().map(|group| group.depth()));
            if let Ok(opened) = node.open() {
                let _ = opened.archive().topology().objects().count();
            }
        }
        if let Ok(groups) = cluster.groups() {
            for group in groups.iter() {
                let _ = (group.name(), group.kind(), group.children().count());
                assert!(group.nodes().all(|node| node.number() < cluster.node_count()));
            }
            let ends = cluster.node(0).zip(cluster.node(cluster.node_count().saturating_sub(1)));
            let _ = ends.map(|(one, other)| groups.common(one, other).number());
        }
        if let Ok(fabric) = cluster.fabric() {
            let first = fabric.ports().next();
            for port in fabric.ports().chain(fabric.switches()) {
                let _ = (port.name(), port.node().map(|node| node.name()), port.links().count());
                let _ = first.map(|first| fabric.hops(first, port));
            }
        }
        if let (Ok(fabric), Some(node)) = (cluster.fabric(), cluster.node(0)) {
            let far = fabric.distances_from(node);
            let ways =
                cluster.nodes().map(|other| (far.to(other), fabric.hops_of_nodes(node, other)));
            for (way, hops) in ways {
                let _ = (way, hops);
            }
        }
        let _ = cluster.missing().map(|names| names.count());
    }
});
