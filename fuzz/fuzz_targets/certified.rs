//! Every query ends and reads nothing outside of any archive of which a trusted publisher says that
//! it has checked it, and has not; so do exports, views, jobs and links.
//!
//! The last 17 bytes are flags and the set for the queries that take one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topobroker_reader::jobs::Job;
use topobroker_reader::links::{Direction, Measure, Paths, SwitchModel, VertexId};
use topobroker_reader::text::xml::export;
use topobroker_reader::{Archive, RestrictFlags, Set, Topology, View};

#[path = "../../reader/tests/queries/every_query.rs"]
mod every_query;

use every_query::{Room, ask_object, ask_topology, ask_with_heap, ask_with_set};

/// Number of objects that are asked, at most. A patched archive may have many more objects than the
/// machine had.
const ASKED: usize = 40;

fn ask(topology: Topology<'_>, set: &Set, room: &mut Room) {
    ask_topology(topology);
    ask_with_set(topology, set, room);
    ask_with_heap(topology, set);
    let step = topology.object_count() / ASKED + 1;
    for object in topology.objects().step_by(step) {
        let other = topology.object(object.id() / 2).unwrap_or(object);
        ask_object(object, other, set, room);
    }
    let _ = export(topology);
    if let Ok(links) = topology.links(SwitchModel::Separate) {
        let mut paths = Paths::new(&links, true);
        let _ = paths.of(VertexId(0), Direction::Outgoing, Measure::Bandwidth).len();
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((rest, words)) = data.split_last_chunk::<17>() else { return };
    let Some((segment, job)) = topobroker_fuzz::certified(rest) else { return };
    let Ok((_, opened)) = Archive::of_certified(&segment) else { return };
    let topology = opened.topology();
    let [flags, words @ ..] = words;
    let words = words.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    let own = Set::from_words(words, flags & 1 != 0);
    let mut room = Room { parts: vec![Set::new(); usize::from(flags >> 4)], ..Room::default() };
    let cpuset = topology.root().cpuset().unwrap_or_default();
    let set = if flags & 2 != 0 { &own & &cpuset } else { own };
    // A view first, of an archive whose tree was not walked yet.
    if flags & 4 != 0
        && let Ok(view) = View::new(topology, &set, RestrictFlags::from_bits(u64::from(flags >> 4)))
    {
        ask(view.topology(), &set, &mut room);
    }
    ask(topology, &set, &mut room);
    if let Ok(job) = Job::from_segment(topology, job) {
        for rank in job.ranks().take(8) {
            let _ = job.locality(rank.rank, 0);
            let _ = job.nics(rank.rank).chain(job.gpus(rank.rank)).take(100).count();
        }
        ask(job.view().topology(), &set, &mut room);
    }
});
