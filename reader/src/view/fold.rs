//! Builds the overlay of a view if all levels are regular and no object moves: folds bits level by
//! level.

use super::restriction::{RestrictFlags, Restriction};
use crate::object::Object;
use crate::topology::Topology;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use topobroker_layout::levels::Levels;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::overlay::Overlay;
use topobroker_layout::set::Set;
use topobroker_layout::type_filter::TypeFilter;

/// The overlay; `None` if objects may move, or if PUs alone do not decide which objects are
/// visible.
#[inline(never)]
pub(super) fn overlay(topology: Topology<'_>, restriction: &Restriction) -> Option<Overlay> {
    let archive = topology.index.archive;
    let levels = &archive.levels;
    let normal = levels.normal.to_native() as usize;
    let adapts = RestrictFlags::ADAPT_IO | RestrictFlags::ADAPT_MISC;
    let is_regular = topology.index.is_plain()
        && (0..normal).all(|level| topology.index.pus_of_level(level) != 0)
        && topology.index.has_complete_cpusets()
        && restriction.flags.bits() & adapts.bits() == 0;
    // Fast path: up to 127 times as fast.
    if !is_regular {
        return None;
    }
    let mut visible = Bits::new(archive.tree.len());
    mark_by_pus(topology, restriction, &mut visible);
    let has_cpuless = mark_by_attached(topology, restriction, &mut visible);
    if may_keep_empty(topology, &visible)
        || (restriction.is_discovery && hides_misc(topology, &visible))
    {
        return None;
    }
    let may_sort = restriction.sorts()
        && (has_cpuless || !topology.index.numbers_pus_in_order())
        && may_sort(topology, restriction, &visible);
    let special = levels.first(normal + 2)..levels.first(levels.rows.len() - 1);
    for id in special.filter(|id| topology.index.is_visible(*id)) {
        if visible.has(topology.index.tree.parent(id)) {
            visible.set(id);
        }
    }
    let before = Overlay::count_before(&visible.0);
    let total: u32 = visible.0.iter().map(|word| word.count_ones()).sum();
    let count = |id: u32| {
        let word = visible.0.get(id as usize / 64).copied().unwrap_or(0);
        let below = (word & ((1 << (id % 64)) - 1)).count_ones();
        before.get(id as usize / 64).map_or(total, |before| before + below)
    };
    let rows = levels.rows.len();
    let first: Vec<u32> = (0..rows).map(|level| count(levels.first(level))).collect();
    if may_sort || may_merge(topology, &first) {
        return None;
    }
    let types: Vec<ObjectType> = (0..normal)
        .filter_map(|level| levels.object_type(level))
        .chain(ObjectType::SPECIAL)
        .collect();
    let ends = (0..rows - 1).map(|level| {
        let ids = levels.first(level)..levels.first(level + 1);
        let count = first.get(level + 1)? - first.get(level)?;
        Some((visible.first_in(&ids)?, visible.last_in(&ids)?, count))
    });
    Some(Overlay {
        contiguous: Overlay::contiguous_levels(ends),
        levels: Levels::new(&types, &first, &[]),
        base_level: (0..rows).filter_map(|level| u8::try_from(level).ok()).collect(),
        before,
        visible: visible.0,
        cpus: restriction.cpus_of(topology),
        nodes: restriction.nodes_of(topology),
        ..Overlay::default()
    })
}

/// A bit for each object, by number.
struct Bits(Vec<u64>);

impl Bits {
    fn new(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    fn has(&self, id: u32) -> bool {
        self.0.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 != 0)
    }

    fn set(&mut self, id: u32) {
        self.or(id as usize / 64, 1 << (id % 64));
    }

    fn or(&mut self, index: usize, bits: u64) {
        if let Some(word) = self.0.get_mut(index) {
            *word |= bits;
        }
    }

    fn first_in(&self, ids: &Range<u32>) -> Option<u32> {
        let mut index = ids.start as usize / 64;
        let mut word = self.0.get(index)? & (u64::MAX << (ids.start % 64));
        while word == 0 {
            index += 1;
            word = *self.0.get(index)?;
        }
        let first = u32::try_from(index * 64).ok()? + word.trailing_zeros();
        (first < ids.end).then_some(first)
    }

    fn last_in(&self, ids: &Range<u32>) -> Option<u32> {
        let last = ids.end.checked_sub(1)?;
        let mut index = last as usize / 64;
        let mut word = self.0.get(index)? & (u64::MAX >> (63 - last % 64));
        while word == 0 {
            index = index.checked_sub(1)?;
            word = *self.0.get(index)?;
        }
        let last = u32::try_from(index * 64).ok()? + 63 - word.leading_zeros();
        (last >= ids.start).then_some(last)
    }

    /// Adds the bits of `words`, beginning at bit `first`.
    fn or_words(&mut self, first: u32, words: &[u64]) {
        let (index, shift) = (first as usize / 64, first % 64);
        for (index, bits) in (index..).zip(words) {
            self.or(index, bits << shift);
            self.or(index + 1, bits.checked_shr(64 - shift).unwrap_or(0));
        }
    }
}

