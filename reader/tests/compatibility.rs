//! Compatibility of formats. `fixtures/` keeps one segment of every format so far; each must be
//! read, or refused with an error that names its version.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]

use std::path::Path;
use topobroker_layout::encode::AlignedVec;
use topobroker_layout::header::{HEADER_LEN, Header, VERSION_MAJOR, segment_len};
use topobroker_layout::links::{self, LinkClass};
use topobroker_layout::{HeaderError, OpenError, job, open};
use topobroker_reader::cluster::Cluster;
use topobroker_reader::{Archive, ObjectType};

/// Reads a segment from `fixtures/`.
fn kept(name: &str) -> AlignedVec {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(name);
    let mut bytes = AlignedVec::new();
    bytes.extend_from_slice(&std::fs::read(file).unwrap());
    bytes
}

/// Puts the archive of a kept segment into a segment of another version.
fn of_version(version: (u32, u32)) -> AlignedVec {
    let segment = kept("topology-1.0");
    let header = Header { version, ..Header::read(&segment).unwrap() };
    let archive = &segment[HEADER_LEN..];
    let mut bytes = AlignedVec::new();
    bytes.resize(segment_len(archive.len()), 0);
    header.write(archive, &mut bytes).unwrap();
    topobroker_layout::header::mark_ready(&mut bytes);
    bytes
}

#[test]
fn a_topology_of_format_1_0_is_read() {
    let segment = kept("topology-1.0");
    let (header, _) = open(&segment).unwrap();
    assert_eq!((header.version, header.address), ((1, 0), 0x5500_0000_0000));
    let opened = Archive::open(&segment[HEADER_LEN..]).unwrap();
    let topology = opened.topology();
    let count = |kind| topology.objects_with_type(kind).count();
    assert_eq!((count(ObjectType::Package), count(ObjectType::PU)), (2, 8));
    let last = topology.pu_by_os_index(7).unwrap();
    let package = last.ancestor_with_type(ObjectType::Package).unwrap();
    assert_eq!(
        (package.logical_index(), package.cpuset().unwrap().to_string()),
        (1, "0x000000f0".to_owned())
    );
    assert!(topobroker_reader::text::xml::export(topology).contains("SyntheticDescription"));
}

#[test]
fn a_job_of_format_1_0_is_read_over_its_topology() {
    let (base, segment) = (kept("topology-1.0"), kept("job-1.0"));
    let (header, archive) = open(&base).unwrap();
    let (_, job) = job::open(&segment).unwrap();
    assert_eq!((job.name(), job.rank_count(), job.base), ("kept", 3, header.segment_id));
    job::validate(job, archive).unwrap();
    assert_eq!(job.pus_of(1).unwrap().bounds(), (6, 7));
}

#[test]
fn declared_links_of_format_1_0_are_read_over_their_topology() {
    let (base, segment) = (kept("topology-1.0"), kept("links-1.0"));
    let (header, archive) = open(&base).unwrap();
    let (_, declared) = links::open(&segment).unwrap();
    links::validate(declared, archive).unwrap();
    assert_eq!(declared.base, header.segment_id);
    let read: Vec<_> = declared.links().map(|it| (it.class, it.links, it.forward)).collect();
    assert_eq!(read, [(LinkClass::Smp, Some(3), Some(40_000))]);
}

#[test]
fn a_cluster_of_format_1_0_is_read() {
    let file = kept("cluster-1.0");
    let cluster = Cluster::open(&file).unwrap();
    assert_eq!((cluster.node_count(), cluster.class_count()), (4, 2));
    let last = cluster.node_by_name("n3").unwrap();
    assert_eq!(last.group().unwrap().name(), "rack1");
    let opened = last.open().unwrap();
    assert_eq!(opened.archive().topology().objects_with_type(ObjectType::Core).count(), 4);
}

#[test]
fn a_later_minor_version_is_read_and_another_major_one_is_refused_by_name() {
    assert_eq!(open(&of_version((VERSION_MAJOR, 9))).unwrap().0.version, (VERSION_MAJOR, 9));
    let found = (VERSION_MAJOR + 1, 0);
    let error = open(&of_version(found)).map(|_| ()).unwrap_err();
    let OpenError::Header(HeaderError::Version { found: named, expected }) = error else {
        panic!("{error}");
    };
    assert_eq!((named, expected), (found, VERSION_MAJOR));
}
