//! A tree that can be changed: its child lists, and the levels that hwloc makes of it.
//!
//! Filters and views take objects out of a topology. The remaining objects are put in levels again,
//! and levels that add no structure are merged. Objects are referred to by number. A list is linked
//! through its objects.

use crate::depth::Depth;
use crate::object_type::{ChildKind, ObjectType};
use alloc::vec;
use alloc::vec::Vec;

const NONE: u32 = u32::MAX;

/// The properties of an object that the rules depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traits {
    /// Its type.
    pub object_type: ObjectType,
    /// Kind and subkind of a group.
    pub group: Option<(u32, u32)>,
    /// Whether the object must not be merged with another one.
    pub stays: bool,
}

/// A tree of objects; the first is the root.
#[derive(Debug, Clone)]
pub struct Shape {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    kind: Traits,
    parent: u32,
    next: u32,
    lists: [List; 4],
}

/// First and last of the children in a list.
#[derive(Debug, Clone, Copy)]
struct List {
    first: u32,
    last: u32,
}

const EMPTY: List = List { first: NONE, last: NONE };

impl Shape {
    /// A tree of objects of these kinds, which are in no list yet.
    #[must_use]
    pub fn new(kinds: impl IntoIterator<Item = Traits>) -> Self {
        let node = |kind| Node { kind, parent: NONE, next: NONE, lists: [EMPTY; 4] };
        Self { nodes: kinds.into_iter().map(node).collect() }
    }

    /// The parent of an object; `None` for the root and for an object that is in no list.
    #[must_use]
    pub fn parent(&self, node: u32) -> Option<u32> {
        self.node(node).map(|node| node.parent).filter(|parent| *parent != NONE)
    }

