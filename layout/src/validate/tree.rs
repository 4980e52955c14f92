//! The objects form one tree in levels, and every normal object covers a run of PUs.

use super::{Counts, ascending, bounded, ensure, fail, sound};
use crate::archive::{ArchivedTopology, MAX_DEPTH, MAX_SET_WORDS};
use crate::error::ValidationError;
use crate::tree::{ArchivedTree, Four, One, Two, Width};
use std::marker::PhantomData;
use std::ops::Range;

pub(super) fn check(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    let objects = &topology.objects;
    let count = counts.objects;
    let normal = counts.normal_objects;
    let [_, _, with_sets, ..] = counts.special;
    let levels = u64::from(topology.levels.normal.to_native());
    bounded(&objects.level, "objects.level", normal, levels)?;
    bounded(&objects.os_index, "objects.os_index", count, (1 << 32) + 2)?;
    pu_indexes(topology, counts)?;
    sound(&objects.gp_index, "objects.gp_index", count)?;
    bounded(&objects.sets, "objects.sets", with_sets, topology.sets.cpuset.len() as u64 + 1)?;
    bounded(&objects.symmetric, "objects.symmetric", normal, 2)?;
    level_of_each(topology)?;
    let first_pu = topology.levels.first.get_u32(counts.pu_level) as usize;
    match topology.tree.width.to_native() {
        1 => Columns::<One>::new(&topology.tree, counts)?.check(counts, first_pu),
        2 => Columns::<Two>::new(&topology.tree, counts)?.check(counts, first_pu),
        4 => Columns::<Four>::new(&topology.tree, counts)?.check(counts, first_pu),
        _ => fail("tree.width", 0, "is 1, 2 or 4"),
    }
}

fn level_of_each(topology: &ArchivedTopology) -> Result<(), ValidationError> {
    let (levels, objects) = (&topology.levels, &topology.objects);
    ascending(&objects.level, "objects.level")?;
    for level in 0..levels.normal.to_native() as usize {
        let (first, end) = (levels.first.get_u32(level), levels.first.get_u32(level + 1));
        let at = |id: u32| objects.level.get(id as usize) == level as u64;
        let holds = at(first) && at(end - 1);
        ensure(holds, "objects.level", first as usize, "agrees with levels.first")?;
    }
    Ok(())
}

/// OS indexes of PUs fit in a set: cpusets are made of them.
fn pu_indexes(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    let os_index = &topology.objects.os_index;
    let limit = MAX_SET_WORDS as u64 * 64 + 2;
    if os_index.max() < limit {
        return Ok(());
    }
    let first = topology.levels.first.get_u32(counts.pu_level) as usize;
    let mut pus = first..first + counts.pus;
    let bad = pus.find(|pu| os_index.get(*pu) >= limit);
    bad.map_or(Ok(()), |pu| fail("objects.os_index", pu, "the index of a PU is below 131,072"))
}

/// The columns of the tree, in the width that they have.
struct Columns<'a, W> {
    parent: &'a [u8],
    child_start: &'a [u8],
    children: &'a [u8],
    sibling_rank: &'a [u8],
    pu_first: &'a [u8],
    pu_count: &'a [u8],
    width: PhantomData<W>,
}

