//! Tests of valid archives, and of archives that differ from a valid one.

use crate::archive::TopologyColumns;
use crate::attributes::Attributes;
use crate::column::Column;
use crate::depth::Depth;
use crate::description::{Description, Object, Sets};
use crate::encode::topology;
use crate::error::OpenError;
use crate::levels::{Level, Levels};
use crate::object_type::ObjectType::{self, Machine, NUMANode, PU, Package};
use crate::set::Set;
use crate::tree::Tree;

fn object(
    object_type: ObjectType,
    depth: i32,
    logical_index: u32,
    pus: u32,
    nodes: impl IntoIterator<Item = u32>,
) -> Object {
    let first = logical_index * pus;
    let cpuset: Set = (first..first + pus).collect();
    let nodeset: Set = nodes.into_iter().collect();
    let sets = Sets {
        complete_cpuset: cpuset.clone(),
        cpuset,
        complete_nodeset: nodeset.clone(),
        nodeset,
    };
    Object {
        object_type,
        depth: Depth::from_raw(depth).unwrap(),
        logical_index,
        os_index: Some(logical_index),
        symmetric_subtree: true,
        sets: Some(sets),
        ..Object::default()
    }
}

/// A machine of two packages, each with `pus` PUs and a NUMA node.
pub(crate) fn machine(pus: u32) -> Description {
    let mut objects = vec![object(Machine, 0, 0, 2 * pus, 0..2)];
    objects.extend((0..2).map(|package| object(Package, 1, package, pus, [package])));
    objects.extend((0..2 * pus).map(|pu| object(PU, 2, pu, 1, [pu / pus])));
    objects.extend((0..2).map(|node| Object {
        attributes: Attributes::NumaNode { local_memory: 1 },
        ..object(NUMANode, Depth::NumaNode.raw(), node, pus, [node])
    }));
    let pus = pus as usize;
    objects[0].children = vec![1, 2];
    objects[1].children = (3..3 + pus).chain([3 + 2 * pus]).collect();
    objects[2].children = (3 + pus..3 + 2 * pus).chain([4 + 2 * pus]).collect();
    Description { objects, ..Description::default() }
}

pub(super) fn checked(topology: &TopologyColumns) -> Result<(), String> {
    let bytes = rkyv::to_bytes::<rkyv::rancor::Error>(topology).unwrap();
    match crate::open_archive(&bytes) {
        Ok(_) => Ok(()),
        Err(OpenError::Invalid(rule)) => Err(rule.to_string()),
        Err(other) => Err(other.to_string()),
    }
}

#[test]
fn a_tree_is_checked_in_every_width() {
    let mut topology = topology(&machine(3)).unwrap();
    assert_eq!(topology.tree.width, 1);
    let narrow = topology.tree.clone();
    for width in [1, 2, 4] {
        let tree = Tree { width, ..narrow.clone() };
        let wide = |bytes: &[u8]| tree.pack(bytes.iter().map(|byte| u32::from(*byte)));
        let [members, child_start, children] =
            [&tree.members, &tree.child_start, &tree.children].map(|bytes| wide(bytes));
        topology.tree = Tree { members, child_start, children, ..tree };
        checked(&topology).unwrap();
        let part = if cfg!(miri) { 29 } else { 1 };
        // Only rows of normal objects are changed, because a NUMA node may have any PUs.
        let of_normal = 9 * 4 * width as usize;
        let columns: [fn(&mut TopologyColumns) -> &mut Vec<u8>; 3] = [
            |topology| &mut topology.tree.members,
            |topology| &mut topology.tree.child_start,
            |topology| &mut topology.tree.children,
        ];
        for column in columns {
            for byte in (0..column(&mut topology).len().min(of_normal)).step_by(part) {
                column(&mut topology)[byte] ^= 1;
                checked(&topology).unwrap_err();
                column(&mut topology)[byte] ^= 1;
            }
        }
    }
}

#[test]
fn packages_out_of_order_have_no_regular_level() {
    for pus in [2, 3] {
        let mut description = machine(pus);
        description.objects[1].logical_index = 1;
        description.objects[2].logical_index = 0;
        let mut topology = topology(&description).unwrap();
        checked(&topology).unwrap();
        let says = Level::new(1, Package.raw(), pus);
        assert_ne!(std::mem::replace(&mut topology.levels.rows[1], says), says);
        assert!(checked(&topology).unwrap_err().contains("covers the PUs"), "{pus}");
    }
}

#[test]
fn nothing_normal_is_below_pus() {
    let mut topology = topology(&machine(2)).unwrap();
    let types: Vec<_> = [Machine, PU, Package].into_iter().chain(ObjectType::SPECIAL).collect();
    topology.levels = Levels::new(&types, &[0, 1, 3, 7, 9, 9, 9, 9, 9, 9], &[4, 2, 1]);
    assert!(checked(&topology).unwrap_err().contains("lowest normal depth"));
}

#[test]
fn memory_of_an_object_appears_at_most_once() {
    let mut topology = topology(&machine(3)).unwrap();
    let many = vec![0; topology.tree.objects as usize + 1];
    topology.total_memory.object = Column::pack(&many);
    topology.total_memory.bytes = Column::pack(&many);
    assert!(checked(&topology).unwrap_err().contains("at most a row an object"));
}
