//! Builds the overlay of any view: takes the tree apart and puts it together again, step by step as
//! hwloc does.

use super::restriction::{RestrictFlags, Restriction};
use crate::index::{Extent, StoredSet, Words};
use crate::object::Object;
use crate::topology::Topology;
use alloc::vec;
use alloc::vec::Vec;
use topobroker_layout::attributes::Attributes;
use topobroker_layout::levels::Levels;
use topobroker_layout::object_type::{ChildKind, ObjectType};
use topobroker_layout::overlay::{Moved, Overlay, SEVERAL};
use topobroker_layout::set::Set;
use topobroker_layout::shape::{self, Shape};
use topobroker_layout::type_filter::TypeFilter;

#[inline(never)]
pub(super) fn overlay(topology: Topology<'_>, restriction: &Restriction) -> Overlay {
    let mut pruning = Pruning { topology, restriction, shape: shape_of(topology) };
    pruning.visit(0);
    let mut shape = pruning.shape;
    shape.merge_levels(|kind| topology.type_filter(kind) == TypeFilter::Structure);
    let levels = shape.levels().into_iter().chain(shape.special_levels());
    put_together(topology, restriction, &shape, &levels.collect::<Vec<_>>())
}

fn shape_of(topology: Topology<'_>) -> Shape {
    let levels = &topology.index.archive.levels;
    let kinds = (0..levels.rows.len() - 1).flat_map(|level| {
        let object_type = levels.object_type(level).unwrap_or(ObjectType::Machine);
        topology.index.base_ids(level).map(move |id| kind_of(topology, id, object_type))
    });
    let mut shape = Shape::new(kinds);
    for object in topology.objects() {
        object.all_children().for_each(|child| shape.append(object.id(), child.id()));
    }
    shape
}

fn kind_of(topology: Topology<'_>, id: u32, object_type: ObjectType) -> shape::Traits {
    let group = match object_type {
        ObjectType::Group => Object::new(topology.whole().index, id).attributes(),
        _ => Attributes::None,
    };
    match group {
        Attributes::Group(group) => {
            let kinds = Some((group.kind, group.subkind));
            shape::Traits { object_type, group: kinds, stays: group.dont_merge }
        }
        _ => shape::Traits { object_type, group: None, stays: false },
    }
}

/// A tree from which objects are removed.
struct Pruning<'a, 'k> {
    topology: Topology<'a>,
    restriction: &'k Restriction,
    shape: Shape,
}

impl Pruning<'_, '_> {
    /// Removes the objects below `node` that the restriction does not keep, if `node` loses
    /// anything.
    fn visit(&mut self, node: u32) {
        if !self.is_hit(Object::new(self.topology.index, node)) {
            return;
        }
        self.visit_list(node, ChildKind::Normal);
        if self.restriction.sorts() {
            let (topology, cpus) = (self.topology, self.restriction.cpus.as_ref());
            self.shape.reorder(node, |child| first_pu(Object::new(topology.index, child), cpus));
        }
        self.visit_list(node, ChildKind::Memory);
    }

    fn visit_list(&mut self, parent: u32, kind: ChildKind) {
        let mut next = self.shape.detach(parent, kind);
        while let Some(child) = next {
            next = self.shape.next(child);
            self.visit(child);
            if self.stays(child) {
                self.shape.append(parent, child);
                continue;
            }
            let Restriction { flags, is_discovery, .. } = *self.restriction;
            if flags.has(RestrictFlags::ADAPT_IO) {
                self.shape.hand_on(child, parent, ChildKind::Io);
            }
            if flags.has(RestrictFlags::ADAPT_MISC) || is_discovery {
                self.shape.hand_on(child, parent, ChildKind::Misc);
            }
        }
    }

