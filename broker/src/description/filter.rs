//! Type filters of a description. The result is the topology that hwloc would have loaded with the
//! same filters.
//!
//! Counterpart: `hwloc_topology_set_type_filter` before loading the same XML.

use topobroker_layout::attributes::{Attributes, OsDeviceKind, Pci};
use topobroker_layout::depth::Depth;
use topobroker_layout::description::{Description, Initiator, Object};
use topobroker_layout::object_type::{ChildKind, ObjectType};
use topobroker_layout::shape::{self, Shape};
use topobroker_layout::type_filter::TypeFilter;

/// A filter for each type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filters([TypeFilter; ObjectType::ALL.len()]);

impl Default for Filters {
    /// Keeps all objects except groups that add no structure and I/O devices that are not
    /// important. hwloc's programs show the same objects.
    fn default() -> Self {
        let mut filters = Self([TypeFilter::All; ObjectType::ALL.len()]);
        filters.set_io(TypeFilter::Important);
        filters
    }
}

impl Filters {
    /// The filter of a type. For groups it is [`TypeFilter::Structure`] if `All` or `Important` was
    /// set.
    #[must_use]
    pub fn get(&self, object_type: ObjectType) -> TypeFilter {
        let filter = self.0.get(usize::from(object_type.raw())).copied().unwrap_or(TypeFilter::All);
        match (object_type, filter) {
            (ObjectType::Group, TypeFilter::All | TypeFilter::Important) => TypeFilter::Structure,
            _ => filter,
        }
    }

    /// Sets the filter of a type. As in hwloc, the machine, PUs and NUMA nodes are always kept, and
    /// I/O and Misc types cannot be filtered by structure: such a call changes nothing.
    pub fn set(&mut self, object_type: ObjectType, filter: TypeFilter) {
        use ObjectType::{Machine, NUMANode, PU};
        let fixed = matches!(object_type, Machine | PU | NUMANode);
        let special = matches!(object_type.child_kind(), ChildKind::Io | ChildKind::Misc);
        if fixed || (special && filter == TypeFilter::Structure) {
            return;
        }
        if let Some(slot) = self.0.get_mut(usize::from(object_type.raw())) {
            *slot = filter;
        }
    }

    /// Sets the filter of every type.
    pub fn set_all(&mut self, filter: TypeFilter) {
        ObjectType::ALL.into_iter().for_each(|object_type| self.set(object_type, filter));
    }

    /// Sets the filter of all CPU caches and memory-side caches.
    pub fn set_caches(&mut self, filter: TypeFilter) {
        let caches = ObjectType::ALL.into_iter().filter(|object_type| is_any_cache(*object_type));
        caches.for_each(|object_type| self.set(object_type, filter));
    }

    /// Sets the filter of bridges, PCI and OS devices.
    pub fn set_io(&mut self, filter: TypeFilter) {
        let io = ObjectType::ALL.into_iter().filter(|object_type| object_type.is_io());
        io.for_each(|object_type| self.set(object_type, filter));
    }

    /// The filters to set in hwloc before it loads a topology: all except [`TypeFilter::All`].
    #[must_use]
    pub fn for_loading(&self) -> Vec<(ObjectType, TypeFilter)> {
        let all =
            ObjectType::ALL.into_iter().map(|object_type| (object_type, self.get(object_type)));
        all.filter(|(_, filter)| *filter != TypeFilter::All).collect()
    }

    fn keeps(&self, object: &Object) -> bool {
        match self.get(object.object_type) {
            TypeFilter::None => false,
            TypeFilter::All | TypeFilter::Structure => true,
            TypeFilter::Important => match &object.attributes {
                Attributes::Pci(pci) => is_important(pci),
                Attributes::OsDevice { kind } => *kind != OsDeviceKind::Dma,
                _ => true,
            },
        }
    }
}

/// Whether a type is a CPU cache or a memory-side cache. hwloc's programs call both "cache".
pub(crate) fn is_any_cache(object_type: ObjectType) -> bool {
    object_type.is_cache() || object_type == ObjectType::MemCache
}

/// Whether hwloc keeps a PCI device if only important I/O is wanted
/// (`HWLOC_TYPE_FILTER_KEEP_IMPORTANT`): displays, networks, storage, co-processors and the like.
fn is_important(pci: &Pci) -> bool {
    // Base classes: none, storage, network, display, bridge (an NVSwitch is one), processor,
    // accelerator. Then single classes: Fibre Channel, InfiniBand, CXL memory.
    matches!(pci.class_id >> 8, 0x00 | 0x01 | 0x02 | 0x03 | 0x06 | 0x0b | 0x12)
        || matches!(pci.class_id, 0x0c04 | 0x0c06 | 0x0502)
}

