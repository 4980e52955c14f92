//! Every query works through any overlay that passed validation: bytes -> validate -> every query.
//!
//! The last 8 bytes are the set for the queries that take one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topobroker_reader::{Archive, Set, View};

#[path = "../../reader/tests/queries/every_query.rs"]
mod every_query;

use every_query::{Room, ask_object, ask_topology, ask_with_heap, ask_with_set};

fuzz_target!(|data: &[u8]| {
    let Some((rest, words)) = data.split_last_chunk::<8>() else { return };
    let Some((archive, bytes)) = topobroker_fuzz::overlay(rest) else { return };
    let opened = Archive::open(archive).expect("a real archive");
    let whole = opened.topology();
    let Ok(view) = View::from_archive(whole, &bytes) else { return };
    let topology = view.topology();
    let set = Set::from_words([u64::from_le_bytes(*words)], false);
    let mut room = Room { parts: vec![Set::new(); 3], ..Room::default() };
    ask_topology(topology);
    ask_with_set(topology, &set, &mut room);
    ask_with_heap(topology, &set);
    for object in topology.objects() {
        let other = topology.object(object.id() / 2).unwrap_or(object);
        ask_object(object, other, &set, &mut room);
    }
    // Restricts the view further, and asks the result.
    if let Ok(both) = view.restrict(&set, topobroker_reader::RestrictFlags::REMOVE_CPULESS) {
        ask_topology(both.topology());
    }
});
