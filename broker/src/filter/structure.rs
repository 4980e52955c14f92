//! Levels that add nothing to the structure: one object of the level for each of the level above.

use super::{Filters, Lists, Tree, levels};
use crate::hwloc::Filter;
use topobroker_layout::attributes::Attributes;
use topobroker_layout::object_type::{ChildKind, ObjectType};

/// Merges levels whose type is only kept for structure, from the bottom up.
pub(super) fn merge(tree: &mut Tree, filters: &Filters) {
    let mut levels = levels::connect(tree);
    let mut lower = levels.len();
    while lower > 1 {
        lower -= 1;
        let (Some(parents), Some(children)) = (levels.get(lower - 1), levels.get(lower)) else {
            return;
        };
        let Some(replaced) = which_goes(tree, filters, parents, children) else {
            continue;
        };
        if !are_identical(tree, parents, children) {
            continue;
        }
        for (&parent, &child) in parents.iter().zip(children) {
            match replaced {
                Replaced::Parent => replace_parent(tree, parent, child),
                Replaced::Child => replace_child(tree, parent, child),
            }
        }
        levels.remove(match replaced {
            Replaced::Parent => lower - 1,
            Replaced::Child => lower,
        });
    }
}

#[derive(Clone, Copy)]
enum Replaced {
    Parent,
    Child,
}

fn which_goes(
    tree: &Tree,
    filters: &Filters,
    parents: &[usize],
    children: &[usize],
) -> Option<Replaced> {
    let parent = tree.object(*parents.first()?)?.object_type;
    let child = tree.object(*children.first()?)?.object_type;
    let may_go = |level: &[usize], kind| {
        filters.get(kind) == Filter::Structure && !level.iter().any(|place| stays(tree, *place))
    };
    match (may_go(parents, parent), may_go(children, child)) {
        (false, false) => None,
        (true, false) => Some(Replaced::Parent),
        (false, true) => Some(Replaced::Child),
        (true, true) if priority(parent) >= priority(child) => Some(Replaced::Child),
        (true, true) => Some(Replaced::Parent),
    }
}

/// Whether a group asks not to be merged.
fn stays(tree: &Tree, place: usize) -> bool {
    let attributes = tree.object(place).map(|object| object.attributes);
    matches!(attributes, Some(Attributes::Group(group)) if group.dont_merge)
}

/// Which of two identical levels says more: hwloc's order.
fn priority(object_type: ObjectType) -> u32 {
    match object_type {
        ObjectType::PU | ObjectType::NUMANode => 100,
        ObjectType::Machine => 90,
        ObjectType::Core => 60,
        ObjectType::Package => 40,
        ObjectType::Die => 30,
        kind if kind.is_data_cache() => 20,
        kind if kind.is_instruction_cache() => 19,
        _ => 0,
    }
}

fn are_identical(tree: &Tree, parents: &[usize], children: &[usize]) -> bool {
    parents.len() == children.len()
        && parents.iter().zip(children).all(|(&parent, &child)| {
            let is_pu = tree.object(child).is_some_and(|o| o.object_type == ObjectType::PU);
            // Memory above PUs keeps them apart: a PU has none itself.
            let has_memory = !tree.children_of_kind(parent, ChildKind::Memory).is_empty();
            tree.children_of_kind(parent, ChildKind::Normal) == [child] && !(is_pu && has_memory)
        })
}

/// The child takes the parent's place, and what hung on the parent before its own.
fn replace_parent(tree: &mut Tree, parent: usize, child: usize) {
    let mut lists = Lists::default();
    for kind in [ChildKind::Memory, ChildKind::Io, ChildKind::Misc] {
        for place in tree.children_of_kind(parent, kind) {
            lists.push(kind, place);
        }
    }
    for place in tree.children(child) {
        if let Some(kind) = tree.object(place).map(|object| object.child_kind()) {
            lists.push(kind, place);
        }
    }
    tree.set_children(child, lists);
    let above = tree.object(parent).and_then(|object| object.parent);
    if let Some(object) = tree.objects.get_mut(child) {
        object.parent = above;
    }
    if let Some(above) = above.and_then(|place| tree.objects.get_mut(place)) {
        above.children.iter_mut().filter(|place| **place == parent).for_each(|p| *p = child);
    }
}

/// The parent takes over what hangs on the child, behind its own.
fn replace_child(tree: &mut Tree, parent: usize, child: usize) {
    let mut lists = Lists::default();
    for place in tree.children(parent).into_iter().chain(tree.children(child)) {
        if place == child {
            continue;
        }
        if let Some(kind) = tree.object(place).map(|object| object.child_kind()) {
            lists.push(kind, place);
        }
    }
    tree.set_children(parent, lists);
}
