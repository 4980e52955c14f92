//! The columns that every walk of the tree reads, all of one width so that a walk decides once.

use rkyv::{Archive, Serialize};

/// Parents, children and PUs of objects: little-endian integers of 1, 2 or 4 bytes, as narrow as
/// the number of objects allows.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Tree {
    pub objects: u32,
    pub width: u32,
    pub parent: Vec<u8>,
    pub child_start: Vec<u8>,
    pub children: Vec<u8>,
    pub sibling_rank: Vec<u8>,
    pub pu_first: Vec<u8>,
    pub pu_count: Vec<u8>,
}

impl Tree {
    /// An empty tree for `objects` objects: its numbers take as few bytes as that needs.
    #[must_use]
    pub(crate) fn new(objects: usize) -> Self {
        let width = match objects {
            0..=0x100 => 1,
            0x101..=0x1_0000 => 2,
            _ => 4,
        };
        let objects = u32::try_from(objects).unwrap_or(u32::MAX);
        Self { objects, width, ..Self::default() }
    }

    /// Packs numbers that are below the number of objects.
    #[must_use]
    pub(crate) fn pack(&self, values: &[u64]) -> Vec<u8> {
        let width = self.width as usize;
        values.iter().flat_map(|value| value.to_le_bytes().into_iter().take(width)).collect()
    }
}

/// A width of the columns of a tree.
pub(crate) trait Width {
    /// Bytes of a number.
    const BYTES: usize;

    /// The number at `index`, 0 past the end.
    fn get(bytes: &[u8], index: usize) -> u32;
}

pub(crate) struct One;
pub(crate) struct Two;
pub(crate) struct Four;

impl Width for One {
    const BYTES: usize = 1;

    #[inline]
    fn get(bytes: &[u8], index: usize) -> u32 {
        bytes.get(index).map_or(0, |&byte| u32::from(byte))
    }
}

impl Width for Two {
    const BYTES: usize = 2;

    #[inline]
    fn get(bytes: &[u8], index: usize) -> u32 {
        bytes.as_chunks().0.get(index).map_or(0, |&b| u32::from(u16::from_le_bytes(b)))
    }
}

impl Width for Four {
    const BYTES: usize = 4;

    #[inline]
    fn get(bytes: &[u8], index: usize) -> u32 {
        bytes.as_chunks().0.get(index).map_or(0, |&b| u32::from_le_bytes(b))
    }
}

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

    /// Number of the parent of an object; the root is its own.
    #[must_use]
    #[inline]
    pub fn parent(&self, id: usize) -> u32 {
        self.get(&self.parent, id)
    }

    /// First slot of the children of an object; those of the next object end them.
    #[must_use]
    #[inline]
    pub fn child_start(&self, id: usize) -> u32 {
        self.get(&self.child_start, id)
    }

    /// The object in a slot of a child list.
    #[must_use]
    #[inline]
    pub fn child(&self, slot: usize) -> u32 {
        self.get(&self.children, slot)
    }

    /// Place of an object among the children of its parent of the same kind.
    #[must_use]
    #[inline]
    pub fn sibling_rank(&self, id: usize) -> u32 {
        self.get(&self.sibling_rank, id)
    }

    /// First PU below a normal object.
    #[must_use]
    #[inline]
    pub fn pu_first(&self, id: usize) -> u32 {
        self.get(&self.pu_first, id)
    }

    /// Number of PUs below a normal object.
    #[must_use]
    #[inline]
    pub fn pu_count(&self, id: usize) -> u32 {
        self.get(&self.pu_count, id)
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
