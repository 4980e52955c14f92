//! The objects of a description as a tree, while it is filtered.

use topobroker_layout::description::Object;
use topobroker_layout::object_type::ChildKind;

/// The tree while it is filtered. A dropped object stays in `objects`, but is in no child list.
pub(super) struct Tree {
    pub(super) objects: Vec<Object>,
}

/// Child lists of an object while they are collected, one for each kind.
#[derive(Default)]
pub(super) struct Lists(pub(super) [Vec<usize>; 4]);

impl Lists {
    pub(super) fn push(&mut self, kind: ChildKind, child: usize) {
        if let Some(list) = self.0.get_mut(kind as usize) {
            list.push(child);
        }
    }
}

impl Tree {
    pub(super) fn object(&self, place: usize) -> Option<&Object> {
        self.objects.get(place)
    }

    pub(super) fn children(&self, place: usize) -> Vec<usize> {
        self.object(place).map(|object| object.children.clone()).unwrap_or_default()
    }

    pub(super) fn children_of_kind(&self, place: usize, kind: ChildKind) -> Vec<usize> {
        let mut children = self.children(place);
        children
            .retain(|child| self.object(*child).is_some_and(|child| child.child_kind() == kind));
        children
    }

    pub(super) fn set_children(&mut self, place: usize, lists: Lists) {
        let children: Vec<usize> = lists.0.into_iter().flatten().collect();
        for &child in &children {
            if let Some(child) = self.objects.get_mut(child) {
                child.parent = Some(place);
            }
        }
        if let Some(object) = self.objects.get_mut(place) {
            object.children = children;
        }
    }
}
