//! Levels of a tree whose objects changed: which depth each normal object is at.

use super::Tree;
use topobroker_layout::attributes::Attributes;
use topobroker_layout::description::Object;
use topobroker_layout::object_type::{ChildKind, ObjectType};

/// Levels from the top, each in logical order. A level has objects of one kind, and where branches
/// differ, a kind that is above another anywhere is above it everywhere.
pub(super) fn connect(tree: &Tree) -> Vec<Vec<usize>> {
    let mut levels = vec![vec![0]];
    let mut rest = normal_children(tree, 0);
    while let Some(top) = topmost(tree, &rest) {
        let (mut level, mut below) = (Vec::new(), Vec::new());
        for place in rest {
            if same_kind(tree, place, top) {
                below.extend(normal_children(tree, place));
                level.push(place);
            } else {
                below.push(place);
            }
        }
        levels.push(level);
        rest = below;
    }
    levels
}

/// An object that no object of another kind is above. PUs are last in any case.
fn topmost(tree: &Tree, places: &[usize]) -> Option<usize> {
    let is_pu = |place: usize| tree.object(place).is_some_and(|o| o.object_type == ObjectType::PU);
    let first = places.iter().copied().find(|place| !is_pu(*place)).or(places.first().copied())?;
    let top = places.iter().copied().fold(first, |top, place| {
        let above = !same_kind(tree, place, top) && has_below(tree, place, top);
        if above { place } else { top }
    });
    Some(top)
}

fn has_below(tree: &Tree, place: usize, wanted: usize) -> bool {
    normal_children(tree, place)
        .into_iter()
        .any(|child| same_kind(tree, child, wanted) || has_below(tree, child, wanted))
}

fn normal_children(tree: &Tree, place: usize) -> Vec<usize> {
    tree.children_of_kind(place, ChildKind::Normal)
}

fn same_kind(tree: &Tree, first: usize, second: usize) -> bool {
    let kind = |object: &Object| {
        let group = match object.attributes {
            Attributes::Group(group) => Some((group.kind, group.subkind)),
            _ => None,
        };
        (object.object_type, group)
    };
    tree.object(first).map(kind) == tree.object(second).map(kind)
}
