//! Checks that the objects form one tree in levels, and that every normal object covers a run of
//! PUs.

mod regular;
mod rows;

use crate::archive::{ArchivedTopology, INDEX_LIMIT, MAX_DEPTH};
use crate::error::ValidationError;
use crate::object_type::ObjectType;
use crate::tree::{Four, One, Two, Width};
use crate::validate::levels::Counts;
use crate::validate::rule::{ensure, fail};
use core::ops::Range;
use rows::Rows;

pub(super) fn check(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    indexes(topology, counts)?;
    match topology.tree.width.to_native() {
        1 => Rows::<One>::new(topology, counts)?.check(),
        2 => Rows::<Two>::new(topology, counts)?.check(),
        4 => Rows::<Four>::new(topology, counts)?.check(),
        _ => fail("tree.width", 0, "is 1, 2 or 4"),
    }
}

/// Checks that the tree has a row for each object, and the OS indexes of which sets are made.
pub(super) fn needed(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    indexes(topology, counts)?;
    match topology.tree.width.to_native() {
        1 => Rows::<One>::new(topology, counts).map(drop),
        2 => Rows::<Two>::new(topology, counts).map(drop),
        _ => fail("tree.width", 0, "is 1 or 2"),
    }
}

/// Checks that the OS indexes of PUs and NUMA nodes fit in a set, because cpusets and nodesets are
/// made of them.
fn indexes(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    let os_index = &topology.objects.os_index;
    let limit = u64::from(INDEX_LIMIT) + 2;
    if os_index.is_below(limit) {
        return Ok(());
    }
    let [numa, after, ..] = counts.special;
    let mut in_sets =
        (counts.normal_objects - counts.pus..counts.normal_objects).chain(numa..after);
    let bad = in_sets.find(|id| os_index.get(*id) >= limit);
    let rule = "the index of a PU or a NUMA node is below 131,072";
    bad.map_or(Ok(()), |id| fail("objects.os_index", id, rule))
}

