//! Every query works on any archive that passed validation: bytes -> validate -> every query.
//!
//! The last 17 bytes are flags and the set for the queries that take one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topobroker_reader::{Archive, Set};

#[path = "../../reader/tests/queries/every_query.rs"]
mod every_query;

use every_query::{Room, ask_object, ask_topology, ask_with_heap, ask_with_set};

/// Number of objects that are asked, at most. A patched archive may have many more objects than the
/// machine had.
const ASKED: usize = 40;

fuzz_target!(|data: &[u8]| {
    let Some((rest, words)) = data.split_last_chunk::<17>() else { return };
    let Some(bytes) = topobroker_fuzz::archive(rest) else { return };
    let Ok(opened) = Archive::open(&bytes) else { return };
    let topology = opened.topology();
    let [flags, words @ ..] = words;
    let words = words.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    let own = Set::from_words(words, flags & 1 != 0);
    let mut room = Room { parts: vec![Set::new(); usize::from(flags >> 4)], ..Room::default() };
    ask_topology(topology);
    let cpuset = topology.root().cpuset().unwrap_or_default();
    let set = if flags & 2 != 0 { &own & &cpuset } else { own };
    ask_with_set(topology, &set, &mut room);
    ask_with_heap(topology, &set);
    let step = topology.object_count() / ASKED + 1;
    for object in topology.objects().step_by(step) {
        let other = topology.object(object.id() / 2).unwrap_or(object);
        ask_object(object, other, &set, &mut room);
    }
});