    /// Whether an object loses PUs or NUMA nodes, or is removed by a flag because it has none.
    /// hwloc only looks at PUs, or with `BYNODESET` only at NUMA nodes, and aborts if an object
    /// loses only the others.
    fn is_hit(&self, object: Object<'_>) -> bool {
        let Restriction { flags, cpus, nodes, .. } = self.restriction;
        let by_nodes = flags.has(RestrictFlags::BYNODESET);
        let is_cpuless = |own: &Extent<'_>| {
            !by_nodes && flags.has(RestrictFlags::REMOVE_CPULESS) && own.is_empty()
        };
        let is_memless = |own: &StoredSet<'_>| {
            by_nodes && flags.has(RestrictFlags::REMOVE_MEMLESS) && own.is_empty()
        };
        let loses_cpus = || {
            let own = object.index.complete_extent(object.id())?;
            let lost = cpus.as_ref().is_some_and(|cpus| !own.is_inside(cpus));
            Some(lost || is_cpuless(&own))
        };
        let loses_nodes = || {
            let own = object.index.complete_nodeset(object.id())?;
            let lost = nodes.as_ref().is_some_and(|nodes| !own.is_included_in(nodes));
            Some(lost || is_memless(&own))
        };
        ((cpus.is_some() || !by_nodes) && loses_cpus() == Some(true))
            || ((nodes.is_some() || by_nodes) && loses_nodes() == Some(true))
    }

    fn stays(&self, node: u32) -> bool {
        let object = Object::new(self.topology.index, node);
        let has_children = [ChildKind::Normal, ChildKind::Memory]
            .into_iter()
            .any(|kind| !self.shape.is_empty(node, kind));
        let (flags, kind) = (self.restriction.flags, object.object_type());
        let is_discovery = self.restriction.is_discovery;
        let by_nodes = match is_discovery {
            true => !kind.is_normal(),
            false => flags.has(RestrictFlags::BYNODESET),
        };
        let meets = |set: Option<&Set>, meets: &dyn Fn(&Set) -> bool, is_empty: bool| match set {
            Some(set) => meets(set),
            None => !is_empty,
        };
        has_children
            || (is_discovery && !self.shape.is_empty(node, ChildKind::Io))
            || if by_nodes {
                let own = object.index.nodeset(object.id());
                let left = own.is_some_and(|own| {
                    let is_empty = own.is_empty();
                    meets(self.restriction.nodes.as_ref(), &|set| own.intersects(set), is_empty)
                });
                left || (kind == ObjectType::PU && !flags.has(RestrictFlags::REMOVE_MEMLESS))
            } else {
                let own = object.index.extent(object.id());
                let left = own.is_some_and(|own| {
                    meets(
                        self.restriction.cpus.as_ref(),
                        &|set| own.intersects(set),
                        own.is_empty(),
                    )
                });
                left || (kind == ObjectType::NUMANode && !flags.has(RestrictFlags::REMOVE_CPULESS))
            }
    }
}

/// Lowest OS index in the complete cpuset of an object that the restriction keeps; `u32::MAX`,
/// which sorts last, if there is none.
fn first_pu(object: Object<'_>, cpus: Option<&Set>) -> u32 {
    let Some(own) = object.index.complete_extent(object.id()) else { return u32::MAX };
    if let (Extent::Pus(index, pus), Some(cpus), None) = (&own, cpus, object.index.overlay) {
        return index.first_os_index(cpus, pus.clone());
    }
    let kept = |index: usize| own.word(index) & cpus.map_or(u64::MAX, |cpus| cpus.word(index));
    let words = (0..own.word_count().max(1)).map(|index| (index, kept(index)));
    let first = words.into_iter().find(|(_, word)| *word != 0);
    first.map_or(u32::MAX, |(index, word)| {
        u32::try_from(index * 64).unwrap_or(u32::MAX).saturating_add(word.trailing_zeros())
    })
}