/// Applies filters to a description. The children of a dropped object take its place.
#[must_use]
pub fn filter(description: &Description, filters: &Filters) -> Description {
    let mut tree = Tree { objects: description.objects.clone() };
    let mut lists = Lists::default();
    tree.keep_below(0, filters, &mut lists);
    tree.set_children(0, lists);
    tree.drop_empty_bridges(0, filters, 0);
    tree.drop_empty(0);
    tree.merge_levels(filters);
    tree.finish(description, filters)
}

/// The tree while it is filtered. A dropped object stays in `objects`, but is in no child list.
struct Tree {
    objects: Vec<Object>,
}

/// Child lists of an object while they are collected, one for each kind.
#[derive(Default)]
struct Lists([Vec<usize>; 4]);

impl Lists {
    fn push(&mut self, kind: ChildKind, child: usize) {
        if let Some(list) = self.0.get_mut(kind as usize) {
            list.push(child);
        }
    }
}

impl Tree {
    fn object(&self, place: usize) -> Option<&Object> {
        self.objects.get(place)
    }

    fn children(&self, place: usize) -> Vec<usize> {
        self.object(place).map(|object| object.children.clone()).unwrap_or_default()
    }

    fn children_of_kind(&self, place: usize, kind: ChildKind) -> Vec<usize> {
        let mut children = self.children(place);
        children
            .retain(|child| self.object(*child).is_some_and(|child| child.child_kind() == kind));
        children
    }

