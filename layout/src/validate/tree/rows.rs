//! The rows of the tree, as numbers of one width.

use crate::archive::ArchivedTopology;
use crate::error::ValidationError;
use crate::levels::ArchivedLevels;
use crate::tree::Width;
use crate::validate::levels::Counts;
use crate::validate::rule::ensure;
use core::ops::Range;

/// The tree as numbers of width `W`.
pub(super) struct Rows<'a, W: Width> {
    pub(super) members: &'a [[W::Number; 4]],
    pub(super) attached: &'a [[W::Number; 2]],
    pub(super) child_start: &'a [W::Number],
    pub(super) children: &'a [W::Number],
    pub(super) levels: &'a ArchivedLevels,
    pub(super) counts: &'a Counts,
}

impl<'a, W: Width> Rows<'a, W> {
    /// Gives access to the rows of a tree, if there are as many as there must be.
    pub(super) fn new(
        topology: &'a ArchivedTopology,
        counts: &'a Counts,
    ) -> Result<Self, ValidationError> {
        let tree = &topology.tree;
        let column = |bytes: &'a [u8], name, numbers: usize| {
            let found = W::numbers(bytes);
            let whole = found.len() == numbers && size_of_val(found) == bytes.len();
            ensure(whole, name, bytes.len(), "has a row for each of its objects")?;
            Ok(found)
        };
        let (objects, with_pus) = (counts.objects, counts.with_pus());
        let ends = tree.with_pus.to_native() as usize == with_pus;
        ensure(ends, "tree.with_pus", 0, "ends the normal and memory objects")?;
        Ok(Self {
            members: column(&tree.members, "tree.members", with_pus * 4)?.as_chunks().0,
            attached: column(&tree.attached, "tree.attached", (objects - with_pus) * 2)?
                .as_chunks()
                .0,
            child_start: column(&tree.child_start, "tree.child_start", objects + 1)?,
            children: column(&tree.children, "tree.children", objects - 1)?,
            levels: &topology.levels,
            counts,
        })
    }

    /// Parent, rank, first PU and number of PUs of a normal or memory object; zeros for other
    /// objects.
    #[inline]
    pub(super) fn member(&self, id: u32) -> [u32; 4] {
        self.members.get(id as usize).map_or([0; 4], |row| row.map(W::value))
    }

    /// Parent and rank of any object.
    #[inline]
    pub(super) fn place(&self, id: u32) -> [u32; 2] {
        let id = id as usize;
        let member = self.members.get(id).map(|[parent, rank, ..]| [*parent, *rank]);
        let attached = || self.attached.get(id.checked_sub(self.members.len())?).copied();
        member.or_else(attached).map_or([0; 2], |row| row.map(W::value))
    }

    /// Rows of the children of an object.
    #[inline]
    pub(super) fn child_rows(&self, parent: u32) -> Range<u32> {
        let rest = self.child_start.get(parent as usize..).unwrap_or_default();
        rest.first_chunk().map_or(0..0, |[start, end]| W::value(*start)..W::value(*end))
    }

    /// The object in a row.
    #[inline]
    pub(super) fn child(&self, row: u32) -> Option<u32> {
        self.children.get(row as usize).map(|child| W::value(*child))
    }

    #[inline]
    pub(super) fn is_normal(&self, id: u32) -> bool {
        (id as usize) < self.counts.normal_objects
    }
}