fn put_together(
    topology: Topology<'_>,
    restriction: &Restriction,
    shape: &Shape,
    levels: &[Vec<u32>],
) -> Overlay {
    let archive = topology.index.archive;
    let base_level_of = |id: &u32| u8::try_from(archive.levels.level_of(*id)).unwrap_or(SEVERAL);
    let normal = levels.len() - ObjectType::SPECIAL.len();
    let first_special = archive.levels.normal.to_native() as usize;
    let base_level = levels.iter().enumerate().map(|(level, ids)| {
        let Some(first) = ids.first() else {
            return u8::try_from(first_special + level - normal).unwrap_or(SEVERAL);
        };
        let base = base_level_of(first);
        if ids.iter().all(|id| base_level_of(id) == base) { base } else { SEVERAL }
    });
    let end = u8::try_from(archive.levels.rows.len() - 1).unwrap_or(SEVERAL);
    let base_level: Vec<u8> = base_level.chain([end]).collect();
    let of_type = |level: &Vec<u32>| {
        level.first().map(|first| Object::new(topology.whole().index, *first).object_type())
    };
    let types: Vec<ObjectType> =
        levels.iter().take(normal).filter_map(of_type).chain(ObjectType::SPECIAL).collect();
    let mut first = vec![0];
    for level in levels {
        let count = u32::try_from(level.len()).unwrap_or(u32::MAX);
        first.push(first.last().copied().unwrap_or(0) + count);
    }
    let mut visible = vec![0u64; archive.tree.len().div_ceil(64)];
    for id in levels.iter().flatten() {
        if let Some(word) = visible.get_mut(*id as usize / 64) {
            *word |= 1 << (id % 64);
        }
    }
    let in_order = is_in_order(topology, shape, levels) && !base_level.contains(&SEVERAL);
    let moved = if in_order { Moved::default() } else { moved(shape, levels) };
    let ends = levels.iter().map(|level| {
        let ends = level.first().zip(level.last()).filter(|_| in_order);
        ends.map(|(first, last)| (*first, *last, u32::try_from(level.len()).unwrap_or(u32::MAX)))
    });
    Overlay {
        levels: Levels::new(&types, &first, &[]),
        base_level,
        contiguous: Overlay::contiguous_levels(ends),
        before: Overlay::count_before(&visible),
        visible,
        cpus: restriction.cpus_of(topology),
        nodes: restriction.nodes_of(topology),
        moved,
    }
}

/// Whether no object has moved: all have the parents and the order that they have in the whole
/// topology.
fn is_in_order(topology: Topology<'_>, shape: &Shape, levels: &[Vec<u32>]) -> bool {
    let visible: Vec<bool> = {
        let mut visible = vec![false; topology.index.archive.tree.len()];
        let ids = levels.iter().flatten();
        ids.filter_map(|id| usize::try_from(*id).ok()).for_each(|id| {
            visible.get_mut(id).into_iter().for_each(|slot| *slot = true);
        });
        visible
    };
    let is_visible = |child: &u32| visible.get(*child as usize).copied().unwrap_or(false);
    let ids = || levels.iter().flatten().copied();
    ids().zip(ids().skip(1)).all(|(one, next)| one < next)
        && ids().all(|id| {
            let children = Object::new(topology.whole().index, id).all_children();
            children.map(Object::id).filter(is_visible).eq(shape.all_children(id))
        })
}

fn moved(shape: &Shape, levels: &[Vec<u32>]) -> Moved {
    let order = || levels.iter().flatten().copied();
    // Ordinals of the visible objects, in the order of their numbers.
    let mut by_number: Vec<(u32, u32)> = order().zip(0..).collect();
    by_number.sort_unstable();
    let mut child_start = vec![0];
    let mut children = Vec::new();
    for id in order() {
        children.extend(shape.all_children(id));
        child_start.push(u32::try_from(children.len()).unwrap_or(u32::MAX));
    }
    Moved {
        order: Moved::pack(order()),
        ordinal: Moved::pack(by_number.into_iter().map(|(_, ordinal)| ordinal)),
        parent: Moved::pack(order().map(|id| shape.parent(id).unwrap_or(0))),
        child_start: Moved::pack(child_start),
        children: Moved::pack(children),
    }
}