/// Makes the PUs that are kept and all objects above them visible, level by level from the bottom.
fn mark_by_pus(topology: Topology<'_>, restriction: &Restriction, visible: &mut Bits) {
    let ids = topology.index.pu_ids();
    let words = 0..(ids.end - ids.start).div_ceil(64);
    let all = Set::from_words([], true);
    let cpus = restriction.cpus.as_ref().unwrap_or(&all);
    let mut bits: Vec<u64> = words.map(|index| topology.index.logical_word(cpus, index)).collect();
    let levels = &topology.index.archive.levels;
    let mut each = 1;
    for level in (0..levels.normal.to_native() as usize).rev() {
        let pus = topology.index.pus_of_level(level);
        fold(&mut bits, pus / each);
        each = pus;
        visible.or_words(levels.first(level), &bits);
    }
}

/// Replaces every `size` bits by one bit: whether any of them is set.
fn fold(bits: &mut Vec<u64>, size: u32) {
    if size == 1 {
        return;
    }
    let count = (bits.len() * 64).div_ceil(size as usize);
    let mut folded = vec![0u64; count.div_ceil(64)];
    for (index, word) in (0u32..).zip(bits.iter()) {
        let mut rest = *word;
        while rest != 0 {
            let block = (index * 64 + rest.trailing_zeros()) / size;
            if let Some(slot) = folded.get_mut(block as usize / 64) {
                *slot |= 1 << (block % 64);
            }
            rest &= rest - 1;
        }
    }
    *bits = folded;
}

/// Makes the NUMA nodes that are kept and all objects above them visible, and where I/O objects
/// keep what they are attached to, those too. Returns whether an object in the tree of CPUs is
/// visible only because of them.
fn mark_by_attached(topology: Topology<'_>, restriction: &Restriction, visible: &mut Bits) -> bool {
    let mut has_cpuless = false;
    let mut mark = |object: Object<'_>| {
        let mut next = Some(object);
        while let Some(object) = next.filter(|object| !visible.has(object.id())) {
            visible.set(object.id());
            has_cpuless |= object.object_type().is_normal();
            next = object.parent();
        }
    };
    let is_kept = |node: &Object<'_>| {
        let contains = |nodes: &Set| node.os_index().is_some_and(|os| nodes.contains(os));
        restriction.nodes.as_ref().is_none_or(contains)
    };
    topology.numa_nodes().filter(is_kept).for_each(&mut mark);
    if restriction.is_discovery {
        let io = [ObjectType::Bridge, ObjectType::PCIDevice, ObjectType::OSDevice];
        io.into_iter().flat_map(|kind| topology.objects_with_type(kind)).for_each(mark);
    }
    has_cpuless
}

/// Whether a Misc object would go with its parent, where hwloc attaches it higher.
fn hides_misc(topology: Topology<'_>, visible: &Bits) -> bool {
    let mut all = topology.objects_with_type(ObjectType::Misc);
    all.any(|misc| misc.parent().is_some_and(|parent| !visible.has(parent.id())))
}

/// Whether the fold would hide objects that had no PUs in this view even before. hwloc may keep
/// them: it does not look at them if their parent loses nothing. And if it restricts by nodes, it
/// keeps them as long as a node of their nodeset stays, and that node may be attached above them.
fn may_keep_empty(topology: Topology<'_>, visible: &Bits) -> bool {
    let levels = &topology.index.archive.levels;
    let mut normal = 0..levels.first(levels.normal.to_native() as usize);
    let is_gone = |id| topology.index.is_visible(id) && !visible.has(id);
    topology.index.overlay.is_some()
        && normal.any(|id| is_gone(id) && topology.index.visible_pus_of(id).is_empty())
}

/// Whether hwloc may merge two levels: both have the same number of objects, and the type of one is
/// only kept for structure.
fn may_merge(topology: Topology<'_>, first: &[u32]) -> bool {
    let normal = topology.index.archive.levels.normal.to_native() as usize;
    let count = |level: usize| {
        let end = first.get(level + 1).copied().unwrap_or(0);
        end.saturating_sub(first.get(level).copied().unwrap_or(0))
    };
    let for_structure = |level: usize| {
        let kind = topology.index.archive.levels.object_type(level);
        kind.is_some_and(|kind| topology.type_filter(kind) == TypeFilter::Structure)
    };
    (1..normal).any(|level| {
        count(level - 1) == count(level) && (for_structure(level - 1) || for_structure(level))
    })
}

/// Whether hwloc may change the order of children, because their first PUs are no longer in order
/// or because some have no PUs left.
fn may_sort(topology: Topology<'_>, restriction: &Restriction, visible: &Bits) -> bool {
    let levels = &topology.index.archive.levels;
    let cpus = restriction.cpus_left(topology);
    let cpus = cpus.as_ref();
    let in_order = topology.index.numbers_pus_in_order();
    for level in 1..levels.normal.to_native() as usize {
        if topology.index.pus_of_level(level - 1) == topology.index.pus_of_level(level) {
            continue;
        }
        let mut last = (u32::MAX, 0);
        for id in topology.index.base_ids(level).filter(|id| visible.has(*id)) {
            let pus = topology.index.pus_of(id);
            let first = match (cpus, in_order) {
                (Some(cpus), false) => topology.index.first_os_index(cpus, pus),
                (Some(cpus), true) if topology.index.has_some(cpus, pus.clone()) => pus.start,
                (Some(_), true) => u32::MAX,
                (None, _) => pus.start,
            };
            let parent = topology.index.tree.parent(id);
            if last.0 == parent && last.1 >= first {
                return true;
            }
            last = (parent, first);
        }
    }
    false
}
