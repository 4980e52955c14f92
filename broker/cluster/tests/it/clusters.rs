//! Clusters: many nodes in one file, on real clusters and on hand-made ones.

use std::collections::BTreeMap;
use topobroker_cluster::gather::{Known, NodeReport};
use topobroker_cluster::{ClusterBuilder, ClusterError, GroupId, PreparedNode, prepare};
use topobroker_layout::cluster::head::{HEAD_LEN, Head};
use topobroker_layout::cluster::nodes::ClassRow;
use topobroker_layout::encode::to_bytes;
use topobroker_reader::text::xml::export;
use topobroker_reader::{
    Archive, ObjectType, RestrictFlags, Set, View,
    cluster::{Cluster, GroupKind},
};
use topobroker_sample_clusters::{CLUSTERS, build, files_of};
use topobroker_samples::synthetic;

#[test]
fn every_node_of_every_cluster_is_exported_as_the_node_alone() {
    for (name, count, _, _) in CLUSTERS {
        let Some(files) = files_of(name) else { return };
        assert_eq!(files.len(), count, "{name}");
        let bytes = build(&files, 2);
        let cluster = Cluster::open(&bytes).unwrap();
        assert_eq!(cluster.nodes().len(), count);
        for node in &files {
            let alone =
                topobroker_samples::describe(&topobroker::hwloc::Input::Xml(node.file.clone()));
            let archive = to_bytes(&alone).unwrap();
            let alone = export(Archive::open(&archive).unwrap().topology());
            let there = cluster.node_by_name(node.name.as_ref().unwrap()).unwrap().open().unwrap();
            let there = export(there.archive().topology());
            assert!(alone == there, "{name}: {} differs", node.file.display());
        }
    }
}

#[test]
fn clusters_have_few_classes_and_few_bytes_a_node() {
    for (name, count, classes, bytes_a_node) in CLUSTERS {
        let Some(files) = files_of(name) else { return };
        let bytes = build(&files, 2);
        let cluster = Cluster::open(&bytes).unwrap();
        assert!(cluster.class_count() <= classes, "{name}: {} classes", cluster.class_count());
        let (_, head) = Head::read(&bytes[..HEAD_LEN], bytes.len() as u64).unwrap();
        let rows = (0..head.classes.count).map(|class| {
            let row = ClassRow::read(head.classes.get(&bytes, class).unwrap()).unwrap();
            row.fields.len + row.rows.byte_len() + u64::from(row.texts.len)
        });
        let own = rows.sum::<u64>() as f64 / count as f64;
        assert!(own <= bytes_a_node, "{name}: {own} bytes a node");
        println!(
            "{name}: {} classes, {own:.1} bytes a node, {} in all",
            cluster.class_count(),
            bytes.len()
        );
    }
}

#[test]
fn the_same_nodes_in_any_order_give_the_same_bytes_but_for_the_header() {
    let Some(mut files) = files_of("plafrim/hwloc") else { return };
    let one = build(&files, 1);
    fastrand::Rng::with_seed(7).shuffle(&mut files);
    let other = build(&files, 2);
    assert_eq!(one[160..], other[160..]);
}

#[test]
fn views_and_tables_of_a_node_are_those_of_the_node_alone() {
    let Some(files) = files_of("plafrim/hwloc") else { return };
    let bytes = build(&files, 2);
    let cluster = Cluster::open(&bytes).unwrap();
    for node in files.iter().step_by(7) {
        let alone = topobroker_samples::describe(&topobroker::hwloc::Input::Xml(node.file.clone()));
        let archive = to_bytes(&alone).unwrap();
        let alone = Archive::open(&archive).unwrap();
        let there = cluster.node_by_name(node.name.as_ref().unwrap()).unwrap().open().unwrap();
        let there = there.archive();
        let (alone, there) = (alone.topology(), there.topology());
        for (own, other) in alone.objects().zip(there.objects()) {
            assert_eq!(own.os_index(), other.os_index());
            assert_eq!(own.total_memory(), other.total_memory());
            assert_eq!(own.name(), other.name());
            assert!(other.name().is_none_or(|name| other.is_named(name)));
        }
        let set: Set = [0, 1, 3].into_iter().collect();
        let flags = RestrictFlags::from_bits(0);
        let own = View::new(alone, &set, flags).unwrap();
        let other = View::new(there, &set, flags).unwrap();
        assert_eq!(export(own.topology()), export(other.topology()));
        let devices = |topology: topobroker_reader::Topology<'_>| -> Vec<String> {
            let pci = topology.objects_with_type(ObjectType::PCIDevice);
            pci.map(|it| format!("{:?} {:?}", it.attributes(), it.os_index())).collect()
        };
        assert_eq!(devices(alone), devices(there));
    }
}

