//! Any bytes are refused or can be read to the last field: bytes -> open -> every accessor.
//!
//! The first byte picks raw bytes or a real archive that the others patch: (offset, value) pairs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rkyv::util::AlignedVec;
use std::sync::LazyLock;
use topobroker::capture::capture;
use topobroker::console::{Part, Style, print};
use topobroker::hwloc::{Input, LoadOptions, load};
use topobroker::xml::export;
use topobroker_layout::build::to_bytes;
use topobroker_reader::Topology;

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

fuzz_target!(|data: &[u8]| {
    // The header is read from any bytes whatever.
    let _ = topobroker_layout::open(data);
    let Some((&pick, rest)) = data.split_first() else { return };
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
    let Ok(topology) = Topology::from_archive(&bytes) else { return };
    let _ = export(topology);
    for part in [Part::Tree, Part::Summary, Part::Distances, Part::MemoryAttributes] {
        let _ = print(topology, &Style { part, verbosity: 2, ..Style::default() });
    }
    for object in topology.objects() {
        let _ = (object.next_sibling(), object.prev_sibling(), object.next_cousin());
        let _ = object.os_index().map(|index| topology.pu_by_os_index(index));
        assert_eq!(topology.object_at_depth(object.depth(), object.logical_index()), Some(object));
    }
});
