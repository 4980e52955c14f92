//! Shared code of the fuzz targets: archives, overlays, jobs and XML texts, made from the fuzzer's
//! bytes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a fault ends the run")]

use rkyv::util::AlignedVec;
use std::sync::LazyLock;
use topobroker::hwloc::capture;
use topobroker::hwloc::{Input, LoadOptions, load};
use topobroker_cluster::{ClusterBuilder, GroupId, Like, SwitchTree};
use topobroker_layout::RULES;
use topobroker_layout::cluster::blocks::{BLOCK, Records, Texts};
use topobroker_layout::cluster::head::{HEAD_LEN, Head, Part};
use topobroker_layout::cluster::nodes::ClassRow;
use topobroker_layout::encode::to_bytes;
use topobroker_layout::header::{HEADER_LEN, Header, Kind, mark_ready, segment_len};
use topobroker_layout::links::{Link, LinkClass, LinkOrigin, Links, Vertex, VertexId, VertexKind};
use topobroker_layout::overlay;
use topobroker_reader::text::xml::export;
use topobroker_reader::{Archive, RestrictFlags, Set, View};
use xxhash_rust::xxh3::xxh3_64_with_seed;

static ARCHIVES: LazyLock<Vec<AlignedVec>> = LazyLock::new(|| {
    let machines = ["Package:2 Core:2 PU:2", "Group:2 NUMANode:1 L2Cache:2 Core:1 PU:1", "PU:3"];
    let mut inputs: Vec<Input> = vec![Input::ThisMachine];
    inputs.extend(machines.map(|text| Input::Synthetic(text.to_owned())));
    let archive = |input: &Input| {
        let topology = load(input, &LoadOptions::default()).expect("a machine");
        to_bytes(&capture(&topology).expect("a capture")).expect("an archive")
    };
    inputs.iter().map(archive).collect()
});

/// A machine with devices.
static MACHINE: LazyLock<AlignedVec> = LazyLock::new(|| {
    let xml = include_str!("devices_and_tables.xml").to_owned();
    let topology = load(&Input::XmlText(xml), &LoadOptions::default()).expect("a machine");
    to_bytes(&capture(&topology).expect("a capture")).expect("an archive")
});

/// A machine with PCI devices, for what files say of them.
pub fn machine() -> Archive<'static> {
    Archive::open(&MACHINE).expect("an archive")
}

/// Overlays of real archives. The number is the index of the overlay's archive in `ARCHIVES`.
static OVERLAYS: LazyLock<Vec<(usize, AlignedVec)>> = LazyLock::new(|| {
    let mut overlays = Vec::new();
    for (number, archive) in ARCHIVES.iter().enumerate() {
        let opened = Archive::open(archive).expect("a real archive");
        let topology = opened.topology();
        for (set, flags) in [(0b1, 1), (0b1110, 0), (0b110, 7), (0b1111_1111, 0)] {
            let set = Set::from_words([set], false);
            let view = View::new(topology, &set, RestrictFlags::from_bits(flags));
            let overlay = view.ok().and_then(|view| view.to_overlay().ok());
            let bytes = overlay.and_then(|overlay| overlay::to_bytes(&overlay).ok());
            overlays.extend(bytes.map(|bytes| (number, bytes)));
        }
    }
    overlays
});

/// Returns an archive and an overlay of it. The first byte picks the overlay; the other bytes patch
/// it.
pub fn overlay(data: &[u8]) -> Option<(&'static AlignedVec, AlignedVec)> {
    let (&pick, rest) = data.split_first()?;
    let (number, overlay) = OVERLAYS.get(usize::from(pick) % OVERLAYS.len())?;
    Some((ARCHIVES.get(*number)?, patched(overlay, rest)))
}

/// The segments of a topology and of a job of two ranks over it, from the fixtures of the tests.
static JOB: LazyLock<(AlignedVec, AlignedVec)> = LazyLock::new(|| {
    let segment = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/");
        aligned(&std::fs::read(format!("{folder}{name}")).expect("a kept segment"))
    };
    (segment("topology-1.0"), segment("job-1.0"))
});

/// Returns a topology and the segment of a job over it. The bytes patch the segment after its
/// header; then it is sealed again.
pub fn job(data: &[u8]) -> (Archive<'static>, AlignedVec) {
    let (base, job) = &*JOB;
    let archive = patched(&aligned(&job[HEADER_LEN..]), data);
    let header = Header::read(job).expect("a kept job");
    let mut segment = aligned(job);
    header.write(&archive, &mut segment).expect("as long as it was");
    mark_ready(&mut segment);
    (Archive::open(&base[HEADER_LEN..]).expect("a kept topology"), segment)
}

