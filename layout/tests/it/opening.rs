//! Bytes that differ from the published ones are refused.

use crate::machine::machine;
use rkyv::util::AlignedVec;
use topobroker_layout::encode::to_bytes;
use topobroker_layout::header::{HEADER_LEN, Header, Kind, Scope, Source, mark_ready, segment_len};
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::{
    Checked, HeaderError, OpenError, RULES, open, open_archive, open_certified, tree_is_sound,
};

fn header() -> Header {
    Header {
        version: (1, 0),
        kind: Kind::Topology,
        scope: Scope::Machine,
        source: Source::Xml,
        address: 0x5500_0000_0000,
        size: 0,
        checksum: 0,
        segment_id: [7; 16],
        generation: 3,
        boot_id: [9; 16],
        publisher_pid: 42,
        pid_namespace: 4026,
        certificate: RULES,
        publisher_start: 4242,
        created: 1,
        hwloc_version: 0x20900,
    }
}

fn segment() -> AlignedVec {
    sealed(header(), &to_bytes(&machine()).unwrap())
}

fn sealed(header: Header, archive: &[u8]) -> AlignedVec {
    let mut bytes = AlignedVec::new();
    bytes.resize(segment_len(archive.len()), 0);
    header.write(archive, &mut bytes).unwrap();
    mark_ready(&mut bytes);
    bytes
}

#[test]
fn a_header_is_read_as_it_was_written() {
    let bytes = segment();
    let (found, _) = open(&bytes).unwrap();
    let Header { size, checksum, .. } = found;
    assert_eq!(found, Header { size, checksum, ..header() });
    assert_eq!(size, bytes.len() as u64);
}

#[test]
fn a_machine_without_pus_is_opened() {
    let mut description = machine();
    for object in &mut description.objects {
        if object.object_type == ObjectType::PU {
            object.object_type = ObjectType::Core;
        }
    }
    let bytes = to_bytes(&description).unwrap();
    let topology = open_archive(&bytes).unwrap();
    assert_eq!(topology.tree.rows().member(0).pu_count, 0);
    assert_eq!(topology.levels.object_type(2), Some(ObjectType::Core));
}

#[test]
fn an_archive_has_what_was_described() {
    let bytes = segment();
    let (_, topology) = open(&bytes).unwrap();
    assert_eq!(topology.tree.len(), 13);
    assert_eq!(topology.levels.normal.to_native(), 3);
    // The NUMA node is numbered before the cache above it.
    assert_eq!((topology.tree.rows().parent(7), topology.tree.rows().parent(8)), (8, 1));
    assert_eq!(
        (topology.tree.rows().member(2).pu_first, topology.tree.rows().member(2).pu_count),
        (2, 2)
    );
    let runs = topology.pu_runs.iter().map(|run| {
        [run.os_first, run.count, run.logical_first, run.step].map(|number| number.to_native())
    });
    assert_eq!(runs.collect::<Vec<_>>(), [[0, 2, 0, 2], [2, 2, 1, 2]]);
    let pus = (0..3).map(|level| topology.levels.row(level).unwrap().pus());
    assert_eq!(pus.collect::<Vec<_>>(), [4, 2, 1]);
    assert_eq!(topology.levels.common[..4], [3, 2, 1, 0]);
    // One name is the end of the other, so it is not stored again.
    let text = topology.strings.bytes.as_slice();
    assert_eq!(text.windows(12).filter(|part| part == b"Fast Network").count(), 1);
}

#[test]
fn a_segment_is_not_open_before_it_is_marked_ready() {
    let mut bytes = segment();
    bytes[12..16].fill(0);
    let refused = open(&bytes).err();
    let expected = HeaderError::NotReady { found: 0 };
    assert!(
        matches!(&refused, Some(OpenError::Header(found)) if *found == expected),
        "{refused:?}"
    );
}

#[test]
#[cfg_attr(miri, ignore = "thousands of segments, each read whole")]
fn every_flipped_bit_of_a_segment_is_noticed() {
    let whole = segment();
    let mut bytes = segment();
    for place in 0..bytes.len() {
        // Readers accept any minor version, but the checksum covers it.
        for bit in 0..8 {
            bytes[place] ^= 1 << bit;
            assert!(open(&bytes).is_err(), "byte {place}, bit {bit}");
            bytes[place] ^= 1 << bit;
        }
    }
    assert_eq!(bytes.as_slice(), whole.as_slice());
}

#[test]
#[cfg_attr(miri, ignore = "thousands of segments, each read whole")]
fn a_segment_cut_at_any_length_is_refused() {
    let bytes = segment();
    for length in 0..bytes.len() {
        assert!(open(&bytes[..length]).is_err(), "{length} bytes");
    }
}

#[test]
fn a_segment_that_goes_on_behind_its_end_is_refused() {
    let mut bytes = segment();
    bytes.extend_from_slice(&[0; 16]);
    assert!(matches!(open(&bytes), Err(OpenError::Header(HeaderError::Length { .. }))));
}

#[test]
#[cfg_attr(miri, ignore = "thousands of segments, each read whole")]
fn no_changed_byte_of_an_archive_makes_opening_it_panic() {
    let mut archive = AlignedVec::<16>::new();
    archive.extend_from_slice(&segment()[HEADER_LEN..]);
    let (mut refused, mut opened) = (0, 0);
    for place in 0..archive.len() {
        let byte = archive[place];
        for value in [0, 0xff, byte.wrapping_add(1)] {
            archive[place] = value;
            match open_archive(&archive) {
                Ok(_) => opened += 1,
                Err(_) => refused += 1,
            }
        }
        archive[place] = byte;
    }
    // Names, sizes and the like may have any value, but the columns of the tree may not.
    assert!(refused > opened / 4, "{refused} refused, {opened} opened");
}

/// What opening an archive says that its publisher has certified by some version of the rules.
fn certified_by(certificate: u32, archive: &[u8], is_trusted: bool) -> Result<Checked, String> {
    let bytes = sealed(Header { certificate, ..header() }, archive);
    open_certified(&bytes, is_trusted).map(|(.., checked)| checked).map_err(|it| it.to_string())
}

#[test]
#[cfg_attr(miri, ignore = "thousands of segments, each read whole")]
fn rules_that_a_trusted_publisher_has_checked_are_not_checked_again_and_others_check_them() {
    let mut archive = to_bytes(&machine()).unwrap();
    let (mut refused_only_whole, mut refused_always, mut trees) = (0, 0, 0);
    for place in 0..archive.len() {
        archive[place] ^= 1;
        let whole = open_archive(&archive).map(|_| Checked::Whole).map_err(|it| it.to_string());
        let trusted = certified_by(RULES, &archive, true);
        match (&whole, &trusted) {
            (Ok(_), found) => assert_eq!(*found, Ok(Checked::Needed), "byte {place}"),
            (Err(_), Ok(_)) => refused_only_whole += 1,
            (Err(_), Err(_)) => refused_always += 1,
        }
        // Who has published it is unknown, it was not checked, or by an older or a newer version.
        for (certificate, is_trusted) in [(RULES, false), (0, true), (RULES + 1, true)] {
            assert_eq!(certified_by(certificate, &archive, is_trusted), whole, "byte {place}");
        }
        let bytes = sealed(header(), &archive);
        if let Ok((_, topology, _)) = open_certified(&bytes, true) {
            let is_sound = tree_is_sound(topology);
            assert!(is_sound || whole.is_err(), "byte {place}");
            trees += u32::from(!is_sound);
        }
        archive[place] ^= 1;
    }
    assert!(refused_only_whole > 100 && refused_always > 100 && trees > 50);
}