#[test]
fn what_is_above_a_node_is_found_from_each_object_and_has_no_set() {
    // The example of hwloc 1.11's manual, and its test: 8 hosts below 4 groups below 2.
    let mut builder = ClusterBuilder::new();
    let host = synthetic("NUMANode:2 Package:2 L3Cache:1 Core:2 L2Cache:2 PU:2");
    let mut number = 0;
    for upper in 0..2 {
        let upper = builder
            .add_group(GroupId::CLUSTER, GroupKind::Switch, &format!("upper{upper}"))
            .unwrap();
        for _ in 0..2 {
            let name = format!("lower{}", number / 2);
            let lower = builder.add_group(upper, GroupKind::Switch, &name).unwrap();
            for _ in 0..2 {
                builder.add_node(lower, Some(&format!("host{number}")), &host).unwrap();
                number += 1;
            }
        }
    }
    let only = builder.add_group(GroupId::CLUSTER, GroupKind::Rack, "with one child").unwrap();
    builder.add_group(only, GroupKind::Group, "without nodes").unwrap();
    let bytes = builder.finish().unwrap();
    let cluster = Cluster::open(&bytes).unwrap();
    assert_eq!(cluster.class_count(), 1);
    let totals = cluster.totals().unwrap();
    assert_eq!((totals.nodes, totals.pus, totals.cores), (8, 8 * 32, 8 * 8));
    let groups = cluster.groups().unwrap();
    assert_eq!(groups.iter().count(), 1 + 2 + 4 + 2, "groups with one child or none are kept");
    let node = |name: &str| cluster.node_by_name(name).unwrap();
    let leaf = node("host5").group().unwrap();
    let path: Vec<&str> =
        std::iter::successors(Some(leaf), |it| it.parent()).map(|it| it.name()).collect();
    assert_eq!(path, ["lower2", "upper1", ""]);
    assert_eq!(groups.common(node("host4"), node("host5")).name(), "lower2");
    assert_eq!(groups.common(node("host4"), node("host7")).name(), "upper1");
    assert_eq!(groups.common(node("host0"), node("host7")), groups.root());
    assert_eq!(groups.root().node_count(), 8);
    let upper = groups.by_name("upper0").unwrap();
    let below: Vec<&str> = upper.nodes().map(|node| node.name()).collect();
    assert_eq!((upper.depth(), below), (1, vec!["host0", "host1", "host2", "host3"]));
    assert_eq!(upper.children().count(), 2);
    // What hwloc 1.11 answered wrongly: PU 0 is of each node, and counts are the node's own.
    let opened = node("host3").open().unwrap();
    let archive = opened.archive();
    let topology = archive.topology();
    assert_eq!(topology.objects_with_type(ObjectType::PU).count(), 32);
    assert_eq!(topology.pu_by_os_index(0).unwrap().logical_index(), 0);
}

#[test]
fn a_node_after_the_first_of_its_class_reports_half_a_kilobyte() {
    for (name, _, _, _) in CLUSTERS {
        let Some(files) = files_of(name) else { return };
        let mut firsts: BTreeMap<u128, Known> = BTreeMap::new();
        let (mut longest, mut sum, mut count) = (0, 0, 0);
        for file in files {
            for node in prepare(&file).unwrap() {
                let report = NodeReport::new(node);
                let class = report.class();
                let Some(known) = firsts.get(&class) else {
                    firsts.insert(class, Known::read("a test", &report.whole()).unwrap());
                    continue;
                };
                let length = report.against(known).len();
                longest = longest.max(length);
                (sum, count) = (sum + length, count + 1);
            }
        }
        eprintln!("{name}: {count} reports of {} bytes, at most {longest}", sum / count.max(1));
        assert!(longest <= 500 && count > 0, "{name}: {longest} bytes, {count}");
    }
}

#[test]
fn more_classes_than_a_cluster_can_have_are_refused() {
    let mut description = synthetic("PU:1");
    description.objects[0].infos.push((String::new(), "value".to_owned()));
    let mut builder = ClusterBuilder::new();
    for number in 0..=65_535 {
        // The name of an info is part of the class.
        let infos = &mut description.objects[0].infos;
        infos.last_mut().unwrap().0 = format!("Name{number}");
        let archive = to_bytes(&description).unwrap();
        let name = format!("n{number}");
        let node = PreparedNode::of_archive(archive, Some(&name), "a test").unwrap();
        let added = builder.add(GroupId::CLUSTER, node);
        match number {
            65_535 => assert_eq!(
                added.unwrap_err().to_string(),
                "65536 classes of nodes, expected 65535 at most"
            ),
            _ => added.unwrap(),
        }
    }
    assert!(matches!(builder.finish(), Err(ClusterError::TooMany { .. })));
}

#[test]
fn a_prepared_node_has_the_hash_of_its_class_wherever_it_is_computed() {
    let hash = |machine: &str| {
        let archive = to_bytes(&synthetic(machine)).unwrap();
        PreparedNode::of_archive(archive, Some("n"), "a test").unwrap().class_hash()
    };
    assert_eq!(hash("Core:2 PU:2"), hash("Core:2 PU:2"));
    assert_ne!(hash("Core:2 PU:2"), hash("Core:4 PU:1"));
}
