//! What the fuzz targets share: archives made of bytes.

use rkyv::util::AlignedVec;
use std::sync::LazyLock;
use topobroker::capture::capture;
use topobroker::hwloc::{Input, LoadOptions, load};
use topobroker_layout::build::to_bytes;

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

/// The first byte picks raw bytes or a real archive that the others patch: (offset, value) pairs.
pub fn archive(data: &[u8]) -> Option<AlignedVec> {
    let (&pick, rest) = data.split_first()?;
    let mut bytes = AlignedVec::<16>::new();
    match ARCHIVES.get(usize::from(pick) % (ARCHIVES.len() + 1)) {
        None => bytes.extend_from_slice(rest),
        Some(archive) => {
            bytes.extend_from_slice(archive);
            for patch in rest.chunks_exact(3) {
                let offset = usize::from(u16::from_le_bytes([patch[0], patch[1]])) % bytes.len();
                bytes[offset] ^= patch[2];
            }
        }
    }
    Some(bytes)
}
