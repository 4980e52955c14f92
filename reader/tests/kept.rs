//! A segment from a machine of 64 bits with the low byte first can be read on every machine. Miri
//! runs this test as a machine of 32 bits with the high byte first.

use topobroker_layout::encode::AlignedVec;
use topobroker_layout::header::HEADER_LEN;
use topobroker_reader::{Archive, ObjectType, RestrictFlags, Set, View, jobs::Job};

fn aligned(bytes: &[u8]) -> AlignedVec {
    let mut aligned = AlignedVec::new();
    aligned.extend_from_slice(bytes);
    aligned
}

#[test]
fn a_kept_topology_and_its_job_are_read_on_machines_of_every_byte_order_and_width() {
    let base = aligned(include_bytes!("../../tests/fixtures/topology-1.0"));
    let job = aligned(include_bytes!("../../tests/fixtures/job-1.0"));
    let (header, _) = topobroker_layout::open(&base).unwrap();
    assert_eq!((header.version, header.address), ((1, 0), 0x5500_0000_0000));

    let base = Archive::open(&base[HEADER_LEN..]).unwrap();
    let topology = base.topology();
    let pus = topology.objects_with_type(ObjectType::PU);
    assert!(pus.filter_map(|pu| pu.os_index()).eq(0..8));
    let last = topology.pu_by_os_index(7).unwrap();
    let package = last.ancestor_with_type(ObjectType::Package).unwrap();
    assert_eq!(package.cpuset().unwrap().to_string(), "0x000000f0");
    let half = View::new(topology, &Set::from_words([0x0f], false), RestrictFlags::REMOVE_CPULESS);
    assert_eq!(half.unwrap().topology().objects_with_type(ObjectType::PU).count(), 4);

    let job = Job::from_segment(topology, &job).unwrap();
    assert_eq!((job.name(), job.ranks().len()), ("kept", 3));
    assert_eq!(job.rank(1).unwrap().cpuset.unwrap().to_string(), "0x000000c0");
    assert!(job.view().topology().object_count() < topology.object_count());
}
