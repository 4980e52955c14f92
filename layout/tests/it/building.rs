//! Descriptions that are not a topology are refused, each with an error that says why.

use crate::machine::machine;
use topobroker_layout::depth::Depth;
use topobroker_layout::description::Description;
use topobroker_layout::encode::{EncodeError, to_bytes};
use topobroker_layout::object_type::ObjectType;

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
fn allowed_pus_that_the_machine_does_not_have_are_refused_by_name() {
    let error = refused(|description| description.allowed_cpuset.insert(77));
    let EncodeError::Allowed { found, .. } = &error else { panic!("{error:?}") };
    assert!(found.ends_with("77"), "{error}");
}
