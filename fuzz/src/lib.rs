//! What the fuzz targets share: archives made of bytes.

use rkyv::util::AlignedVec;
use std::sync::LazyLock;
use topobroker::capture::capture;
use topobroker::hwloc::{Input, LoadOptions, load};
use topobroker_layout::build::to_bytes;
use topobroker_layout::overlay;
use topobroker_reader::{RestrictFlags, Set, Topology, View};

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
        let topology = Topology::from_archive(archive).expect("a real archive");
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

/// The first byte picks raw bytes or a real archive that the others patch: (offset, value) pairs.
pub fn archive(data: &[u8]) -> Option<AlignedVec> {
    let (&pick, rest) = data.split_first()?;
    match ARCHIVES.get(usize::from(pick) % (ARCHIVES.len() + 1)) {
        None => {
            let mut bytes = AlignedVec::<16>::new();
            bytes.extend_from_slice(rest);
            Some(bytes)
        }
        Some(archive) => Some(patched(archive, rest)),
    }
}

fn patched(archive: &AlignedVec, patches: &[u8]) -> AlignedVec {
    let mut bytes = archive.clone();
    for patch in patches.chunks_exact(3) {
        let offset = usize::from(u16::from_le_bytes([patch[0], patch[1]])) % bytes.len();
        bytes[offset] ^= patch[2];
    }
    bytes
}