impl<'a, W: Width> Columns<'a, W> {
    /// The columns, if each is as long as it must be.
    fn new(tree: &'a ArchivedTree, counts: &Counts) -> Result<Self, ValidationError> {
        let column = |bytes: &'a [u8], name, count: usize| {
            let rule = "has a value for each row of its table";
            ensure(bytes.len() == count * W::BYTES, name, bytes.len(), rule)?;
            Ok(bytes)
        };
        let (objects, normal) = (counts.objects, counts.normal_objects);
        Ok(Self {
            parent: column(&tree.parent, "tree.parent", objects)?,
            child_start: column(&tree.child_start, "tree.child_start", objects + 1)?,
            children: column(&tree.children, "tree.children", objects - 1)?,
            sibling_rank: column(&tree.sibling_rank, "tree.sibling_rank", objects)?,
            pu_first: column(&tree.pu_first, "tree.pu_first", normal)?,
            pu_count: column(&tree.pu_count, "tree.pu_count", normal)?,
            width: PhantomData,
        })
    }

    #[inline]
    fn at(column: &[u8], index: usize) -> usize {
        W::get(column, index) as usize
    }

    fn check(&self, counts: &Counts, first_pu: usize) -> Result<(), ValidationError> {
        ensure(Self::at(self.parent, 0) == 0, "tree.parent", 0, "the root is its own parent")?;
        ensure(Self::at(self.child_start, 0) == 0, "tree.child_start", 0, "starts at 0")?;
        let run = |id| (Self::at(self.pu_first, id), Self::at(self.pu_count, id));
        ensure(run(0) == (0, counts.pus), "tree.pu_first", 0, "the root covers all PUs")?;
        for pu in 0..counts.pus {
            let itself = run(first_pu + pu) == (pu, 1);
            ensure(itself, "tree.pu_first", first_pu + pu, "a PU covers itself")?;
        }
        self.families(counts)?;
        self.depths(counts)
    }

    /// Special objects are not nested deeper than a walk may go. Parents lead to the tree of CPUs:
    /// that families are in order was checked before.
    fn depths(&self, counts: &Counts) -> Result<(), ValidationError> {
        for id in counts.normal_objects..counts.objects {
            let above = |id: &usize| Some(Self::at(self.parent, *id));
            let special = |id: &usize| *id >= counts.normal_objects;
            let nested = std::iter::successors(Some(id), above).take_while(special);
            let depth = nested.take(MAX_DEPTH + 1).count();
            ensure(depth <= MAX_DEPTH, "tree.parent", id, "at most 128 special objects deep")?;
        }
        Ok(())
    }

    /// Child lists and parents tell the same, each list has its kinds in order, and the PUs of a
    /// normal object are those of its children one after the other.
    ///
    /// There are as many slots as objects below the root, and no object is in two of them (it
    /// knows its parent and its rank there), so every object is in one.
    fn families(&self, counts: &Counts) -> Result<(), ValidationError> {
        let [numa, _, bridge, _, _, misc, _] = counts.special;
        let mut slot = 0;
        for parent in 0..counts.objects {
            let end = Self::at(self.child_start, parent + 1);
            let ascends = slot <= end && end < counts.objects;
            ensure(ascends, "tree.child_start", parent + 1, "ascends and ends in the slots")?;
            // Most are normal, and of the same kind.
            slot = self.normal_children(parent, slot..end, numa)?;
            let (mut kind, mut rank) = (numa, 0);
            while slot < end {
                let child = Self::at(self.children, slot);
                let of = if child < bridge {
                    numa
                } else if child < misc {
                    bridge
                } else {
                    misc
                };
                let in_order = child >= numa && child < counts.objects && of >= kind;
                ensure(in_order, "tree.children", slot, "exists, and kinds are in order")?;
                if of != kind {
                    (kind, rank) = (of, 0);
                }
                let fits = may_have(parent, child, counts);
                ensure(
                    fits,
                    "tree.parent",
                    child,
                    "is above its child and may have such children",
                )?;
                self.mutual(parent, child, rank, slot)?;
                rank += 1;
                slot += 1;
            }
        }
        ensure(slot == counts.objects - 1, "tree.child_start", counts.objects, "ends the slots")
    }

    /// Checks the children in the tree of CPUs, which come first; returns the slot behind them.
    #[inline]
    fn normal_children(
        &self,
        parent: usize,
        slots: Range<usize>,
        normal: usize,
    ) -> Result<usize, ValidationError> {
        let first = slots.start;
        let mut next_pu = Self::at(self.pu_first, parent);
        let last_pu = next_pu + Self::at(self.pu_count, parent);
        for slot in slots.clone() {
            let child = Self::at(self.children, slot);
            if child >= normal {
                let whole = slot == first || next_pu == last_pu;
                ensure(whole, "tree.pu_count", parent, "is the sum of its children")?;
                return Ok(slot);
            }
            let run = Self::at(self.pu_first, child) == next_pu && parent < child;
            ensure(run, "tree.pu_first", child, "is below its parent, behind its siblings")?;
            next_pu += Self::at(self.pu_count, child);
            self.mutual(parent, child, slot - first, slot)?;
        }
        let whole = slots.is_empty() || next_pu == last_pu;
        ensure(whole, "tree.pu_count", parent, "is the sum of its children")?;
        Ok(slots.end)
    }

    #[inline]
    fn mutual(
        &self,
        parent: usize,
        child: usize,
        rank: usize,
        slot: usize,
    ) -> Result<(), ValidationError> {
        let knows = child != 0
            && Self::at(self.parent, child) == parent
            && Self::at(self.sibling_rank, child) == rank;
        ensure(knows, "tree.children", slot, "child knows its parent and rank")
    }
}

/// Whether a special object may be below another, so that nothing is above itself: parents come
/// first in the numbering, save memory-side caches, which come behind NUMA nodes.
fn may_have(parent: usize, child: usize, counts: &Counts) -> bool {
    let [numa, mem_cache, bridge, _, _, misc, _] = counts.special;
    let normal = parent < numa;
    if child < bridge {
        let cache = (mem_cache..bridge).contains(&parent);
        normal || (cache && (child < mem_cache || parent < child))
    } else if child < misc {
        normal || (bridge..child).contains(&parent)
    } else {
        parent < child
    }
}
