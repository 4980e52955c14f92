//! Shared code of the fuzz targets: archives, overlays, jobs and XML texts, made from the fuzzer's
//! bytes.

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

/// The XML texts of the machines of `ARCHIVES`.
static XML: LazyLock<Vec<String>> = LazyLock::new(|| {
    let opened = ARCHIVES.iter().map(|archive| Archive::open(archive).expect("a real archive"));
    opened.map(|archive| export(archive.topology())).collect()
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
