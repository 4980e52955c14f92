//! Rows of one length in siblings that have the same number of children.

use crate::flow::{self, Form};
use crate::picture::{BoxKind, Units};
use crate::placed::{LEAST_LINES, Placed, sizes_of};
use crate::text_size::TextSizes;
use std::collections::{BTreeMap, BTreeSet};

impl Placed<'_> {
    /// Gives siblings of one kind with the same number of children rows of one length, the one that
    /// needs the least room.
    pub(crate) fn align(siblings: &mut [Self], sizes: &TextSizes, form: Form, units: Units) {
        let mut lengths: BTreeMap<(BoxKind, usize), BTreeSet<usize>> = BTreeMap::new();
        for sibling in siblings.iter().filter(|it| it.has_rows()) {
            lengths.entry(sibling.key()).or_default().insert(sibling.in_row());
        }
        for (key, lengths) in lengths.into_iter().filter(|(_, lengths)| lengths.len() > 1) {
            let alike = |it: &Self| it.has_rows() && it.key() == key;
            let room = |length: &usize| {
                let all = siblings.iter().filter(|it| alike(it));
                let all = all.map(|it| flow::rows_of(*length, &it.sizes_of_children(), units).1);
                let (width, height) =
                    all.fold((0, 0), |most, it| (most.0.max(it.0), most.1.max(it.1)));
                u64::from(width) * u64::from(height)
            };
            let best = lengths.iter().copied().min_by_key(room).unwrap_or(1);
            for sibling in &mut *siblings {
                if alike(sibling) && sibling.in_row() != best {
                    sibling.set_rows(best, sizes, form, units);
                }
            }
        }
    }

    fn key(&self) -> (BoxKind, usize) {
        (self.kind(), self.shape.children.len())
    }

    /// Whether it has children in rows of which none stands for many.
    fn has_rows(&self) -> bool {
        let children = &self.shape.children;
        self.kind() != BoxKind::Bridge
            && children.len() > 1
            && children.iter().all(|it| it.look.kind != BoxKind::More)
    }

    fn children(&self) -> impl Iterator<Item = &(u32, u32, Self)> {
        self.parts.iter().skip(self.shape.memory.len()).take(self.shape.children.len())
    }

    fn sizes_of_children(&self) -> Vec<(u32, u32)> {
        self.children().map(|(_, _, it)| (it.width, it.height)).collect()
    }

    /// Puts its children into rows of another length. What is in them stays as it is.
    fn set_rows(&mut self, length: usize, sizes: &TextSizes, form: Form, units: Units) {
        let mut parts = std::mem::take(&mut self.parts).into_iter().map(|(_, _, part)| part);
        let memory = parts.by_ref().take(self.shape.memory.len()).collect();
        let children = parts.by_ref().take(self.shape.children.len()).collect();
        let io: Vec<Self> = parts.collect();
        let devices = |height: u32| {
            let limit = height.max(LEAST_LINES * units.line);
            let places = flow::columns(&sizes_of(&io), limit, units);
            (io, places)
        };
        let bare = Self::bare(self.shape, sizes, units);
        *self = bare.fill(memory, children, Some(length), devices, form, units);
    }

    /// How many of the children are in the first row.
    fn in_row(&self) -> usize {
        let mut tops = self.children().map(|(_, top, _)| *top);
        tops.next().map_or(0, |first| 1 + tops.take_while(|top| *top == first).count())
    }
}
