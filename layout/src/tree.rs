//! The tree of objects. All of its integers have one width, so that a walk looks up the width only
//! once.

use alloc::vec::Vec;
use core::ops::Range;
use rkyv::{Archive, Serialize};

/// Parents, children and PUs of objects. They are little-endian integers of 1, 2 or 4 bytes, as
/// narrow as the number of objects allows, in rows that are read as a whole.
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

/// The row of an object in the tree. I/O and Misc objects have only a parent and a rank; their PUs
/// are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Member {
    /// Number of the parent; the root is its own parent.
    pub parent: u32,
    /// Place among the children of the parent that are in the same list.
    pub sibling_rank: u32,
    /// Logical index of the first PU.
    pub pu_first: u32,
    /// Number of PUs.
    pub pu_count: u32,
}

impl Tree {
    /// An empty tree for `objects` objects, of which the first `with_pus` are normal and memory
    /// objects. Its integers are as narrow as the number of objects allows.
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

    /// Gives access to bytes as numbers. An incomplete number at the end is left out.
    fn numbers(bytes: &[u8]) -> &[Self::Number];

    /// The value of a stored number.
    fn value(number: Self::Number) -> u32;

    /// Gives access to numbers as bytes.
    fn bytes(numbers: &[Self::Number]) -> &[u8];
}

/// Declares a width, by the type of its integers.
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

    /// Whether there are no objects. It is false for every validated archive.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Gives access to the rows of the tree.
    #[must_use]
    #[inline]
    pub fn rows(&self) -> TreeRows<'_> {
        let with_pus = self.with_pus.to_native();
        TreeRows {
            with_pus,
            numbers: match self.width.to_native() {
                1 => Numbers::One(Columns::new(self)),
                2 => Numbers::Two(Columns::new(self)),
                _ => Numbers::Four(Columns::new(self)),
            },
        }
    }
}

/// Access to the rows of a tree. Their addresses and their width are looked up once, when this is
/// made.
#[derive(Clone, Copy)]
pub struct TreeRows<'a> {
    with_pus: u32,
    numbers: Numbers<'a>,
}

#[derive(Clone, Copy)]
enum Numbers<'a> {
    One(Columns<'a, One>),
    Two(Columns<'a, Two>),
    Four(Columns<'a, Four>),
}

/// Evaluates the same expression with the columns, whatever their width.
macro_rules! with_columns {
    ($rows:expr, $columns:ident => $value:expr) => {
        match $rows.numbers {
            Numbers::One($columns) => $value,
            Numbers::Two($columns) => $value,
            Numbers::Four($columns) => $value,
        }
    };
}

impl TreeRows<'_> {
    /// Number of normal and memory objects, which have PUs of their own and the lowest numbers.
    #[must_use]
    #[inline]
    pub fn with_pus(&self) -> u32 {
        self.with_pus
    }

    /// The row of an object; I/O and Misc objects have no PUs of their own.
    #[must_use]
    #[inline]
    pub fn member(&self, id: u32) -> Member {
        with_columns!(self, columns => columns.member(id, self.with_pus))
    }

    /// Number of the parent of an object; the root is its own parent.
    #[must_use]
    #[inline]
    pub fn parent(&self, id: u32) -> u32 {
        self.member(id).parent
    }

    /// Place of an object in its child list.
    #[must_use]
    #[inline]
    pub fn sibling_rank(&self, id: u32) -> u32 {
        self.member(id).sibling_rank
    }

    /// Rows of the children of an object.
    #[must_use]
    #[inline]
    pub fn child_rows(&self, id: u32) -> Range<u32> {
        with_columns!(self, columns => columns.child_rows(id))
    }

    /// The object in a row of a child list.
    #[must_use]
    #[inline]
    pub fn child(&self, row: u32) -> u32 {
        with_columns!(self, columns => columns.child(row))
    }
}

/// The columns of a tree, in numbers of one width.
struct Columns<'a, W: Width> {
    members: &'a [[W::Number; 4]],
    attached: &'a [[W::Number; 2]],
    child_start: &'a [W::Number],
    children: &'a [W::Number],
}

impl<W: Width> Clone for Columns<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: Width> Copy for Columns<'_, W> {}

impl<'a, W: Width> Columns<'a, W> {
    #[inline]
    fn new(tree: &'a ArchivedTree) -> Self {
        Self {
            members: W::numbers(&tree.members).as_chunks().0,
            attached: W::numbers(&tree.attached).as_chunks().0,
            child_start: W::numbers(&tree.child_start),
            children: W::numbers(&tree.children),
        }
    }

    #[inline]
    fn member(self, id: u32, with_pus: u32) -> Member {
        if let Some(row) = self.members.get(id as usize) {
            let [parent, sibling_rank, pu_first, pu_count] = row.map(W::value);
            return Member { parent, sibling_rank, pu_first, pu_count };
        }
        let row = id.checked_sub(with_pus).and_then(|other| self.attached.get(other as usize));
        let [parent, sibling_rank] = row.map(|row| row.map(W::value)).unwrap_or_default();
        Member { parent, sibling_rank, ..Member::default() }
    }

    #[inline]
    fn child_rows(self, id: u32) -> Range<u32> {
        let rest = self.child_start.get(id as usize..).unwrap_or_default();
        let [start, end] = rest.first_chunk::<2>().map_or([0; 2], |pair| pair.map(W::value));
        start..end
    }

    #[inline]
    fn child(self, row: u32) -> u32 {
        self.children.get(row as usize).map_or(0, |number| W::value(*number))
    }
}
