//! The objects form one tree in levels, and every normal object covers a run of PUs.

use super::{Counts, bounded, ensure, fail, sound};
use crate::archive::{ArchivedTopology, MAX_DEPTH, MAX_SET_WORDS};
use crate::error::ValidationError;
use crate::levels::ArchivedLevels;
use crate::tree::{Four, One, Two, Width};
use std::marker::PhantomData;

pub(super) fn check(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    let objects = &topology.objects;
    let count = counts.objects;
    let normal = counts.normal_objects;
    let [_, _, with_sets, ..] = counts.special;
    bounded(&objects.os_index, "objects.os_index", count, (1 << 32) + 2)?;
    pu_indexes(topology, counts)?;
    sound(&objects.gp_index, "objects.gp_index", count)?;
    bounded(&objects.sets, "objects.sets", with_sets, topology.sets.cpuset.len() as u64 + 1)?;
    bounded(&objects.symmetric, "objects.symmetric", normal, 2)?;
    let first_pu = topology.levels.first(counts.pu_level) as usize;
    match topology.tree.width.to_native() {
        1 => Rows::<One>::new(topology, counts)?.check(counts, first_pu),
        2 => Rows::<Two>::new(topology, counts)?.check(counts, first_pu),
        4 => Rows::<Four>::new(topology, counts)?.check(counts, first_pu),
        _ => fail("tree.width", 0, "is 1, 2 or 4"),
    }
}

/// OS indexes of PUs fit in a set: cpusets are made of them.
fn pu_indexes(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    let os_index = &topology.objects.os_index;
    let limit = MAX_SET_WORDS as u64 * 64 + 2;
    if os_index.max() < limit {
        return Ok(());
    }
    let first = topology.levels.first(counts.pu_level) as usize;
    let mut pus = first..first + counts.pus;
    let bad = pus.find(|pu| os_index.get(*pu) >= limit);
    bad.map_or(Ok(()), |pu| fail("objects.os_index", pu, "the index of a PU is below 131,072"))
}

/// The tree in the width that it has.
struct Rows<'a, W> {
    members: &'a [u8],
    attached: &'a [u8],
    child_start: &'a [u8],
    children: &'a [u8],
    levels: &'a ArchivedLevels,
    width: PhantomData<W>,
}