    fn set_children(&mut self, place: usize, lists: Lists) {
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

    /// Collects the children of `place` that the filters keep, in the order in which hwloc imports
    /// them: memory first.
    ///
    /// If a child is dropped, the normal children are sorted by their PUs, as hwloc does.
    fn keep_below(&mut self, place: usize, filters: &Filters, lists: &mut Lists) {
        let mut dropped = false;
        let order = [ChildKind::Memory, ChildKind::Normal, ChildKind::Io, ChildKind::Misc];
        let children = order.map(|kind| self.children_of_kind(place, kind));
        for child in children.into_iter().flatten() {
            let Some((kind, kept)) =
                self.object(child).map(|object| (object.child_kind(), filters.keeps(object)))
            else {
                continue;
            };
            if kept {
                let mut below = Lists::default();
                self.keep_below(child, filters, &mut below);
                self.set_children(child, below);
                lists.push(kind, child);
            } else {
                dropped = true;
                self.keep_below(child, filters, lists);
            }
        }
        if let (true, [normal, ..]) = (dropped, &mut lists.0) {
            normal.sort_by_key(|child| self.first_pu(*child));
        }
    }

    /// Lowest PU in the complete cpuset of an object; [`u32::MAX`] if it has none.
    fn first_pu(&self, place: usize) -> u32 {
        let sets = self.object(place).and_then(|object| object.sets.as_ref());
        sets.and_then(|sets| sets.complete_cpuset.iter().next()).unwrap_or(u32::MAX)
    }

    /// Drops bridges without I/O children if only important I/O is kept, and sets the depth of all
    /// bridges.
    fn drop_empty_bridges(&mut self, place: usize, filters: &Filters, depth: u32) {
        let mut kept = Vec::new();
        for child in self.children(place) {
            let is_bridge =
                self.object(child).is_some_and(|child| child.object_type == ObjectType::Bridge);
            self.drop_empty_bridges(child, filters, depth + u32::from(is_bridge));
            if let Some(Object { attributes: Attributes::Bridge(bridge), .. }) =
                self.objects.get_mut(child)
            {
                bridge.depth = depth;
            }
            if !self.is_empty_bridge(child, filters) {
                kept.push(child);
            }
        }
        if let Some(object) = self.objects.get_mut(place) {
            object.children = kept;
        }
    }

    fn is_empty_bridge(&self, place: usize, filters: &Filters) -> bool {
        let Some(object) = self.object(place) else {
            return false;
        };
        let bridge = match &object.attributes {
            Attributes::Bridge(_) => true,
            // A PCI device of the class of bridges. An NVSwitch stays, because NVLinks end there.
            Attributes::Pci(pci) => {
                pci.class_id >> 8 == 0x06 && object.subtype.as_deref() != Some("NVSwitch")
            }
            _ => false,
        };
        bridge
            && filters.get(object.object_type) == TypeFilter::Important
            && self.children_of_kind(place, ChildKind::Io).is_empty()
    }

    /// Drops normal objects without PUs and memory objects without NUMA nodes if they have no
    /// children other than Misc objects. Returns whether `place` itself is to be dropped.
    ///
    /// hwloc had kept such objects, whose PUs are not allowed, because of I/O devices that are now
    /// dropped.
    fn drop_empty(&mut self, place: usize) -> bool {
        let mut children = self.children(place);
        children.retain(|child| !self.drop_empty(*child));
        let only_misc = children.iter().all(|child| {
            self.object(*child).is_some_and(|child| child.child_kind() == ChildKind::Misc)
        });
        let Some(object) = self.objects.get_mut(place) else {
            return false;
        };
        object.children = children;
        let is_empty = match (&object.sets, object.child_kind()) {
            (Some(sets), ChildKind::Normal) => sets.cpuset.is_empty(),
            (Some(sets), ChildKind::Memory) => sets.nodeset.is_empty(),
            _ => false,
        };
        is_empty && only_misc && object.parent.is_some()
    }

    /// The child lists of the objects that are left.
    fn shape(&self) -> Shape {
        let kinds = self.objects.iter().map(|object| {
            let group = match object.attributes {
                Attributes::Group(group) => Some(group),
                _ => None,
            };
            shape::Kind {
                object_type: object.object_type,
                group: group.map(|group| (group.kind, group.subkind)),
                stays: group.is_some_and(|group| group.dont_merge),
            }
        });
        let mut shape = Shape::new(kinds);
        let mut next = vec![0];
        while let Some(place) = next.pop() {
            for child in self.children(place) {
                let numbers = u32::try_from(place).ok().zip(u32::try_from(child).ok());
                numbers.into_iter().for_each(|(parent, child)| shape.append(parent, child));
                next.push(child);
            }
        }
        shape
    }

    /// Merges levels that add no structure, if their type is filtered by structure.
    fn merge_levels(&mut self, filters: &Filters) {
        let mut shape = self.shape();
        shape.merge_levels(|kind| filters.get(kind) == TypeFilter::Structure);
        for (place, object) in (0u32..).zip(&mut self.objects) {
            object.parent = shape.parent(place).map(|parent| parent as usize);
            object.children = shape.all_children(place).map(|child| child as usize).collect();
        }
    }

    /// Gives logical indexes to special objects in the order in which hwloc lists them. Returns the
    /// places of all objects that are left, in the order of the tree.
    fn number_special(&mut self) -> Vec<usize> {
        let mut left = Vec::new();
        self.list(0, &mut left);
        for object_type in ObjectType::ALL.into_iter().filter(|kind| !kind.is_normal()) {
            let mut next = 0;
            for place in &left {
                if let Some(object) = self.objects.get_mut(*place)
                    && object.object_type == object_type
                {
                    object.logical_index = next;
                    next += 1;
                }
            }
        }
        left
    }

    fn list(&self, place: usize, left: &mut Vec<usize>) {
        left.push(place);
        self.children(place).into_iter().for_each(|child| self.list(child, left));
    }

    /// Numbers the objects that are left, and removes table entries that refer to dropped ones.
    fn finish(mut self, description: &Description, filters: &Filters) -> Description {
        let mut group_depth = 0;
        for (depth, level) in (0u32..).zip(self.shape().levels()) {
            let mut groups = false;
            for (logical_index, place) in (0u32..).zip(level) {
                let Some(object) = self.objects.get_mut(place as usize) else {
                    continue;
                };
                (object.depth, object.logical_index) = (Depth::Normal(depth), logical_index);
                if let Attributes::Group(group) = &mut object.attributes {
                    group.depth = group_depth;
                    groups = true;
                }
            }
            group_depth += u32::from(groups);
        }
        let left = self.number_special();
        let mut new_place = vec![None; self.objects.len()];
        for (new, old) in left.iter().enumerate() {
            if let Some(slot) = new_place.get_mut(*old) {
                *slot = Some(new);
            }
        }
        let renamed = |place: usize| new_place.get(place).copied().flatten();
        let objects = left.iter().filter_map(|place| self.object(*place)).map(|object| {
            let mut object = object.clone();
            object.parent = object.parent.and_then(renamed);
            object.children = object.children.iter().filter_map(|child| renamed(*child)).collect();
            object
        });
        let mut filtered = Description {
            objects: objects.collect(),
            type_filters: ObjectType::ALL.map(|kind| filters.get(kind)).to_vec(),
            ..description.clone()
        };
        filtered.distances.retain_mut(|matrix| keep_matrix(matrix, renamed));
        for attribute in &mut filtered.memory_attributes {
            attribute.values.retain_mut(|value| {
                let initiator = match &mut value.initiator {
                    Initiator::Object(place) => renamed(*place).map(|new| *place = new),
                    _ => Some(()),
                };
                initiator.and(renamed(value.target)).map(|new| value.target = new).is_some()
            });
        }
        filtered
    }
}

/// Removes the rows and columns of dropped objects. Returns whether at least two objects are left,
/// because a matrix needs two.
fn keep_matrix(
    matrix: &mut topobroker_layout::description::Distances,
    renamed: impl Fn(usize) -> Option<usize>,
) -> bool {
    let count = matrix.objects.len();
    let kept: Vec<(usize, usize)> = (0..count)
        .zip(&matrix.objects)
        .filter_map(|(row, place)| Some((row, renamed(*place)?)))
        .collect();
    let cells = kept.iter().flat_map(|(from, _)| kept.iter().map(move |(to, _)| from * count + to));
    matrix.values = cells.filter_map(|cell| matrix.values.get(cell).copied()).collect();
    matrix.objects = kept.into_iter().map(|(_, place)| place).collect();
    matrix.objects.len() > 1
}
