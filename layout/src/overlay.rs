//! The overlay of a view: which objects of a topology it shows, and where those are that have moved.
//!
//! Objects keep the numbers that they have in the topology. Their *places*, from 0 on, are what they
//! would be numbered if the view were a topology of its own.

use crate::build::{AlignedVec, BuildError};
use crate::column::{ArchivedColumn, Column};
use crate::error::{OpenError, ValidationError};
use crate::levels::{ArchivedLevels, Levels};
use crate::object_type::ObjectType;
use crate::set::Set;
use rkyv::{Archive, Serialize};
use std::ops::Range;

/// In [`Overlay::base_level`]: the objects of a level are of several levels of the topology.
pub const SEVERAL: u8 = u8::MAX;

/// A view over a topology.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Overlay {
    pub levels: Levels,
    pub base_level: Vec<u8>,
    pub shown: Vec<u64>,
    pub before: Vec<u32>,
    pub cpus: Kept,
    pub nodes: Kept,
    pub moved: Moved,
}

/// OS indexes that are left in every set.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Kept {
    pub words: Vec<u64>,
    pub infinite: u32,
}

/// Where objects are: all empty where they follow each other as in the topology, under the same
/// parents.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Moved {
    pub order: Column,
    pub place: Column,
    pub parent: Column,
    pub child_start: Column,
    pub children: Column,
}

impl From<&Set> for Kept {
    fn from(set: &Set) -> Self {
        Self { words: set.words().to_vec(), infinite: u32::from(set.is_infinite()) }
    }
}

/// Archives an overlay in memory.
///
/// # Errors
///
/// [`BuildError::Serialize`].
pub fn to_bytes(overlay: &Overlay) -> Result<AlignedVec, BuildError> {
    rkyv::to_bytes::<rkyv::rancor::Error>(overlay)
        .map_err(|error| BuildError::Serialize(error.to_string()))
}

/// Gives access to an archived overlay in place.
///
/// # Errors
///
/// [`OpenError::Archive`] when the bytes are none. Whether it fits a topology, [`validate`] tells.
pub fn access(bytes: &[u8]) -> Result<&ArchivedOverlay, OpenError> {
    rkyv::access::<ArchivedOverlay, rkyv::rancor::Error>(bytes)
        .map_err(|error| OpenError::Archive(error.to_string()))
}

impl PartialEq for ArchivedOverlay {
    fn eq(&self, other: &Self) -> bool {
        let kept = |one: &ArchivedKept, other: &ArchivedKept| one.to_set() == other.to_set();
        let same = |(one, other): (&ArchivedColumn, &ArchivedColumn)| one.iter().eq(other.iter());
        self.shown.as_slice() == other.shown.as_slice()
            && kept(&self.cpus, &other.cpus)
            && kept(&self.nodes, &other.nodes)
            && self.moved.columns().into_iter().zip(other.moved.columns()).all(same)
    }
}

impl ArchivedKept {
    /// The indexes as a set.
    #[must_use]
    pub fn to_set(&self) -> Set {
        let words = self.words.iter().map(|word| word.to_native());
        Set::from_words(words, self.infinite.to_native() != 0)
    }
}

impl Overlay {
    /// Objects that are shown before each word of [`Overlay::shown`].
    #[must_use]
    pub fn count_before(shown: &[u64]) -> Vec<u32> {
        let mut count = 0;
        let before = shown.iter().map(|word| {
            let before = count;
            count += word.count_ones();
            before
        });
        before.collect()
    }
}

impl ArchivedOverlay {
    /// Whether an object is shown.
    #[must_use]
    #[inline]
    pub fn shows(&self, id: u32) -> bool {
        self.word(id as usize / 64) >> (id % 64) & 1 != 0
    }

    /// Number of objects shown whose numbers are below `id`.
    #[must_use]
    #[inline]
    pub fn shown_before(&self, id: u32) -> u32 {
        let index = id as usize / 64;
        let Some(before) = self.before.as_slice().get(index) else { return self.len() };
        before.to_native() + (self.word(index) & ((1 << (id % 64)) - 1)).count_ones()
    }

    /// The first object shown whose number is not below `id`.
    #[must_use]
    #[inline]
    pub fn next_shown(&self, id: u32) -> Option<u32> {
        let mut index = id as usize / 64;
        let mut word = self.word(index) & (u64::MAX << (id % 64));
        while word == 0 {
            index += 1;
            word = self.shown.as_slice().get(index)?.to_native();
        }
        u32::try_from(index * 64).ok().map(|first| first + word.trailing_zeros())
    }

    /// Whether objects with the numbers from `first` on are shown, as bits.
    #[must_use]
    #[inline]
    pub fn shown_from(&self, first: u32) -> u64 {
        let (index, bit) = (first as usize / 64, first % 64);
        let above = self.word(index + 1).checked_shl(64 - bit).unwrap_or(0);
        (self.word(index) >> bit) | above
    }

