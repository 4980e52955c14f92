//! Tests each rule that FORMAT.md has for an archive, with an archive that breaks only this rule.

use super::tests::{checked, machine};
use crate::archive::{Distances, FactsOfObjects, NONE, PuRun, TopologyColumns};
use crate::column::Column;
use crate::depth::Depth;
use crate::encode::topology;
use crate::levels::{Level, Levels};
use crate::object_type::ObjectType::{self, Core, Machine, NUMANode, PU, Package};

/// The name of a rule, a function that breaks it, and a part of the expected error.
type BrokenRule = (&'static str, fn(&mut TopologyColumns), &'static str);

const RULES: [BrokenRule; 26] = [
    ("packing", |it| it.objects.gp_index = Column::unsound(9), "packing is sound"),
    ("rows", |it| it.objects.gp_index = Column::pack(&[1, 2]), "for each row of its table"),
    (
        "proportion",
        |it| (it.caches.size, it.caches.depth) = (many(1 << 20), many(1 << 20)),
        "in proportion to the archive",
    ),
    ("text", long_infos, "is referred to in proportion"),
    ("references", |it| it.objects.sets = Column::pack(&[99; 9]), "values are in range"),
    ("runs", |it| it.sets.start = descending(it.sets.start.clone()), "ascend from 0"),
    ("levels", |it| it.levels.rows[1].first = 2, "one root"),
    (
        "special levels",
        |it| it.levels.rows[3] = Level::new(7, ObjectType::Misc.raw(), 0),
        "special levels are in their order",
    ),
    (
        "lowest level",
        |it| {
            let types: Vec<_> =
                [Machine, PU, Package].into_iter().chain(ObjectType::SPECIAL).collect();
            it.levels = Levels::new(&types, &[0, 1, 3, 7, 9, 9, 9, 9, 9, 9], &[4, 2, 1]);
        },
        "lowest normal depth",
    ),
    ("types", |it| it.levels.depth_of_type[0] = 2, "agrees with the levels"),
    ("depth", |it| it.levels.normal = 200, "levels"),
    ("children", |it| it.tree.children.swap(2, 4), "is in the list of its parent"),
    ("parents", |it| it.tree.members[4] = 3, "is in the list of its parent"),
    ("nesting", nested, "at most 128 special objects deep"),
    ("PUs", |it| it.tree.members[3] = 3, "covers"),
    ("regular levels", |it| it.levels.rows[1] = Level::new(1, Package.raw(), 1), "have all PUs"),
    (
        "whole objects",
        |it| {
            let types: Vec<_> =
                [Machine, Package, Core, PU].into_iter().chain(ObjectType::SPECIAL).collect();
            let first = [0, 1, 3, 4, 6, 9, 9, 9, 9, 9, 9];
            it.levels = Levels::new(&types, &first, &[2, 1, 2, 1]);
        },
        "whole objects of the next one",
    ),
    (
        "indexes",
        |it| it.objects.os_index = Column::pack(&[2, 2, 3, 2, 3, 4, 5, 2, 131_072 + 2]),
        "below 131,072",
    ),
    (
        "runs of PUs",
        |it| it.pu_runs = vec![PuRun { os_first: 0, count: 5, logical_first: 0, step: 1 }],
        "is a run of PUs",
    ),
    (
        "sets",
        |it| it.sets.first_word = Column::pack(&vec![2047; it_sets(it)]),
        "at most 2048 words",
    ),
    (
        "allowed",
        |it| it.machine.allowed_cpuset = disallowed(it),
        "is within the root's complete cpuset",
    ),
    ("strings", |it| it.strings.bytes = b"no end".to_vec(), "as every string"),
    (
        "facts",
        |it| {
            let [name, value] = [0, 0].map(|text| Column::pack(&[text, text]));
            it.facts = vec![FactsOfObjects { object: Column::pack(&[3, 2]), name, value }];
        },
        "ascend",
    ),
    ("memory", |it| it.total_memory.object = descending(it.total_memory.object.clone()), "ascend"),
    (
        "attributes",
        |it| it.levels.attribute_first = first_attributes_of_nodes(it, 8),
        "have attribute rows",
    ),
    (
        "distances",
        |it| {
            let (objects, values) = (Column::pack(&[7, 8]), Column::pack(&[10, 20, 20]));
            it.distances = vec![Distances { name: NONE, kind: 1, objects, values }];
        },
        "for each row of its table",
    ),
];

fn many(rows: usize) -> Column {
    Column::pack(&vec![7; rows])
}

/// Adds a hundred thousand infos that all refer to a string of a thousand bytes.
fn long_infos(it: &mut TopologyColumns) {
    let objects = it.tree.objects as usize;
    let count = 100_000;
    it.strings.bytes = [vec![b'x'; 1000], vec![0]].concat();
    it.strings.start = Column::pack(&[0]);
    let start: Vec<u64> = std::iter::once(0).chain(std::iter::repeat_n(count, objects)).collect();
    it.infos.start = Column::pack(&start);
    (it.infos.name, it.infos.value) = (many_of(0, count), many_of(0, count));
}

fn many_of(value: u64, rows: u64) -> Column {
    Column::pack(&vec![value; usize::try_from(rows).unwrap()])
}

fn descending(column: Column) -> Column {
    let bytes = rkyv::to_bytes::<rkyv::rancor::Error>(&column).unwrap();
    let archived = rkyv::access::<crate::column::ArchivedColumn, rkyv::rancor::Error>(&bytes);
    let mut values: Vec<u64> = archived.unwrap().iter().collect();
    values.reverse();
    Column::pack(&values)
}