impl<W: Width> Rows<'_, W> {
    /// Checks that each object but the root is in the row of its parent that its rank names. There
    /// are as many rows as such objects, so every row then has one object.
    fn check(&self) -> Result<(), ValidationError> {
        let Counts { objects, pus, normal_objects, .. } = *self.counts;
        let root = self.member(0).map(|number| number as usize);
        ensure(root == [0, 0, 0, pus], "tree.members", 0, "the root covers all PUs")?;
        let memory = self.members.get(normal_objects..).unwrap_or_default();
        let outside = memory.iter().position(|[_, _, first, count]| {
            end_of(W::value(*first), W::value(*count)) > pus as u64
        });
        if let Some(place) = outside {
            return fail("tree.members", normal_objects + place, "covers PUs that there are");
        }
        let ends = [self.child_start.first(), self.child_start.last()];
        let ends = ends.map(|end| end.map(|end| W::value(*end) as usize));
        let all = ends == [Some(0), Some(self.children.len())];
        ensure(all, "tree.child_start", 0, "has all rows")?;

        let last = self.levels.normal.to_native() as usize - 1;
        let mut special = 0;
        for level in 0..last {
            match self.special_of_each(level + 1) {
                // Fast path: up to 6.8 times as fast.
                Some(0) => continue,
                Some(_) => (),
                None => self.normal_children(level + 1)?,
            }
            special += self.child_lists(level..level + 1)?;
        }
        special += self.child_lists(last..self.levels.rows.len() - 1)?;
        let all = special == objects - normal_objects;
        ensure(all, "tree.children", self.children.len(), "has every object once")?;
        self.depths()
    }

    /// Checks the objects of a normal level one by one. Each is on a lower level than its parent
    /// and comes before all special objects in its list, and the PUs of a parent are those of its
    /// normal children, one after the other. If the level is regular, or is that of the PUs, each
    /// object has the expected PUs.
    fn normal_children(&self, level: usize) -> Result<(), ValidationError> {
        let [first, end] = [level, level + 1].map(|level| self.levels.first(level));
        for child in first..end {
            let rule = "is in the list of its parent, behind its siblings and their PUs";
            ensure(self.is_in_its_row(child, first), "tree.members", child as usize, rule)?;
        }
        let each = match self.levels.row(level).map_or(0, |row| row.pus()) {
            0 if self.levels.object_type(level) == Some(ObjectType::PU) => 1,
            0 => return Ok(()),
            each => each,
        };
        let members = self.members.get(first as usize..end as usize).unwrap_or_default();
        let other = members.iter().zip(0..).position(|([_, _, first, count], place)| {
            [W::value(*first), W::value(*count)] != [place * each, each]
        });
        let rule = "covers the PUs that its level says, and a PU itself";
        other.map_or(Ok(()), |place| fail("tree.members", first as usize + place, rule))
    }

    /// Whether a normal object is in the row that its rank names, after normal siblings only. Its
    /// PUs must begin where those of the sibling before it end, or where those of its parent begin.
    /// Those of the last normal sibling must end where those of the parent end.
    fn is_in_its_row(&self, child: u32, first_of_level: u32) -> bool {
        let [parent, rank, pu_first, pu_count] = self.member(child);
        let rows = self.child_rows(parent);
        let row = rows.start.saturating_add(rank);
        if parent >= first_of_level || row >= rows.end || self.child(row) != Some(child) {
            return false;
        }
        let [_, _, first, count] = self.member(parent);
        let begins = match rank {
            0 => Some(first.into()),
            _ => self.child(row - 1).filter(|before| self.is_normal(*before)).map(|before| {
                let [_, _, first, count] = self.member(before);
                end_of(first, count)
            }),
        };
        let next = self.child(row + 1).filter(|next| row + 1 < rows.end && self.is_normal(*next));
        begins == Some(pu_first.into())
            && (next.is_some() || end_of(pu_first, pu_count) == end_of(first, count))
    }

    /// Checks the child lists of the objects of some levels. The lists follow each other. In each
    /// list memory, I/O and Misc objects come in this order after the normal objects, and may be
    /// below this parent. Returns the number of special objects in these lists.
    fn child_lists(&self, levels: Range<usize>) -> Result<usize, ValidationError> {
        let [first, end] = [levels.start, levels.end].map(|level| self.levels.first(level));
        let starts = self.child_start.get(first as usize..=end as usize).unwrap_or_default();
        let pairs = starts.iter().zip(starts.get(1..).unwrap_or_default());
        let ascend = |all, (one, next): (&_, &_)| all & (W::value(*one) <= W::value(*next));
        // There is no early exit, so that the compiler can vectorise the loop.
        let ascend = pairs.fold(true, ascend);
        ensure(ascend, "tree.child_start", first as usize, "ascends")?;
        let rows = self.child_rows(first).start..self.child_rows(end - 1).end;
        let children = self.children.get(rows.start as usize..rows.end as usize);
        let children = children.unwrap_or_default().iter().map(|child| W::value(*child));
        let counts = self.counts;
        let mut found = 0;
        for (row, child) in rows.zip(children) {
            if self.is_normal(child) {
                continue;
            }
            let [parent, rank] = self.place(child);
            let rows = self.child_rows(parent);
            let before = row.checked_sub(1).filter(|before| *before >= rows.start);
            let before = before.and_then(|before| self.child(before));
            let before = before.filter(|before| !self.is_normal(*before));
            let kind = special_kind(child as usize, counts);
            let of_before = before.map(|before| special_kind(before as usize, counts));
            // Whether the object comes after another one of its kind, or is the first of its kind.
            let behind = match before {
                Some(before) if of_before == Some(kind) => {
                    self.place(before) == [parent, rank.wrapping_sub(1)]
                }
                _ => rank == 0 && of_before.is_none_or(|before| before < kind),
            };
            let rule = "is below its parent, behind its siblings, and may be there";
            let there = rows.contains(&row) && (child as usize) < counts.objects && behind;
            let may = may_have(parent as usize, child as usize, counts);
            ensure(there && may, "tree.children", row as usize, rule)?;
            found += 1;
        }
        Ok(found)
    }

    /// Checks that special objects are not nested deeper than a walk may go. Each chain of parents
    /// ends at a normal object, because every special object was checked with [`may_have`] before.
    fn depths(&self) -> Result<(), ValidationError> {
        let normal = self.counts.normal_objects;
        for special in 0..self.counts.objects - normal {
            let above = |special: &usize| {
                let [parent, _] = self.place(u32::try_from(normal + *special).unwrap_or(u32::MAX));
                (parent as usize).checked_sub(normal)
            };
            let nested = core::iter::successors(Some(special), above);
            let depth = nested.take(MAX_DEPTH + 1).count();
            let rule = "at most 128 special objects deep";
            ensure(depth <= MAX_DEPTH, "tree.attached", special, rule)?;
        }
        Ok(())
    }
}

/// The end of a run of PUs.
fn end_of(first: u32, count: u32) -> u64 {
    u64::from(first) + u64::from(count)
}

/// Which list of its parent a special object is in, as the number of the first object that is in
/// such a list.
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

/// Whether the special object `child` may be below `parent`. No object may be above itself, so
/// parents have lower numbers than their children. Memory-side caches are the exception: they have
/// higher numbers than the NUMA nodes below them.
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
