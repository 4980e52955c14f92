//! Any description is archived without loss or is refused: description -> archive -> the same
//! description.
#![no_main]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a fault ends the run")]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use topobroker::description::describe;
use topobroker_layout::archive::INDEX_LIMIT;
use topobroker_layout::depth::Depth;
use topobroker_layout::description::{Description, Object, Sets};
use topobroker_layout::encode::to_bytes;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;
use topobroker_layout::type_filter::TypeFilter;
use topobroker_reader::Archive;

fn set(input: &mut Unstructured<'_>) -> Result<Set> {
    let words: Vec<u64> =
        (0..input.int_in_range(0..=3)?).map(|_| input.arbitrary()).collect::<Result<_>>()?;
    Ok(Set::from_words(words, input.ratio(1, 8)?))
}

/// Sets of an object. PUs and NUMA nodes nearly always have their OS index there, others are
/// refused.
fn sets(
    input: &mut Unstructured<'_>,
    object_type: ObjectType,
    os_index: Option<u32>,
) -> Result<Option<Sets>> {
    if !object_type.is_normal() && !object_type.is_memory() {
        return Ok(None);
    }
    let own: Set = os_index.filter(|index| *index < INDEX_LIMIT).into_iter().collect();
    let mut of = |is_own: bool| match is_own && input.ratio(15, 16)? {
        true => Ok(own.clone()),
        false => set(input),
    };
    let (is_pu, is_node) = (object_type == ObjectType::PU, object_type == ObjectType::NUMANode);
    Ok(Some(Sets {
        cpuset: of(is_pu)?,
        complete_cpuset: of(is_pu)?,
        nodeset: of(is_node)?,
        complete_nodeset: of(is_node)?,
    }))
}

fn description(input: &mut Unstructured<'_>) -> Result<Description> {
    let count = input.int_in_range(1..=24)?;
    let mut objects: Vec<Object> = Vec::new();
    let mut next_logical = std::collections::HashMap::<Depth, u32>::new();
    for place in 0..count {
        let parent = if place == 0 { None } else { Some(input.int_in_range(0..=place - 1)?) };
        let object_type = match place {
            0 => ObjectType::Machine,
            _ => *input.choose(&ObjectType::ALL)?,
        };
        let below = |parent: usize| objects[parent].depth.normal().unwrap_or(0) + 1;
        let normal = Depth::Normal(parent.map_or(0, below));
        let depth = Depth::of_special(object_type).unwrap_or(normal);
        let logical = next_logical.entry(depth).or_insert(0);
        let is_in_sets = matches!(object_type, ObjectType::PU | ObjectType::NUMANode);
        let os_index = match is_in_sets && input.ratio(15, 16)? {
            true => Some(u32::try_from(place).unwrap() + 32 * u32::from(input.arbitrary::<u8>()?)),
            false => input.arbitrary()?,
        };
        objects.push(Object {
            object_type,
            depth,
            logical_index: *logical,
            os_index,
            gp_index: input.arbitrary()?,
            subtype: input.arbitrary()?,
            name: input.arbitrary()?,
            infos: input.arbitrary()?,
            facts: input.arbitrary()?,
            sets: sets(input, object_type, os_index)?,
            parent,
            ..Object::default()
        });
        *logical += 1;
        if let Some(parent) = parent {
            objects[parent].children.push(place);
        }
    }
    let kinds: Vec<_> = objects.iter().map(Object::child_kind).collect();
    for object in &mut objects {
        object.children.sort_by_key(|child| kinds[*child]);
    }
    let type_filters = vec![TypeFilter::All; ObjectType::ALL.len()];
    Ok(Description { objects, allowed_cpuset: set(input)?, type_filters, ..Description::default() })
}

fuzz_target!(|data: &[u8]| {
    let Ok(description) = description(&mut Unstructured::new(data)) else { return };
    let Ok(bytes) = to_bytes(&description) else { return };
    let Ok(opened) = Archive::open(&bytes) else { return };
    let topology = opened.topology();
    let back = describe(topology);
    let again = to_bytes(&back).expect("what was read can be archived");
    let same = bytes.as_slice() == again.as_slice();
    assert!(same, "the archive of what was read is the archive: {description:#?}\n{back:#?}");
    assert_eq!(by_level(&description), by_level(&back), "objects are read as they were described");
    assert_eq!(description.allowed_cpuset, back.allowed_cpuset);
});

/// Where an object is, whatever the order of a description.
type Level = (i32, u32);

/// Each object, with the places of its parent and its children, in the order of levels.
fn by_level(description: &Description) -> Vec<(Level, Option<Level>, Vec<Level>, Object)> {
    let level = |object: &Object| (object.depth.raw(), object.logical_index);
    let of_place = |place: &usize| level(&description.objects[*place]);
    let alone = |object: &Object| Object { parent: None, children: Vec::new(), ..object.clone() };
    let objects = description.objects.iter().map(|object| {
        let children = object.children.iter().map(of_place).collect();
        (level(object), object.parent.as_ref().map(of_place), children, alone(object))
    });
    let mut objects: Vec<_> = objects.collect();
    objects.sort_by_key(|(level, ..)| *level);
    objects
}
