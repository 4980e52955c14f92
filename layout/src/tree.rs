//! The tree as every walk reads it, all in integers of one width so that a walk decides once.

use rkyv::{Archive, Serialize};
use std::ops::Range;

/// Parents, children and PUs of objects: little-endian integers of 1, 2 or 4 bytes, as narrow as
/// the number of objects allows, in rows that are read as a whole.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Tree {
    pub objects: u32,
    pub with_pus: u32,
    pub width: u32,
    pub members: Vec<u8>,
    pub attached: Vec<u8>,
    pub child_start: Vec<u8>,
    pub children: Vec<u8>,
}

/// What is stored of a normal or memory object. Of an I/O or Misc object there are only parent and
/// rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Member {
    /// Number of the parent; the root is its own.
    pub parent: u32,
    /// Place among the children of the parent that are in the same list.
    pub sibling_rank: u32,
    /// First PU below.
    pub pu_first: u32,
    /// Number of PUs below.
    pub pu_count: u32,
}

impl Tree {
    /// An empty tree for `objects` objects, of which the first have PUs: its numbers take as few bytes
    /// as that needs.
    #[must_use]
    pub(crate) fn new(objects: usize, with_pus: usize) -> Self {
        let width = match objects {
            0..=0x100 => 1,
            0x101..=0x1_0000 => 2,
            _ => 4,
        };
        let count = |count| u32::try_from(count).unwrap_or(u32::MAX);
        Self { objects: count(objects), with_pus: count(with_pus), width, ..Self::default() }
    }

    /// Packs numbers that are below the number of objects.
    #[must_use]
    pub(crate) fn pack(&self, values: impl IntoIterator<Item = u32>) -> Vec<u8> {
        let width = self.width as usize;
        let values = values.into_iter();
        let mut bytes = Vec::with_capacity(values.size_hint().0 * width);
        for value in values {
            bytes.extend_from_slice(value.to_le_bytes().get(..width).unwrap_or_default());
        }
        bytes
    }
}

/// A width of the integers of a tree.
pub(crate) trait Width {
    /// A number as it is stored.
    type Number: Copy;

    /// Bits of a number.
    const BITS: u32;

    /// The numbers that bytes are.
    fn numbers(bytes: &[u8]) -> &[Self::Number];

    /// What a stored number says.
    fn value(number: Self::Number) -> u32;

    /// The bytes that numbers are.
    fn bytes(numbers: &[Self::Number]) -> &[u8];

    /// The row of `N` numbers at `index`, `None` past the end.
    #[inline]
    fn row<const N: usize>(bytes: &[u8], index: usize) -> Option<[u32; N]> {
        let rows = Self::numbers(bytes).as_chunks::<N>().0;
        rows.get(index).map(|row| row.map(Self::value))
    }

    /// The numbers at `index` and behind it, 0 past the end.
    #[inline]
    fn pair(bytes: &[u8], index: usize) -> [u32; 2] {
        let rest = Self::numbers(bytes).get(index..).unwrap_or_default();
        rest.first_chunk::<2>().map_or([0; 2], |pair| pair.map(Self::value))
    }

    /// The number at `index`, 0 past the end.
    #[inline]
    fn get(bytes: &[u8], index: usize) -> u32 {
        Self::numbers(bytes).get(index).map_or(0, |number| Self::value(*number))
    }
}

/// A width, with the integer that holds a number.
macro_rules! width {
    ($name:ident, $number:ty) => {
        pub(crate) struct $name;

        impl Width for $name {
            type Number = [u8; size_of::<$number>()];

            const BITS: u32 = <$number>::BITS;

            #[inline]
            fn numbers(bytes: &[u8]) -> &[Self::Number] {
                bytes.as_chunks().0
            }

            #[inline]
            fn bytes(numbers: &[Self::Number]) -> &[u8] {
                numbers.as_flattened()
            }

            #[inline]
            fn value(number: Self::Number) -> u32 {
                <$number>::from_le_bytes(number).into()
            }
        }
    };
}

width!(One, u8);
width!(Two, u16);
width!(Four, u32);

impl ArchivedTree {
    /// Number of objects.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.objects.to_native() as usize
    }

    /// Whether there are no objects, which no validated archive has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is stored of an object; I/O and Misc objects have no PUs of their own.
    #[must_use]
    #[inline]
    pub fn member(&self, id: usize) -> Member {
        match self.width.to_native() {
            1 => self.member_in::<One>(id),
            2 => self.member_in::<Two>(id),
            _ => self.member_in::<Four>(id),
        }
    }

    #[inline]
    fn member_in<W: Width>(&self, id: usize) -> Member {
        if let Some([parent, sibling_rank, pu_first, pu_count]) = W::row(&self.members, id) {
            return Member { parent, sibling_rank, pu_first, pu_count };
        }
        let other = id.checked_sub(self.with_pus.to_native() as usize);
        let row = other.and_then(|other| W::row(&self.attached, other));
        let [parent, sibling_rank] = row.unwrap_or_default();
        Member { parent, sibling_rank, ..Member::default() }
    }

    /// Number of the parent of an object; the root is its own.
    #[must_use]
    #[inline]
    pub fn parent(&self, id: usize) -> u32 {
        self.member(id).parent
    }

    /// Place of an object among the children of its parent of the same kind.
    #[must_use]
    #[inline]
    pub fn sibling_rank(&self, id: usize) -> u32 {
        self.member(id).sibling_rank
    }

    /// Slots of the children of an object.
    #[must_use]
    #[inline]
    pub fn child_slots(&self, id: usize) -> Range<usize> {
        let [start, end] = match self.width.to_native() {
            1 => One::pair(&self.child_start, id),
            2 => Two::pair(&self.child_start, id),
            _ => Four::pair(&self.child_start, id),
        };
        start as usize..end as usize
    }

    /// The object in a slot of a child list.
    #[must_use]
    #[inline]
    pub fn child(&self, slot: usize) -> u32 {
        self.get(&self.children, slot)
    }

    #[inline]
    fn get(&self, bytes: &[u8], index: usize) -> u32 {
        match self.width.to_native() {
            1 => One::get(bytes, index),
            2 => Two::get(bytes, index),
            _ => Four::get(bytes, index),
        }
    }
}
