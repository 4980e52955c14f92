//! Descriptions that are not a topology are refused, each with an error that says why.

use crate::machine::machine;
use topobroker_layout::depth::Depth;
use topobroker_layout::description::{Description, Sets};
use topobroker_layout::encode::{EncodeError, to_bytes};
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

fn refused(change: impl FnOnce(&mut Description)) -> EncodeError {
    let mut description = machine();
    change(&mut description);
    to_bytes(&description).unwrap_err()
}

#[test]
fn a_description_without_objects_is_refused() {
    let error = refused(|description| description.objects.clear());
    assert!(matches!(error, EncodeError::Empty), "{error:?}");
}

#[test]
fn an_object_that_is_not_there_is_named() {
    let error = refused(|description| description.objects[0].children.push(99));
    assert!(error.to_string().contains("a child list names object 99"), "{error}");
    let error = refused(|description| description.distances[0].objects[1] = 77);
    assert!(error.to_string().contains("a distance matrix names object 77"), "{error}");
    let error = refused(|description| description.memory_attributes[0].values[0].target = 55);
    assert!(error.to_string().contains("a memory attribute names object 55"), "{error}");
}

#[test]
fn a_circle_of_children_is_refused() {
    let error = refused(|description| description.objects[12].children = vec![11]);
    assert!(matches!(error, EncodeError::TooDeep { limit: 128, .. }), "{error}");
}

#[test]
fn a_gap_in_a_level_is_refused() {
    let error = refused(|description| description.objects[2].logical_index = 5);
    let gap = Depth::Normal(1);
    assert!(
        matches!(error, EncodeError::Level { depth, logical_index: 1 } if depth == gap),
        "{error:?}"
    );
    let error = refused(|description| {
        let pus = description.objects.iter_mut().filter(|o| o.object_type == ObjectType::PU);
        pus.for_each(|pu| pu.depth = Depth::Normal(3));
    });
    let gap = Depth::Normal(2);
    assert!(
        matches!(error, EncodeError::Level { depth, logical_index: 0 } if depth == gap),
        "{error:?}"
    );
}

#[test]
fn a_level_of_two_types_is_refused() {
    let error = refused(|description| description.objects[2].object_type = ObjectType::Die);
    let EncodeError::MixedLevel { depth, found, expected } = error else { panic!("{error:?}") };
    assert_eq!((depth, found, expected), (Depth::Normal(1), "Die", "Package"));
}

#[test]
fn pus_that_are_not_numbered_as_the_tree_lists_them_are_refused() {
    let error = refused(|description| description.objects[1].children.swap(0, 1));
    assert!(matches!(error, EncodeError::PuOrder { found: 1, expected: 0 }), "{error:?}");
}

#[test]
fn a_string_that_c_would_cut_is_refused() {
    let error = refused(|description| description.objects[12].name = Some("a\0b".to_owned()));
    assert!(matches!(&error, EncodeError::ZeroInString { found } if found == "a\0b"), "{error:?}");
}

#[test]
fn a_set_that_would_take_much_memory_is_refused() {
    let error = refused(|description| description.allowed_cpuset.insert(1 << 17));
    assert!(matches!(error, EncodeError::SetTooLarge { .. }), "{error}");
}

#[test]
fn two_pus_or_numa_nodes_of_one_os_index_are_refused() {
    let error = refused(|description| description.objects[6].os_index = Some(0));
    let EncodeError::SameIndex { object_type, index } = error else { panic!("{error:?}") };
    assert_eq!((object_type, index), ("PU", 0));
    let error = refused(|description| {
        let mut node = description.objects[8].clone();
        node.logical_index = 1;
        description.objects.push(node);
        description.objects[7].children.push(13);
    });
    let EncodeError::SameIndex { object_type, index } = error else { panic!("{error:?}") };
    assert_eq!((object_type, index), ("NUMANode", 0));
}

#[test]
fn a_pu_or_numa_node_whose_set_is_not_its_os_index_is_refused() {
    type Pick = fn(&mut Sets) -> &mut Set;
    let sets: [(usize, &str, Pick); 4] = [
        (6, "the PU of OS index 3 has cpuset {3,9}", |sets| &mut sets.cpuset),
        (6, "the PU of OS index 3 has complete cpuset {3,9}", |sets| &mut sets.complete_cpuset),
        (8, "the NUMANode of OS index 0 has nodeset {0,9}", |sets| &mut sets.nodeset),
        (8, "the NUMANode of OS index 0 has complete nodeset {0,9}", |sets| {
            &mut sets.complete_nodeset
        }),
    ];
    for (place, complaint, set) in sets {
        let error = refused(|it| set(it.objects[place].sets.as_mut().unwrap()).insert(9));
        assert!(error.to_string().starts_with(complaint), "{error}");
    }
    let error = refused(|description| description.objects[6].os_index = Some(7));
    let complaint = "the PU of OS index 7 has complete cpuset {3}; expected {7}";
    assert_eq!(error.to_string(), complaint);
    let error = refused(|it| it.objects[6].sets.as_mut().unwrap().complete_cpuset = Set::new());
    let complaint = "the PU of OS index 3 has complete cpuset {}; expected {3}";
    assert_eq!(error.to_string(), complaint);
}

/// hwloc keeps such a PU if devices hang on it.
#[test]
fn a_pu_that_may_not_be_used_has_an_empty_cpuset() {
    let mut description = machine();
    description.objects[6].sets.as_mut().unwrap().cpuset = Set::new();
    to_bytes(&description).unwrap();
}

#[test]
fn allowed_pus_that_the_machine_does_not_have_are_refused_by_name() {
    let error = refused(|description| description.allowed_cpuset.insert(77));
    let EncodeError::Allowed { found, .. } = &error else { panic!("{error:?}") };
    assert!(found.ends_with("77"), "{error}");
}
