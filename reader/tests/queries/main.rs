//! Queries on machines that are described without hwloc, so that Miri can run them. Also counts
//! what they take from the heap.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]

mod allocation;
mod certified;
mod every_query;
mod machines;
mod moved;
mod overlay_rules;

use every_query::{Room, ask_object, ask_topology, ask_with_heap, ask_with_set};
use topobroker_layout::OpenError;
use topobroker_reader::{
    Archive, Distribution, Object, ObjectType, RestrictFlags, Set, Topology, View,
};

/// Sets of all sorts: empty, full, scattered, contiguous and infinite.
fn sets(topology: Topology<'_>) -> Vec<Set> {
    let all = topology.root().cpuset().unwrap();
    let odd = all.iter().filter(|pu| pu % 2 == 1).collect();
    let some = all.iter().filter(|pu| pu % 7 < 4).collect();
    let ends = [all.first().unwrap(), all.last().unwrap()].into_iter().collect();
    let half = all.iter().filter(|pu| *pu < all.last().unwrap() / 2).collect();
    vec![Set::new(), all.clone(), odd, some, ends, half, !&all, all.singlify(), !&Set::new()]
}

/// Views of all sorts: of everything, in order, with moved objects, of a view, and of one PU.
fn views(topology: Topology<'_>) -> Vec<View<'_>> {
    let all = topology.root().cpuset().unwrap();
    let last = all.last().unwrap();
    let half: Set = all.iter().filter(|pu| *pu <= last / 2).collect();
    let odd: Set = all.iter().filter(|pu| pu % 3 != 0).collect();
    let view = |set: &Set, flags| View::new(topology, set, flags).unwrap();
    let (none, remove) = (RestrictFlags::NONE, RestrictFlags::REMOVE_CPULESS);
    let adapt = remove | RestrictFlags::ADAPT_IO | RestrictFlags::ADAPT_MISC;
    let (half, odd) = (view(&half, remove), view(&odd, adapt));
    let both = half.intersection(&odd).unwrap();
    vec![View::whole(topology), half, odd, both, view(&all.singlify(), none)]
}

fn room() -> Room {
    Room { parts: vec![Set::new(); 5], ..Room::default() }
}

/// Text of the rule that an overlay breaks.
fn rule(error: OpenError) -> String {
    match error {
        OpenError::Invalid(broken) => broken.to_string(),
        other => other.to_string(),
    }
}

#[test]
fn every_query_of_every_object_of_a_small_machine_has_an_answer() {
    let archives = [machines::small(), machines::regular(2, 3)];
    let opened = archives.each_ref().map(|archive| Archive::open(archive).unwrap());
    // Miri is some thousand times slower, so it asks only a part.
    let (every, objects, parts) = if cfg!(miri) { (8, 7, 3) } else { (1, 1, 1) };
    for view in opened.iter().flat_map(|archive| views(archive.topology())).step_by(parts) {
        let topology = view.topology();
        let mut room = room();
        ask_topology(topology);
        sets(topology).iter().step_by(7).for_each(|set| ask_with_heap(topology, set));
        let mut found = 0;
        for set in sets(topology).into_iter().step_by(every) {
            found += ask_with_set(topology, &set, &mut room);
            for object in topology.objects().step_by(objects) {
                let other = topology.object(object.id() / 2).unwrap_or(object);
                ask_object(object, other, &set, &mut room);
            }
        }
        assert!(found > 4, "{view:?}: {found}");
    }
}

#[test]
fn queries_count_hardware_threads_that_the_system_numbers_apart() {
    let archive = machines::regular(2, 3);
    let opened = Archive::open(&archive).unwrap();
    let topology = opened.topology();
    // The three cores of the first package, by OS index, and one thread of the next core.
    let set: Set = [0, 1, 2, 6, 7, 8, 3].into_iter().collect();
    let inside = topology.inside(&set);
    assert_eq!(inside.count_with_type(ObjectType::Core), 3);
    assert_eq!(inside.count_with_type(ObjectType::PU), 7);
    assert_eq!(inside.count_with_type(ObjectType::NUMANode), 1);
    let largest: Vec<(ObjectType, u32)> =
        inside.largest().map(|object| (object.object_type(), object.logical_index())).collect();
    assert_eq!(largest, [(ObjectType::Package, 0), (ObjectType::PU, 6)]);
    assert_eq!(topology.covering(&set), Some(topology.root()));
    let pu = |os_index| topology.pu_by_os_index(os_index).unwrap();
    assert_eq!(pu(9).logical_index(), 7);
    assert_eq!(pu(3).common_ancestor(pu(9)).object_type(), ObjectType::Core);
    let closest: Vec<u32> = pu(3).closest().map(Object::logical_index).collect();
    assert_eq!(closest, [7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5]);
    let parts = topology.distribute(&[topology.root()], 2, Distribution::default());
    assert_eq!(parts[0], [0, 1, 2, 6, 7, 8].into_iter().collect());
}

#[test]
fn children_that_a_view_hides_are_not_given_where_children_are_of_several_levels() {
    let archive = machines::lopsided();
    let opened = Archive::open(&archive).unwrap();
    let all_but_the_second_package: Set = [0, 1, 2, 4].into_iter().collect();
    let flags = RestrictFlags::REMOVE_CPULESS;
    let view = View::new(opened.topology(), &all_but_the_second_package, flags).unwrap();
    assert!(view.is_in_order());
    let root = view.topology().root();
    let children = || root.children().map(|child| (child.object_type(), child.logical_index()));
    let expected = [(ObjectType::Core, 0), (ObjectType::Package, 0), (ObjectType::Core, 3)];
    assert_eq!(children().collect::<Vec<_>>(), expected);
    assert_eq!(root.children().len(), 3);
    assert!(root.children().rev().map(Object::id).eq([6, 1, 3]));
}

#[test]
fn parts_of_a_package_whose_pus_are_no_objects_stay_empty_as_in_hwloc() {
    let archive = machines::with_unknown_pus();
    let opened = Archive::open(&archive).unwrap();
    let topology = opened.topology();
    let parts = topology.distribute(&[topology.root()], 4, Distribution::default());
    let expected: [&[u32]; 4] = [&[], &[], &[0], &[1]];
    assert_eq!(parts, expected.map(|part| part.iter().copied().collect::<Set>()));
}