    /// Number of objects shown.
    #[must_use]
    #[inline]
    pub fn len(&self) -> u32 {
        self.levels.first(self.levels.rows.len().saturating_sub(1))
    }

    /// Whether nothing is shown, which no validated overlay is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether objects are elsewhere than in the topology.
    #[must_use]
    #[inline]
    pub fn has_moved(&self) -> bool {
        !self.moved.order.is_empty()
    }

    /// Place of an object that is shown.
    #[must_use]
    #[inline]
    pub fn place_of(&self, id: u32) -> u32 {
        match self.has_moved() {
            true => self.moved.place.get_u32(self.shown_before(id) as usize),
            false => self.shown_before(id),
        }
    }

    /// The object at a place, `None` past the last.
    #[must_use]
    #[inline]
    pub fn object_at(&self, place: u32) -> Option<u32> {
        if place >= self.len() {
            return None;
        }
        if self.has_moved() {
            return Some(self.moved.order.get_u32(place as usize));
        }
        let before = self.before.as_slice();
        let index = before.partition_point(|count| count.to_native() <= place).checked_sub(1)?;
        let wanted = place - before.get(index)?.to_native();
        u32::try_from(index * 64).ok().map(|first| first + nth_bit(self.word(index), wanted))
    }

    /// Slots of the children of an object, where objects have moved.
    #[must_use]
    #[inline]
    pub fn child_slots(&self, place: u32) -> Range<usize> {
        let start = |place: usize| self.moved.child_start.get_u32(place) as usize;
        start(place as usize)..start(place as usize + 1)
    }

    #[inline]
    fn word(&self, index: usize) -> u64 {
        self.shown.as_slice().get(index).map_or(0, |word| word.to_native())
    }
}

/// Position of the set bit of a word that has `wanted` others below it.
#[inline]
fn nth_bit(word: u64, wanted: u32) -> u32 {
    let mut left = wanted;
    let mut rest = word;
    let mut passed = 0;
    for width in [32, 16, 8] {
        let low = (rest & ((1 << width) - 1)).count_ones();
        if left >= low {
            left -= low;
            rest >>= width;
            passed += width;
        }
    }
    let last = (0..left).fold(rest, |rest, _| rest & rest.wrapping_sub(1));
    passed + last.trailing_zeros()
}

/// Checks an overlay of a topology with the base levels `base`: what passes leads a query nowhere
/// outside the topology.
///
/// # Errors
///
/// [`ValidationError`] with the first column that is not as it must be.
pub fn validate(overlay: &ArchivedOverlay, base: &ArchivedLevels) -> Result<(), ValidationError> {
    let ensure = |holds: bool, column, rule| match holds {
        true => Ok(()),
        false => Err(ValidationError { column, row: 0, rule }),
    };
    let levels = &overlay.levels;
    let rows = levels.rows.as_slice();
    let special = base.rows.len() - base.normal.to_native() as usize;
    let normal = levels.normal.to_native() as usize;
    let objects = base.first(base.rows.len() - 1);
    ensure(
        normal > 0 && rows.len() == normal + special && overlay.base_level.len() == rows.len(),
        "overlay.levels",
        "has its depths, the special types and an end, each with its level of the topology",
    )?;
    let of_type = |row: &crate::levels::ArchivedLevel| {
        ObjectType::from_raw(row.raw_type()).is_some() && row.pus() == 0
    };
    let ascends = rows.windows(2).all(|pair| match pair {
        [one, next] => one.first.to_native() <= next.first.to_native(),
        _ => true,
    });
    ensure(
        ascends && levels.first(0) == 0 && levels.first(1) == 1,
        "overlay.levels.first",
        "ascends from one root",
    )?;
    ensure(
        rows.split_last().is_some_and(|(_, rows)| rows.iter().all(of_type)),
        "overlay.levels.kind",
        "is a type of objects",
    )?;
    let known = |depth: u8| depth == crate::levels::MULTIPLE || usize::from(depth) <= normal;
    ensure(
        levels.depth_of_type.iter().all(|depth| known(*depth)),
        "overlay.levels.depth_of_type",
        "is a depth plus one",
    )?;
    let base_rows = base.rows.len();
    ensure(
        overlay.base_level.iter().all(|level| *level == SEVERAL || usize::from(*level) < base_rows),
        "overlay.base_level",
        "is a level of the topology",
    )?;
    let words = overlay.shown.as_slice();
    let counted = overlay.before.iter().zip(words).try_fold(0u32, |count, (before, word)| {
        (before.to_native() == count).then(|| count + word.to_native().count_ones())
    });
    let last = words.last().map_or(0, |word| 64 - word.to_native().leading_zeros());
    let end = (words.len().saturating_sub(1) * 64) as u64 + u64::from(last);
    ensure(
        counted == Some(overlay.len())
            && overlay.before.len() == words.len()
            && words.len() == (objects as usize).div_ceil(64)
            && end <= u64::from(objects)
            && overlay.shows(0),
        "overlay.shown",
        "shows the root and as many objects as its levels say, and counts them before each word",
    )?;
    let most = crate::archive::MAX_SET_WORDS;
    ensure(
        overlay.cpus.words.len() <= most && overlay.nodes.words.len() <= most,
        "overlay.cpus",
        "has no more words than a set may have",
    )?;
    match overlay.has_moved() {
        true => validate_moved(overlay),
        false => validate_in_order(overlay, base),
    }
}

