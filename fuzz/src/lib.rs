//! What the fuzz targets share: archives made of bytes.

use rkyv::util::AlignedVec;
use std::sync::LazyLock;
use topobroker::format::xml::export;
use topobroker::hwloc::capture;
use topobroker::hwloc::{Input, LoadOptions, load};
use topobroker_layout::encode::to_bytes;
use topobroker_layout::header::{HEADER_LEN, Header, mark_ready};
use topobroker_layout::overlay;
use topobroker_reader::{Archive, RestrictFlags, Set, View};

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

/// Overlays of a real archive each, by the number of the archive.
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

/// The first byte picks an overlay, which the others patch, with its archive.
pub fn overlay(data: &[u8]) -> Option<(&'static AlignedVec, AlignedVec)> {
    let (&pick, rest) = data.split_first()?;
    let (number, overlay) = OVERLAYS.get(usize::from(pick) % OVERLAYS.len())?;
    Some((ARCHIVES.get(*number)?, patched(overlay, rest)))
}

/// A job of two ranks over its topology, as the tests keep them.
static JOB: LazyLock<(AlignedVec, AlignedVec)> = LazyLock::new(|| {
    let segment = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/");
        aligned(&std::fs::read(format!("{folder}{name}")).expect("a kept segment"))
    };
    (segment("topology-1.0"), segment("job-1.0"))
});

/// The segment of a job that bytes patch behind its header, sealed again, and the topology that it is over.
pub fn job(data: &[u8]) -> (Archive<'static>, AlignedVec) {
    let (base, job) = &*JOB;
    let archive = patched(&aligned(&job[HEADER_LEN..]), data);
    let header = Header::read(job).expect("a kept job");
    let mut segment = aligned(job);
    header.write(&archive, &mut segment).expect("as long as it was");
    mark_ready(&mut segment);
    (Archive::open(&base[HEADER_LEN..]).expect("a kept topology"), segment)
}

/// XML of small machines, in both versions.
static XML: LazyLock<Vec<String>> = LazyLock::new(|| {
    let opened = ARCHIVES.iter().map(|archive| Archive::open(archive).expect("a real archive"));
    opened.map(|archive| export(archive.topology())).collect()
});

/// The first byte picks a text, of which the others overwrite a byte, or a piece by another one: (kind, offset,
/// value or offset) each.
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

/// The first byte picks raw bytes or a real archive that the others patch: (offset, value) pairs.
pub fn archive(data: &[u8]) -> Option<AlignedVec> {
    let (&pick, rest) = data.split_first()?;
    match ARCHIVES.get(usize::from(pick) % (ARCHIVES.len() + 1)) {
        None => Some(aligned(rest)),
        Some(archive) => Some(patched(archive, rest)),
    }
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