impl<'a, W: Width> Rows<'a, W> {
    /// The rows, if there are as many as there must be.
    fn new(topology: &'a ArchivedTopology, counts: &Counts) -> Result<Self, ValidationError> {
        let tree = &topology.tree;
        let column = |bytes: &'a [u8], name, numbers: usize| {
            let rule = "has a row for each of its objects";
            ensure(bytes.len() == numbers * W::BYTES, name, bytes.len(), rule)?;
            Ok(bytes)
        };
        let (objects, with_pus) = (counts.objects, counts.with_pus());
        let ends = tree.with_pus.to_native() as usize == with_pus;
        ensure(ends, "tree.with_pus", 0, "ends the normal and memory objects")?;
        Ok(Self {
            members: column(&tree.members, "tree.members", with_pus * 4)?,
            attached: column(&tree.attached, "tree.attached", (objects - with_pus) * 2)?,
            child_start: column(&tree.child_start, "tree.child_start", objects + 1)?,
            children: column(&tree.children, "tree.children", objects - 1)?,
            levels: &topology.levels,
            width: PhantomData,
        })
    }

    /// Parent, rank, first PU and number of PUs of a normal or memory object.
    #[inline]
    fn member(&self, id: usize) -> [usize; 4] {
        W::row::<4>(self.members, id).unwrap_or_default().map(|number| number as usize)
    }

    /// Parent and rank of any object.
    #[inline]
    fn place(&self, id: usize, with_pus: usize) -> [usize; 2] {
        let row = match id.checked_sub(with_pus) {
            Some(other) => W::row::<2>(self.attached, other).unwrap_or_default(),
            None => {
                let [parent, rank, ..] = W::row::<4>(self.members, id).unwrap_or_default();
                [parent, rank]
            }
        };
        row.map(|number| number as usize)
    }

    fn check(&self, counts: &Counts, first_pu: usize) -> Result<(), ValidationError> {
        let root = [0, 0, 0, counts.pus];
        ensure(self.member(0) == root, "tree.members", 0, "the root covers all PUs")?;
        ensure(W::get(self.child_start, 0) == 0, "tree.child_start", 0, "starts at 0")?;
        for pu in 0..counts.pus {
            let [_, _, first, count] = self.member(first_pu + pu);
            let itself = (first, count) == (pu, 1);
            ensure(itself, "tree.members", first_pu + pu, "a PU covers itself")?;
        }
        for id in counts.normal_objects..counts.with_pus() {
            let [_, _, first, count] = self.member(id);
            ensure(first + count <= counts.pus, "tree.members", id, "covers PUs that there are")?;
        }
        self.families(counts)?;
        self.depths(counts)
    }

    /// Child lists and parents tell the same, each list has its kinds in order, and the PUs of a
    /// normal object are those of its children one after the other.
    ///
    /// There are as many slots as objects below the root, and no object is in two of them (it
    /// knows its parent and its rank there), so every object is in one.
    fn families(&self, counts: &Counts) -> Result<(), ValidationError> {
        let normal = counts.normal_objects;
        let mut slot = 0;
        // The level behind that of the parent: normal children are there or lower.
        let (mut level, mut lower) = (0, 0);
        for parent in 0..counts.objects {
            while parent >= lower && parent < normal {
                level += 1;
                lower = self.levels.first(level) as usize;
            }
            let end = W::get(self.child_start, parent + 1) as usize;
            let ascends = slot <= end && end < counts.objects;
            ensure(ascends, "tree.child_start", parent + 1, "ascends and ends in the slots")?;
            let [_, _, first_pu, pu_count] = self.member(parent);
            let (first, mut next_pu) = (slot, first_pu);
            while slot < end {
                let child = W::get(self.children, slot) as usize;
                if child >= normal {
                    break;
                }
                let [above, rank, pu, pus] = self.member(child);
                let fits = above == parent && rank == slot - first && pu == next_pu;
                let rule = "is on a lower level, behind its siblings and their PUs";
                ensure(fits && lower <= child, "tree.children", slot, rule)?;
                next_pu += pus;
                slot += 1;
            }
            let whole = slot == first || next_pu - first_pu == pu_count;
            ensure(whole, "tree.members", parent, "covers the PUs of its children")?;
            let (mut kind, mut rank) = (0, 0);
            while slot < end {
                let child = W::get(self.children, slot) as usize;
                let of = special_kind(child, counts);
                let in_order = (normal..counts.objects).contains(&child) && of >= kind;
                ensure(in_order, "tree.children", slot, "exists, and kinds are in order")?;
                if of != kind {
                    (kind, rank) = (of, 0);
                }
                let knows = self.place(child, counts.with_pus()) == [parent, rank];
                let rule = "is below its parent, behind its siblings, and may be there";
                ensure(knows && may_have(parent, child, counts), "tree.children", slot, rule)?;
                rank += 1;
                slot += 1;
            }
        }
        ensure(slot == counts.objects - 1, "tree.child_start", counts.objects, "ends the slots")
    }

    /// Special objects are not nested deeper than a walk may go. Parents lead to the tree of CPUs:
    /// that families are in order was checked before.
    fn depths(&self, counts: &Counts) -> Result<(), ValidationError> {
        for special in 0..counts.objects - counts.normal_objects {
            let above = |special: &usize| {
                let id = counts.normal_objects + *special;
                let [parent, _] = self.place(id, counts.with_pus());
                parent.checked_sub(counts.normal_objects)
            };
            let nested = std::iter::successors(Some(special), above);
            let depth = nested.take(MAX_DEPTH + 1).count();
            let rule = "at most 128 special objects deep";
            ensure(depth <= MAX_DEPTH, "tree.attached", special, rule)?;
        }
        Ok(())
    }
}

/// Which list of its parent a special object is in, by the number of the first such object.
fn special_kind(child: usize, counts: &Counts) -> usize {
    let [memory, _, io, _, _, misc, _] = counts.special;
    if child < io {
        memory
    } else if child < misc {
        io
    } else {
        misc
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