fn it_sets(it: &TopologyColumns) -> usize {
    let bytes = rkyv::to_bytes::<rkyv::rancor::Error>(it).unwrap();
    let archived = rkyv::access::<crate::archive::ArchivedTopology, rkyv::rancor::Error>(&bytes);
    archived.unwrap().sets.first_word.len()
}

/// Adds a set with PU 63, which the machine does not have, and returns its row.
fn disallowed(it: &mut TopologyColumns) -> u32 {
    let count = it_sets(it);
    let words = 1u64 << 63;
    let bytes = rkyv::to_bytes::<rkyv::rancor::Error>(&it.sets).unwrap();
    type Table = crate::archive::ArchivedSetTable;
    let table = rkyv::access::<Table, rkyv::rancor::Error>(&bytes).unwrap();
    let with = |column: &crate::column::ArchivedColumn, value| {
        Column::pack(&column.iter().chain([value]).collect::<Vec<_>>())
    };
    let end = table.words.len() as u64 + 1;
    (it.sets.words, it.sets.start) = (with(&table.words, words), with(&table.start, end));
    it.sets.first_word = with(&table.first_word, 0);
    it.sets.infinite = with(&table.infinite, 0);
    u32::try_from(count).unwrap()
}

/// Makes a topology with 130 Misc objects, each below the one before.
fn nested(it: &mut TopologyColumns) {
    const COUNT: u32 = 130;
    let mut description = machine(2);
    let first = description.objects.len();
    let misc = crate::description::Object {
        object_type: ObjectType::Misc,
        depth: Depth::Misc,
        sets: None,
        attributes: crate::attributes::Attributes::None,
        os_index: None,
        children: Vec::new(),
        ..description.objects[0].clone()
    };
    description.objects[0].children.push(first);
    for index in 0..COUNT {
        let next = first + index as usize + 1;
        let children = if index + 1 < COUNT { vec![next] } else { Vec::new() };
        description.objects.push(crate::description::Object {
            logical_index: index,
            children,
            ..misc.clone()
        });
    }
    *it = topology_of_any_depth(&description);
}

/// Archives a description with Misc objects of any depth. The builder refuses such a description,
/// so this archives one without nesting and changes the tree.
fn topology_of_any_depth(description: &crate::description::Description) -> TopologyColumns {
    let mut flat = description.clone();
    let misc: Vec<usize> = (0..flat.objects.len())
        .filter(|place| flat.objects[*place].object_type == ObjectType::Misc)
        .collect();
    for place in &misc {
        flat.objects[*place].children.clear();
    }
    flat.objects[0].children.retain(|child| !misc.contains(child));
    flat.objects[0].children.extend(&misc);
    let mut topology = topology(&flat).unwrap();
    // Puts each Misc object below the one before, as the first of its list.
    let first = u32::try_from(misc[0]).unwrap();
    let end = topology.tree.objects;
    let tree = topology.tree.clone();
    let attached = (first..end).flat_map(|id| [if id == first { 0 } else { id - 1 }, 0]);
    topology.tree.attached = tree.pack(attached);
    let mut start = vec![0u32, 3];
    // The root has its two packages and the first Misc object. Each package has two PUs and a NUMA
    // node.
    start.extend([6, 9]);
    start.extend(std::iter::repeat_n(9, 6));
    start.extend((first..end - 1).map(|id| 9 + id + 1 - first));
    start.push(9 + end - 1 - first);
    topology.tree.child_start = tree.pack(start);
    let children = [1, 2, first, 3, 4, 7, 5, 6, 8].into_iter().chain(first + 1..end);
    topology.tree.children = tree.pack(children);
    topology
}

fn first_attributes_of_nodes(it: &TopologyColumns, row: u64) -> Column {
    let levels = it.levels.rows.len() - 1;
    let values = (0..levels).map(|level| match it.levels.rows[level].kind & 0xff {
        kind if kind == u32::from(NUMANode.raw()) => row,
        _ => 0,
    });
    Column::pack(&values.collect::<Vec<_>>())
}

#[test]
fn an_archive_that_breaks_a_rule_is_refused_with_that_rule() {
    let mut description = machine(2);
    description.objects[0].name = Some("node".to_owned());
    description.allowed_cpuset = (0..4).collect();
    description.allowed_nodeset = [0, 64].into_iter().collect();
    let right = topology(&description).unwrap();
    checked(&right).unwrap();
    // Miri checks only some rules because it is about a thousand times slower.
    let part = if cfg!(miri) { 11 } else { 1 };
    let rules = RULES.into_iter().step_by(part);
    let wrong = rules.filter_map(|(name, breaks, complaint)| {
        let mut broken = right.clone();
        breaks(&mut broken);
        let found = checked(&broken).err().unwrap_or_default();
        (!found.contains(complaint)).then(|| format!("{name}: {found:?}, expected {complaint:?}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
#[cfg_attr(miri, ignore = "reads a page of text, which is slow under Miri and has no unsafe code")]
fn every_rule_that_the_format_has_of_an_archive_is_broken_here() {
    let format = include_str!("../../FORMAT.md");
    let (_, rules) = format.split_once("Of an archive:").unwrap();
    let (rules, _) = rules.split_once("Of an overlay:").unwrap();
    let names = rules.lines().filter_map(|line| line.strip_prefix("* **")?.split_once("**"));
    let names: Vec<&str> = names.map(|(name, _)| name).collect();
    assert_eq!(names, RULES.map(|(name, ..)| name));
}
