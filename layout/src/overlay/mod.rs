//! The overlay of a view: which objects of a topology are visible, and the order and parents of
//! moved ones.
//!
//! Objects keep their numbers in the topology. The *ordinal* of a visible object is the number that
//! it would have if the view were a topology of its own.

mod validate;

pub use validate::validate;

use crate::column::{ArchivedColumn, Column};
use crate::encode::{AlignedVec, EncodeError};
use crate::error::OpenError;
use crate::levels::{ArchivedLevel, Levels};
use crate::object_type::ObjectType;
use crate::set::Set;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::ops::Range;
use rkyv::api::high::to_bytes_in_with_alloc;
use rkyv::ser::allocator::SubAllocator;
use rkyv::{Archive, Serialize};

/// In [`Overlay::base_level`]: the objects of this level come from several levels of the topology.
pub const SEVERAL: u8 = u8::MAX;

/// hwloc's number of the type PU.
const PU: usize = ObjectType::PU.raw() as usize;

/// In [`Overlay::contiguous`]: the numbers of the visible objects of this level are not contiguous.
pub const NOT_CONTIGUOUS: u32 = u32::MAX;

/// An overlay over a topology.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Overlay {
    pub levels: Levels,
    pub base_level: Vec<u8>,
    pub contiguous: Vec<u32>,
    pub visible: Vec<u64>,
    pub before: Vec<u32>,
    pub cpus: VisibleSet,
    pub nodes: VisibleSet,
    pub moved: Moved,
}

/// OS indexes of the visible PUs or NUMA nodes. In a view every set of the topology has only these.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct VisibleSet {
    pub words: Vec<u64>,
    pub infinite: u32,
}

/// The order and the parents of objects. All columns are empty if nothing has moved: then objects
/// have the order and the parents that they have in the topology.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Moved {
    pub order: Column,
    pub ordinal: Column,
    pub parent: Column,
    pub child_start: Column,
    pub children: Column,
}

impl From<&Set> for VisibleSet {
    fn from(set: &Set) -> Self {
        Self { words: set.words().to_vec(), infinite: u32::from(set.is_infinite()) }
    }
}

/// Archives an overlay in memory.
///
/// # Errors
///
/// [`EncodeError::Serialize`].
pub fn to_bytes(overlay: &Overlay) -> Result<AlignedVec, EncodeError> {
    // Every process that makes a view runs this, so memory is allocated once and rkyv's arena is
    // not used. A small buffer is enough for rkyv because the arrays of an overlay have only
    // numbers, which need no scratch memory.
    let words = overlay.visible.len() + overlay.cpus.words.len() + overlay.nodes.words.len();
    let halves = overlay.contiguous.len() + overlay.before.len();
    let levels = size_of::<ArchivedLevel>() * overlay.levels.rows.len() + overlay.base_level.len();
    // Room for the gaps between the parts, because each part is aligned.
    let gaps = 32;
    let room = size_of::<ArchivedOverlay>() + levels + 8 * words + 4 * halves + gaps;
    let mut scratch = [const { MaybeUninit::uninit() }; 256];
    to_bytes_in_with_alloc::<_, _, rkyv::rancor::Error>(
        overlay,
        AlignedVec::with_capacity(room),
        SubAllocator::new(&mut scratch),
    )
    .map_err(|error| EncodeError::Serialize(error.into()))
}

/// Gives access to an archived overlay in place. [`self::validate`] checks whether it fits a
/// topology.
///
/// # Errors
///
/// [`OpenError::Archive`] if the bytes are not an archived overlay.
pub fn access(bytes: &[u8]) -> Result<&ArchivedOverlay, OpenError> {
    rkyv::access::<ArchivedOverlay, rkyv::rancor::Error>(bytes)
        .map_err(|error: rkyv::rancor::Error| OpenError::Archive(error.into()))
}

impl PartialEq for ArchivedOverlay {
    fn eq(&self, other: &Self) -> bool {
        let kept =
            |one: &ArchivedVisibleSet, other: &ArchivedVisibleSet| one.to_set() == other.to_set();
        let same = |(one, other): (&ArchivedColumn, &ArchivedColumn)| one.iter().eq(other.iter());
        self.visible.as_slice() == other.visible.as_slice()
            && kept(&self.cpus, &other.cpus)
            && kept(&self.nodes, &other.nodes)
            && self.moved.columns().into_iter().zip(other.moved.columns()).all(same)
    }
}

impl ArchivedVisibleSet {
    /// Whether an index is visible.
    pub(crate) fn has(&self, index: u64) -> bool {
        let word =
            usize::try_from(index / 64).ok().and_then(|word| self.words.as_slice().get(word));
        word.map_or(self.infinite.to_native() != 0, |word| {
            word.to_native() >> (index % 64) & 1 != 0
        })
    }

    /// The indexes as a set.
    #[must_use]
    pub fn to_set(&self) -> Set {
        let words = self.words.iter().map(|word| word.to_native());
        Set::from_words(words, self.infinite.to_native() != 0)
    }
}

impl Overlay {
    /// Makes [`Overlay::contiguous`]: for each level the number of its first object if the numbers
    /// of its objects are contiguous, otherwise [`NOT_CONTIGUOUS`]. `levels` has the first object,
    /// the last object and the number of objects of each level, `None` for an empty one. No object
    /// may have moved.
    pub fn contiguous_levels(levels: impl Iterator<Item = Option<(u32, u32, u32)>>) -> Vec<u32> {
        let contiguous = levels.map(|level| match level {
            Some((first, last, count)) if last - first + 1 == count => first,
            _ => NOT_CONTIGUOUS,
        });
        contiguous.collect()
    }