/// The archive of two declared links over the topology of the tests.
static LINKS: LazyLock<AlignedVec> = LazyLock::new(|| {
    let vertex =
        |kind, object, name: Option<&str>| Vertex { kind, object, name: name.map(Into::into) };
    let vertices = [
        vertex(VertexKind::Cpu, Some(0), None),
        vertex(VertexKind::NetSwitch, None, Some("leaf")),
        vertex(VertexKind::Cpu, Some(1), None),
    ];
    let link = |one, other, class| Link {
        links: Some(2),
        forward: Some(25_000),
        latency: Some(100),
        ..Link::between(VertexId(one), VertexId(other), class, LinkOrigin::Declared)
    };
    let base = Header::read(&JOB.0).expect("a kept topology").segment_id;
    let links =
        Links::pack(base, &vertices, &[link(0, 1, LinkClass::Fabric), link(2, 0, LinkClass::Smp)]);
    links.to_bytes().expect("an archive")
});

/// Returns a topology and the segment of links of it. The bytes patch the archive; then it is
/// sealed.
pub fn links(data: &[u8]) -> (Archive<'static>, AlignedVec) {
    let archive = patched(&LINKS, data);
    let mut segment = aligned(&vec![0; segment_len(archive.len())]);
    let job = Header::read(&JOB.1).expect("a kept job");
    let header = Header { kind: Kind::Links, size: segment.len() as u64, ..job };
    header.write(&archive, &mut segment).expect("as long as it says");
    mark_ready(&mut segment);
    (Archive::open(&JOB.0[HEADER_LEN..]).expect("a kept topology"), segment)
}

/// A cluster of a few nodes below switches.
static CLUSTER: LazyLock<AlignedVec> = LazyLock::new(|| {
    let mut cluster = ClusterBuilder::new();
    let machine = load(&Input::Synthetic("Core:2 PU:1".to_owned()), &LoadOptions::default());
    let like = Like::new(capture(&machine.expect("a machine")).expect("a capture"));
    for number in 0..8 {
        let name = Like::name(number);
        cluster.add_node(GroupId::CLUSTER, Some(&name), &like.node(number)).expect("a node");
    }
    let tree = SwitchTree { nodes_a_leaf: 2, leaves_a_pod: 2, spines_a_pod: 2 };
    tree.add_to(&mut cluster, 8).expect("a tree");
    cluster.finish().expect("a cluster")
});

/// Returns a cluster that the bytes patch, and one of which they patch all but the first page;
/// there all checksums are right again but those of topologies.
pub fn clusters(data: &[u8]) -> (AlignedVec, AlignedVec) {
    let mut patched_body = CLUSTER.clone();
    let body = patched(&aligned(&CLUSTER[HEAD_LEN..]), data);
    patched_body[HEAD_LEN..].copy_from_slice(&body);
    (patched(&CLUSTER, data), sealed(patched_body))
}

/// Gives a cluster the checksums of its bytes.
fn sealed(mut file: AlignedVec) -> AlignedVec {
    let (header, mut head) =
        Head::read(&CLUSTER[..HEAD_LEN], CLUSTER.len() as u64).expect("a real cluster");
    // Classes first, whose rows have checksums of other parts.
    let rows: Vec<Option<ClassRow>> = (0..head.classes.count)
        .map(|row| head.classes.get(&file, row).and_then(ClassRow::read))
        .collect();
    for (number, row) in (0..).zip(rows) {
        let Some(mut row) = row else { continue };
        seal_records(&mut file, &row.rows);
        seal_texts(&mut file, &row.texts);
        for part in [&mut row.segment, &mut row.fields] {
            let bytes = usize::try_from(part.at).ok().zip(usize::try_from(part.len).ok());
            let bytes = bytes.and_then(|(at, len)| file.get(at..at.checked_add(len)?));
            if let Some(bytes) = bytes {
                *part = Part::of(part.at, bytes);
            }
        }
        let place = head
            .classes
            .get(&file, number)
            .map(|bytes| bytes.as_ptr().addr() - file.as_ptr().addr());
        if let Some(at) = place {
            file[at..at + ClassRow::LEN as usize].copy_from_slice(&row.to_bytes());
        }
    }
    for records in [head.nodes, head.places, head.boots, head.classes] {
        seal_records(&mut file, &records);
    }
    seal_texts(&mut file, &head.names);
    let at = usize::try_from(head.directory.at).expect("an offset");
    let length = usize::try_from(head.directory.len).expect("a length");
    head.directory = Part::of(head.directory.at, &file[at..at + length]);
    let page = head.to_page(&Header { size: file.len() as u64, ..header });
    file[..HEAD_LEN].copy_from_slice(&page);
    file
}