    /// The children in one list.
    pub fn children(&self, node: u32, kind: ChildKind) -> impl Iterator<Item = u32> + '_ {
        let first = self.list(node, kind).first;
        let next = |child: &u32| self.node(*child).map(|node| node.next);
        core::iter::successors(Some(first), next).take_while(|child| *child != NONE)
    }

    /// The children in all lists: normal, memory, I/O, Misc.
    pub fn all_children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        KINDS.into_iter().flat_map(move |kind| self.children(node, kind))
    }

    /// Whether a list is empty.
    #[must_use]
    pub fn is_empty(&self, node: u32, kind: ChildKind) -> bool {
        self.list(node, kind).first == NONE
    }

    /// Appends an object to the list of its kind below `parent`.
    pub fn append(&mut self, parent: u32, child: u32) {
        let Some(node) = self.nodes.get_mut(child as usize) else { return };
        (node.parent, node.next) = (parent, NONE);
        let kind = node.kind.object_type.child_kind();
        self.join(parent, kind, List { first: child, last: child });
    }

    /// Takes a list away from its parent and returns its first object. The caller walks the list
    /// with [`Shape::next`] and appends its objects again.
    pub fn detach(&mut self, parent: u32, kind: ChildKind) -> Option<u32> {
        let list = self.list(parent, kind);
        self.set_list(parent, kind, EMPTY);
        Some(list.first).filter(|first| *first != NONE)
    }

    /// The object after another one in its list.
    #[must_use]
    pub fn next(&self, node: u32) -> Option<u32> {
        self.node(node).map(|node| node.next).filter(|next| *next != NONE)
    }

    /// Moves the children of one kind from the list of `from` to the end of the list of `to`.
    pub fn hand_on(&mut self, from: u32, to: u32, kind: ChildKind) {
        let list = self.list(from, kind);
        self.set_list(from, kind, EMPTY);
        let mut next = list.first;
        while let Some(child) = self.nodes.get_mut(next as usize) {
            child.parent = to;
            next = child.next;
        }
        self.join(to, kind, list);
    }

    /// Sorts the normal children by `key`, as hwloc does after they have lost PUs. Each child is
    /// inserted before the first one whose key is not lower, so children with equal keys change
    /// places.
    pub fn reorder(&mut self, parent: u32, key: impl Fn(u32) -> u32) {
        let list = self.list(parent, ChildKind::Normal);
        if list.first == list.last {
            return;
        }
        let mut sorted: Vec<(u32, u32)> = Vec::new();
        for child in self.children(parent, ChildKind::Normal) {
            let own = key(child);
            let place = sorted.partition_point(|(other, _)| *other < own);
            sorted.insert(place, (own, child));
        }
        self.set_list(parent, ChildKind::Normal, EMPTY);
        sorted.into_iter().for_each(|(_, child)| self.append(parent, child));
    }

    /// Levels of the normal objects from the top, each in logical order. A level has objects of one
    /// kind. If branches of the tree differ, a kind that is above another one in any branch is
    /// above it everywhere.
    #[must_use]
    pub fn levels(&self) -> Vec<Vec<u32>> {
        let mut levels = vec![vec![0]];
        let mut rest: Vec<u32> = self.children(0, ChildKind::Normal).collect();
        while let Some(top) = self.topmost(&rest) {
            let mut level = Vec::with_capacity(rest.len());
            let mut below = Vec::with_capacity(rest.len());
            for node in rest {
                if self.same_kind(node, top) {
                    below.extend(self.children(node, ChildKind::Normal));
                    level.push(node);
                } else {
                    below.push(node);
                }
            }
            levels.push(level);
            rest = below;
        }
        levels
    }

    /// An object whose kind makes the next level, because no object of another kind is above one of
    /// this kind. PUs always come last.
    fn topmost(&self, nodes: &[u32]) -> Option<u32> {
        let is_pu = |node: u32| self.object_type(node) == Some(ObjectType::PU);
        let first = nodes.iter().copied().find(|node| !is_pu(*node)).or(nodes.first().copied())?;
        let top = nodes.iter().copied().fold(first, |top, node| {
            let above = !self.same_kind(node, top) && self.has_below(node, top);
            if above { node } else { top }
        });
        Some(top)
    }

    fn has_below(&self, node: u32, wanted: u32) -> bool {
        self.children(node, ChildKind::Normal)
            .any(|child| self.same_kind(child, wanted) || self.has_below(child, wanted))
    }

    fn same_kind(&self, first: u32, second: u32) -> bool {
        let kind = |node: &Node| (node.kind.object_type, node.kind.group);
        self.node(first).map(kind) == self.node(second).map(kind)
    }

    /// Merges neighbouring levels that are identical, from the bottom up, if one of the two types
    /// is only kept for structure. Two levels are identical if each object of the upper one has one
    /// normal child, and these children make the lower one. Returns the remaining levels.
    /// Counterpart: the effect of the filter `HWLOC_TYPE_FILTER_KEEP_STRUCTURE`.
    pub fn merge_levels(&mut self, for_structure: impl Fn(ObjectType) -> bool) -> Vec<Vec<u32>> {
        let mut levels = self.levels();
        let mut lower = levels.len();
        while lower > 1 {
            lower -= 1;
            let (Some(parents), Some(children)) = (levels.get(lower - 1), levels.get(lower)) else {
                break;
            };
            let Some(replaced) = self.which_goes(&for_structure, parents, children) else {
                continue;
            };
            if !self.are_identical(parents, children) {
                continue;
            }
            for (&parent, &child) in parents.iter().zip(children) {
                match replaced {
                    Replaced::Parent => self.replace_parent(parent, child),
                    Replaced::Child => self.replace_child(parent, child),
                }
            }
            levels.remove(match replaced {
                Replaced::Parent => lower - 1,
                Replaced::Child => lower,
            });
        }
        levels
    }

    fn which_goes(
        &self,
        for_structure: impl Fn(ObjectType) -> bool,
        parents: &[u32],
        children: &[u32],
    ) -> Option<Replaced> {
        let parent = self.object_type(*parents.first()?)?;
        let child = self.object_type(*children.first()?)?;
        let stays = |node: &u32| self.node(*node).is_some_and(|node| node.kind.stays);
        let may_go = |level: &[u32], kind| for_structure(kind) && !level.iter().any(stays);
        match (may_go(parents, parent), may_go(children, child)) {
            (false, false) => None,
            (true, false) => Some(Replaced::Parent),
            (false, true) => Some(Replaced::Child),
            (true, true) if priority(parent) >= priority(child) => Some(Replaced::Child),
            (true, true) => Some(Replaced::Parent),
        }
    }

    fn are_identical(&self, parents: &[u32], children: &[u32]) -> bool {
        parents.len() == children.len()
            && parents.iter().zip(children).all(|(&parent, &child)| {
                let only = List { first: child, last: child };
                let own = self.list(parent, ChildKind::Normal);
                // An object with memory is not merged with a PU, because a PU cannot have memory.
                let is_pu = self.object_type(child) == Some(ObjectType::PU);
                let has_memory = !self.is_empty(parent, ChildKind::Memory);
                (own.first, own.last) == (only.first, only.last) && !(is_pu && has_memory)
            })
    }

    /// Puts the child in the place of its parent, and the parent's special children before the
    /// child's own.
    fn replace_parent(&mut self, parent: u32, child: u32) {
        for kind in [ChildKind::Memory, ChildKind::Io, ChildKind::Misc] {
            let own = self.list(child, kind);
            self.set_list(child, kind, EMPTY);
            self.hand_on(parent, child, kind);
            self.join(child, kind, own);
        }
        let Some(Node { parent: above, next, .. }) = self.node(parent).copied() else { return };
        if let Some(node) = self.nodes.get_mut(child as usize) {
            (node.parent, node.next) = (above, next);
        }
        let before = self.children(above, ChildKind::Normal).take_while(|node| *node != parent);
        let before = before.last();
        if let Some(node) = before.and_then(|before| self.nodes.get_mut(before as usize)) {
            node.next = child;
        }
        let mut list = self.list(above, ChildKind::Normal);
        let renamed = |node: u32| if node == parent { child } else { node };
        (list.first, list.last) = (renamed(list.first), renamed(list.last));
        self.set_list(above, ChildKind::Normal, list);
    }

    /// Removes the child, and appends its children to the parent's own.
    fn replace_child(&mut self, parent: u32, child: u32) {
        self.set_list(parent, ChildKind::Normal, EMPTY);
        KINDS.into_iter().for_each(|kind| self.hand_on(child, parent, kind));
    }

    /// The special objects by type, in the order in which hwloc lists them.
    #[must_use]
    pub fn special_levels(&self) -> [Vec<u32>; ObjectType::SPECIAL.len()] {
        let mut levels = ObjectType::SPECIAL.map(|_| Vec::new());
        self.list_special(0, &mut levels);
        levels
    }

    fn list_special(&self, node: u32, levels: &mut [Vec<u32>]) {
        let special = self.object_type(node).and_then(Depth::of_special);
        let level = special.and_then(|special| special.level(0));
        if let Some(level) = level.and_then(|level| levels.get_mut(level)) {
            level.push(node);
        }
        self.all_children(node).for_each(|child| self.list_special(child, levels));
    }

    fn object_type(&self, node: u32) -> Option<ObjectType> {
        self.node(node).map(|node| node.kind.object_type)
    }

    fn node(&self, node: u32) -> Option<&Node> {
        self.nodes.get(node as usize)
    }

    fn list(&self, node: u32, kind: ChildKind) -> List {
        let lists = self.node(node).map(|node| node.lists);
        lists.and_then(|lists| lists.get(kind as usize).copied()).unwrap_or(EMPTY)
    }

    fn set_list(&mut self, node: u32, kind: ChildKind, list: List) {
        let lists = self.nodes.get_mut(node as usize).map(|node| &mut node.lists);
        if let Some(slot) = lists.and_then(|lists| lists.get_mut(kind as usize)) {
            *slot = list;
        }
    }

    fn join(&mut self, parent: u32, kind: ChildKind, more: List) {
        if more.first == NONE {
            return;
        }
        let own = self.list(parent, kind);
        if let Some(last) = self.nodes.get_mut(own.last as usize) {
            last.next = more.first;
        }
        let first = if own.first == NONE { more.first } else { own.first };
        self.set_list(parent, kind, List { first, last: more.last });
    }
}

const KINDS: [ChildKind; 4] =
    [ChildKind::Normal, ChildKind::Memory, ChildKind::Io, ChildKind::Misc];

#[derive(Clone, Copy)]
enum Replaced {
    Parent,
    Child,
}

/// hwloc's priority of a type: of two identical levels, the one with the higher priority remains.
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