    /// Makes [`Overlay::before`]: the number of visible objects before each word of
    /// [`Overlay::visible`].
    #[must_use]
    pub fn count_before(visible: &[u64]) -> Vec<u32> {
        let mut count = 0;
        let before = visible.iter().map(|word| {
            let before = count;
            count += word.count_ones();
            before
        });
        before.collect()
    }
}

impl ArchivedOverlay {
    /// Whether an object is visible.
    #[must_use]
    #[inline]
    pub fn is_visible(&self, id: u32) -> bool {
        self.word(id as usize / 64) >> (id % 64) & 1 != 0
    }

    /// Number of visible objects whose numbers are below `id`.
    #[must_use]
    #[inline]
    pub fn visible_before(&self, id: u32) -> u32 {
        let index = id as usize / 64;
        let Some(before) = self.before.as_slice().get(index) else { return self.len() };
        before.to_native() + (self.word(index) & ((1 << (id % 64)) - 1)).count_ones()
    }

    /// The first visible object whose number is not below `id`.
    #[must_use]
    #[inline]
    pub fn next_visible(&self, id: u32) -> Option<u32> {
        let mut index = id as usize / 64;
        let mut word = self.word(index) & (u64::MAX << (id % 64));
        while word == 0 {
            index += 1;
            word = self.visible.as_slice().get(index)?.to_native();
        }
        u32::try_from(index * 64).ok().map(|first| first + word.trailing_zeros())
    }

    /// Whether the objects `first` to `first + 63` are visible, as bits.
    #[must_use]
    #[inline]
    pub fn visible_from(&self, first: u32) -> u64 {
        let (index, bit) = (first as usize / 64, first % 64);
        let above = self.word(index + 1).checked_shl(64 - bit).unwrap_or(0);
        (self.word(index) >> bit) | above
    }

    /// Number of visible objects.
    #[must_use]
    #[inline]
    pub fn len(&self) -> u32 {
        self.levels.first(self.levels.rows.len().saturating_sub(1))
    }

    /// Whether no object is visible. It is false for every validated overlay.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether objects have another order or other parents than in the topology.
    #[must_use]
    #[inline]
    pub fn has_moved(&self) -> bool {
        !self.moved.order.is_empty()
    }

    /// Ordinal of a visible object.
    #[must_use]
    #[inline]
    pub fn ordinal_of(&self, id: u32) -> u32 {
        match self.has_moved() {
            true => self.moved.ordinal.get_u32(self.visible_before(id) as usize),
            false => self.visible_before(id),
        }
    }

    /// Number of the first object of a level, if the numbers of its objects are contiguous.
    #[must_use]
    #[inline]
    pub fn first_of_contiguous(&self, level: usize) -> Option<u32> {
        let first = self.contiguous.as_slice().get(level)?.to_native();
        (first != NOT_CONTIGUOUS).then_some(first)
    }

    /// Numbers of the visible PUs, if they are contiguous.
    #[must_use]
    #[inline]
    pub fn contiguous_pus(&self) -> Option<Range<u32>> {
        let of_type = &self.levels.depth_of_type;
        let plus_one = usize::from(of_type.get(PU).copied().unwrap_or(0));
        let level = plus_one.checked_sub(1)?;
        let count = self.levels.first(plus_one) - self.levels.first(level);
        self.first_of_contiguous(level).map(|first| first..first + count)
    }

    /// The object with an ordinal, `None` past the last.
    #[must_use]
    #[inline]
    pub fn object_at(&self, ordinal: u32) -> Option<u32> {
        if ordinal >= self.len() {
            return None;
        }
        if self.has_moved() {
            return Some(self.moved.order.get_u32(ordinal as usize));
        }
        let before = self.before.as_slice();
        let index = before.partition_point(|count| count.to_native() <= ordinal).checked_sub(1)?;
        let wanted = ordinal - before.get(index)?.to_native();
        u32::try_from(index * 64).ok().map(|first| first + nth_bit(self.word(index), wanted))
    }

    /// Rows of the children of the object with an ordinal, in [`Moved::children`]. Only meaningful
    /// if objects have moved.
    #[must_use]
    #[inline]
    pub fn child_rows(&self, ordinal: u32) -> Range<u32> {
        let start = |ordinal: usize| self.moved.child_start.get_u32(ordinal);
        start(ordinal as usize)..start(ordinal as usize + 1)
    }

    #[inline]
    fn word(&self, index: usize) -> u64 {
        self.visible.as_slice().get(index).map_or(0, |word| word.to_native())
    }
}

/// Position of the set bit of `word` that has `wanted` set bits below it.
#[inline]
fn nth_bit(word: u64, wanted: u32) -> u32 {
    (0..wanted).fold(word, |rest, _| rest & rest.wrapping_sub(1)).trailing_zeros()
}

impl Moved {
    /// Packs numbers into a column of [`Moved`].
    #[must_use]
    pub fn pack(values: impl IntoIterator<Item = u32>) -> Column {
        let values: Vec<u64> = values.into_iter().map(u64::from).collect();
        Column::pack(&values)
    }
}

impl ArchivedMoved {
    /// The columns from which the other two follow.
    fn columns(&self) -> [&ArchivedColumn; 3] {
        [&self.order, &self.parent, &self.children]
    }

    /// Number of the parent of the object with an ordinal.
    #[must_use]
    #[inline]
    pub fn parent_of(&self, ordinal: u32) -> u32 {
        let parents: &ArchivedColumn = &self.parent;
        parents.get_u32(ordinal as usize)
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