fn seal_records(file: &mut AlignedVec, records: &Records) {
    let block = (records.record as usize + 8).next_power_of_two().max(BLOCK);
    seal_blocks(file, records.at, records.byte_len(), block);
}

fn seal_texts(file: &mut AlignedVec, texts: &Texts) {
    seal_blocks(file, texts.at, texts.len.into(), texts.block as usize);
}

/// Writes the checksums of blocks that are within the file.
fn seal_blocks(file: &mut AlignedVec, at: u64, len: u64, block: usize) {
    let Some(end) = at.checked_add(len).filter(|end| *end <= file.len() as u64) else { return };
    let mut start = at;
    while start < end && block > 8 {
        let next = start.saturating_add(block as u64).min(end);
        let range =
            usize::try_from(start).expect("in the file")..usize::try_from(next).expect("in it");
        if let Some((check, rest)) = file[range].split_first_chunk_mut::<8>() {
            *check = xxh3_64_with_seed(rest, start).to_le_bytes();
        }
        start = next;
    }
}

/// The XML texts of the machines of `ARCHIVES`, and of one with all kinds of devices and tables.
static XML: LazyLock<Vec<String>> = LazyLock::new(|| {
    let opened = ARCHIVES.iter().map(|archive| Archive::open(archive).expect("a real archive"));
    let texts = opened.map(|archive| export(archive.topology()));
    texts.chain([include_str!("devices_and_tables.xml").to_owned()]).collect()
});

/// Returns a patched XML text. The first byte picks the text; each five of the other bytes are a
/// patch (kind, offset, value or offset). A patch overwrites a byte, writes a digit, copies a piece
/// of the text, or removes a piece.
pub fn xml(data: &[u8]) -> Option<String> {
    let (&pick, rest) = data.split_first()?;
    let mut text = XML[usize::from(pick) % XML.len()].clone().into_bytes();
    for patch in rest.chunks_exact(5) {
        let [kind, rest @ ..] = patch else { continue };
        let at =
            |bytes: &[u8], len: usize| usize::from(u16::from_le_bytes([bytes[0], bytes[1]])) % len;
        let (to, from) = (at(rest, text.len()), at(&rest[2..], text.len()));
        match kind % 4 {
            0 => text[to] = rest[2],
            1 => text[to] = b"0123456789"[usize::from(rest[2]) % 10],
            2 => {
                let length = usize::from(*kind / 4).min(text.len() - from);
                let piece = text[from..from + length].to_vec();
                text.splice(to..to, piece);
            }
            _ => {
                let length = usize::from(*kind / 4).min(text.len() - to - 1);
                text.drain(to..to + length);
            }
        }
    }
    String::from_utf8(text).ok()
}

/// Returns an archive. The first byte picks either a real archive, which the other bytes patch with
/// (offset, value) pairs, or the other bytes as they are.
pub fn archive(data: &[u8]) -> Option<AlignedVec> {
    let (&pick, rest) = data.split_first()?;
    match ARCHIVES.get(usize::from(pick) % (ARCHIVES.len() + 1)) {
        None => Some(aligned(rest)),
        Some(archive) => Some(patched(archive, rest)),
    }
}

/// A segment whose header says that its archive was checked, which it was not, and a job over it.
/// The first byte picks a machine with devices, that of the job, or a real archive; the other bytes
/// patch it.
pub fn certified(data: &[u8]) -> Option<(AlignedVec, &'static AlignedVec)> {
    let (&pick, rest) = data.split_first()?;
    let pick = usize::from(pick) % (ARCHIVES.len() + 2);
    let archive = match pick.checked_sub(2) {
        Some(pick) => patched(&ARCHIVES[pick], rest),
        None if pick == 0 => patched(&MACHINE, rest),
        None => patched(&aligned(&JOB.0[HEADER_LEN..]), rest),
    };
    let mut segment = aligned(&vec![0; segment_len(archive.len())]);
    let header = Header::read(&JOB.0).expect("a kept topology");
    let header = Header { certificate: RULES, ..header };
    header.write(&archive, &mut segment).expect("as long as it says");
    mark_ready(&mut segment);
    Some((segment, &JOB.1))
}

fn aligned(bytes: &[u8]) -> AlignedVec {
    let mut aligned = AlignedVec::<16>::new();
    aligned.extend_from_slice(bytes);
    aligned
}

fn patched(archive: &AlignedVec, patches: &[u8]) -> AlignedVec {
    let mut bytes = archive.clone();
    for patch in patches.chunks_exact(3) {
        let offset = usize::from(u16::from_le_bytes([patch[0], patch[1]])) % bytes.len();
        bytes[offset] ^= patch[2];
    }
    bytes
}