/// Where nothing moved, a level shows objects of one level of the topology.
fn validate_in_order(
    overlay: &ArchivedOverlay,
    base: &ArchivedLevels,
) -> Result<(), ValidationError> {
    let levels = &overlay.levels;
    let broken = |row, rule| ValidationError { column: "overlay.base_level", row, rule };
    let mut last = None;
    for level in 0..levels.rows.len() - 1 {
        let of = overlay.base_level.get(level).map_or(0, |level| usize::from(*level));
        let fits = base.row(of).is_some_and(|row| {
            of + 1 < base.rows.len()
                && row.raw_type() == levels.row(level).map_or(0, |row| row.raw_type())
        });
        if !fits || last.is_some_and(|last| of <= last) {
            return Err(broken(level, "is a level of the same type, below the one before"));
        }
        let (first, end) = (base.first(of), base.first(of + 1));
        let places = levels.first(level)..levels.first(level + 1);
        if overlay.shown_before(first) != places.start || overlay.shown_before(end) != places.end {
            return Err(broken(level, "shows as many objects as the level of the view has"));
        }
        last = Some(of);
    }
    Ok(())
}

fn validate_moved(overlay: &ArchivedOverlay) -> Result<(), ValidationError> {
    let moved = &overlay.moved;
    let count = overlay.len() as usize;
    let ensure = |holds: bool, column, row, rule| match holds {
        true => Ok(()),
        false => Err(ValidationError { column, row, rule }),
    };
    ensure(
        moved.order.len() == count
            && moved.place.len() == count
            && moved.parent.len() == count
            && moved.child_start.len() == count + 1
            && moved.children.len() + 1 == count,
        "overlay.moved",
        0,
        "has a row for each object that is shown",
    )?;
    // The place of what is shown, of anything else none.
    let place_of = |id: u64| {
        let id = u32::try_from(id).ok().filter(|id| overlay.shows(*id))?;
        usize::try_from(overlay.place_of(id)).ok()
    };
    for place in 0..count {
        ensure(
            place_of(moved.order.get(place)) == Some(place),
            "overlay.moved.order",
            place,
            "is an object that is shown, and that is at this place",
        )?;
    }
    // Each child is in one list, that of its parent, and parents lead to the root.
    let mut next = 0;
    for place in 0..count {
        let (start, end) = (moved.child_start.get(place), moved.child_start.get(place + 1));
        ensure(
            start == next && start <= end && end < count as u64,
            "overlay.moved.child_start",
            place,
            "is the slot behind those of the object before",
        )?;
        for slot in overlay.child_slots(u32::try_from(place).unwrap_or(u32::MAX)) {
            let child = moved.children.get(slot);
            let parent = place_of(child).map(|place| moved.parent.get(place));
            ensure(
                parent == Some(moved.order.get(place)) && child != 0,
                "overlay.moved.children",
                slot,
                "is an object whose parent this is",
            )?;
        }
        next = end;
    }
    for place in 1..count {
        let mut above = place;
        let mut steps = 0;
        while above != 0 && steps <= 2 * crate::archive::MAX_DEPTH {
            let parent = place_of(moved.parent.get(above));
            let rule = "is an object that is shown";
            let broken = ValidationError { column: "overlay.moved.parent", row: above, rule };
            above = parent.ok_or(broken)?;
            steps += 1;
        }
        ensure(above == 0, "overlay.moved.parent", place, "leads to the root")?;
    }
    Ok(())
}

impl Moved {
    /// Packs numbers of objects.
    #[must_use]
    pub fn pack(values: impl IntoIterator<Item = u32>) -> Column {
        let values: Vec<u64> = values.into_iter().map(u64::from).collect();
        Column::pack(&values)
    }
}

impl ArchivedMoved {
    /// What says where objects are; the other columns follow from these.
    fn columns(&self) -> [&ArchivedColumn; 3] {
        [&self.order, &self.parent, &self.children]
    }

    /// The object above the one at a place.
    #[must_use]
    #[inline]
    pub fn parent_of(&self, place: u32) -> u32 {
        let parents: &ArchivedColumn = &self.parent;
        parents.get_u32(place as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_is_found_by_the_number_of_those_below_it() {
        for word in [1u64, u64::MAX, 0x8000_0000_0000_0000, 0xf0f0_1234_0000_8001, 0b1010_1100] {
            let bits = (0..64).filter(|bit| word >> bit & 1 != 0);
            for (nth, bit) in (0..).zip(bits) {
                assert_eq!(nth_bit(word, nth), bit, "{word:#x}");
            }
        }
    }
}
