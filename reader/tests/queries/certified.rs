//! Archives of which a trusted publisher says that it has checked them, and has not.

use super::every_query::{Room, ask_object, ask_topology, ask_with_heap, ask_with_set};
use super::{machines, room, sets};
use topobroker_layout::RULES;
use topobroker_layout::encode::AlignedVec;
use topobroker_layout::header::{Header, mark_ready, segment_len};
use topobroker_reader::text::xml::export;
use topobroker_reader::{Archive, Object, RestrictFlags, Set, Topology, View};

/// A segment of an archive that was not checked, whose header says that it was.
fn certified(archive: &[u8]) -> AlignedVec {
    let kept = include_bytes!("../../../tests/fixtures/topology-1.0");
    let header = Header { certificate: RULES, ..Header::read(kept).unwrap() };
    let mut segment = AlignedVec::new();
    segment.resize(segment_len(archive.len()), 0);
    header.write(archive, &mut segment).unwrap();
    mark_ready(&mut segment);
    segment
}

/// Number of objects that a function that calls itself finds below an object, the object included.
fn count(object: Object<'_>) -> usize {
    1 + object.all_children().map(count).sum::<usize>()
}

fn ask_everything(topology: Topology<'_>, set: &Set, room: &mut Room) {
    ask_topology(topology);
    ask_with_set(topology, set, room);
    ask_with_heap(topology, set);
    for object in topology.objects().step_by(topology.object_count() / 20 + 1) {
        let other = topology.object(object.id() / 2).unwrap_or(object);
        ask_object(object, other, set, room);
        assert!(object.ancestors().count() < topology.object_count());
    }
    assert!(count(topology.root()) <= topology.object_count());
    assert!(topology.root().subtree().count() <= topology.object_count());
    assert!(export(topology).ends_with("</topology>\n"));
}

#[test]
#[cfg_attr(miri, ignore = "thousands of archives")]
fn whatever_is_certified_every_query_ends_and_walks_stay_in_a_tree() {
    let (mut opened_all, mut without_tree) = (0, 0);
    for mut archive in [machines::small(), machines::regular(2, 3)] {
        for (place, change) in (0..archive.len()).flat_map(|at| [(at, 0xff), (at, 1)]) {
            archive[place] ^= change;
            let segment = certified(&archive);
            if let Ok((_, opened)) = Archive::of_certified(&segment) {
                let topology = opened.topology();
                let set = topology.root().cpuset().unwrap_or_default();
                ask_everything(topology, &set, &mut room());
                let half: Set = set.iter().step_by(2).collect();
                if let Ok(view) = View::new(topology, &half, RestrictFlags::REMOVE_CPULESS) {
                    ask_everything(view.topology(), &half, &mut room());
                }
                opened_all += 1;
                without_tree +=
                    usize::from(topology.objects().all(|it| it.all_children().len() == 0));
            }
            archive[place] ^= change;
        }
    }
    assert!(opened_all > 1000 && without_tree > 100, "{opened_all} {without_tree}");
}

#[test]
fn a_sound_certified_archive_answers_as_one_that_was_checked() {
    for archive in [machines::small(), machines::regular(2, 3)] {
        let checked = Archive::open(&archive).unwrap();
        let (segment, whole) = (certified(&archive), export(checked.topology()));
        // Miri is slow, so it takes every third set: the code that it watches is the same for each.
        for set in sets(checked.topology()).into_iter().step_by(if cfg!(miri) { 3 } else { 1 }) {
            let (_, opened) = Archive::of_certified(&segment).unwrap();
            // The tree of this one was not walked before.
            let (ours, theirs) = (opened.topology(), checked.topology());
            let flags = RestrictFlags::ADAPT_IO | RestrictFlags::REMOVE_CPULESS;
            let view = |topology| View::new(topology, &set, flags).map(|it| export(it.topology()));
            match (view(ours), view(theirs)) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected),
                (found, expected) => assert_eq!(found.is_err(), expected.is_err()),
            }
            assert_eq!(export(ours), whole);
        }
    }
}
