//! A box whose size is known, with the places of what is in it.

use crate::flow::{self, Form, Places};
use crate::picture::{Block, BoxKind, Dash, Frame, Line, Picture, Units};
use crate::shape::NestedBox;
use crate::text_size::TextSizes;
use std::collections::{BTreeMap, BTreeSet};

/// A box whose size is known, with the places of its parts in it.
pub(crate) struct Placed<'s> {
    pub(crate) shape: &'s NestedBox,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Height of what is drawn as a box: caches do not enclose what is below them.
    pub(crate) own_height: u32,
    /// Of a bridge: whether what is behind it is in several columns.
    pub(crate) is_bus: bool,
    pub(crate) parts: Vec<(u32, u32, Placed<'s>)>,
}

/// What is at the right of less than so many lines is still in one column.
pub(crate) const LEAST_LINES: u32 = 16;

impl<'s> Placed<'s> {
    /// A box with nothing in it.
    pub(crate) fn bare(shape: &'s NestedBox, sizes: &TextSizes, units: Units) -> Self {
        let text = sizes.size(&shape.look, units);
        let (width, height) = (text.0 + 2 * units.pad.0, text.1 + 2 * units.pad.1);
        Self { shape, width, height, own_height: height, is_bus: false, parts: Vec::new() }
    }

    /// Puts parts into an empty box: children in rows of so many, or in those that suit the form,
    /// and `devices` next to them, which depend on the height of these.
    pub(crate) fn fill(
        mut self,
        memory: Vec<Self>,
        children: Vec<Self>,
        in_row: Option<usize>,
        devices: impl FnOnce(u32) -> (Vec<Self>, Places),
        form: Form,
        units: Units,
    ) -> Self {
        if self.shape.parts().next().is_none() {
            return self;
        }
        let (pad_x, pad_y) = units.pad;
        let is_bar = self.is_bar();
        let (left, inner) = if is_bar { (0, 0) } else { (pad_x, pad_y) };
        // Below the text.
        let mut y = match is_bar {
            true => self.height + units.gap.1,
            false => self.height - pad_y + units.gap.1.min(3),
        };
        let memory_form = if form.is_narrow() { form } else { Form::WIDEST };
        let size = self.put_rows(memory, None, memory_form, (left, y), units);
        if size.1 > 0 {
            self.width = self.width.max(left + size.0 + left);
            y += size.1 + units.gap.1;
        }
        let size = self.put_rows(children, in_row, form, (left, y), units);
        let io_left = if size.0 > 0 { left + size.0 + 2 * units.gap.0 } else { left };
        let (io, places) = devices(size.1);
        let io_size = self.take(io, places, (io_left, y));
        let right = if io_size.0 > 0 { io_left - left + io_size.0 } else { size.0 };
        self.width = self.width.max(left + right + left);
        self.height = y + size.1.max(io_size.1) + inner;
        if !is_bar {
            self.own_height = self.height;
        }
        self.widen(units);
        self
    }

    pub(crate) fn kind(&self) -> BoxKind {
        self.shape.look.kind
    }

    pub(crate) fn is_bridge(&self) -> bool {
        self.kind() == BoxKind::Bridge
    }

    fn is_bar(&self) -> bool {
        self.kind() == BoxKind::Cache
    }

    /// Takes parts in rows; what is left out of a row stays where it is. Returns the size of all.
    pub(crate) fn put_rows(
        &mut self,
        mut parts: Vec<Self>,
        in_row: Option<usize>,
        form: Form,
        at: (u32, u32),
        units: Units,
    ) -> (u32, u32) {
        make_alike(&mut parts, units);
        let is_folded = parts.iter().any(|part| part.kind() == BoxKind::More);
        let room = self.width.saturating_sub(2 * at.0);
        let places = match in_row {
            Some(length) => flow::rows_of(length, &sizes_of(&parts), units),
            None if is_folded => flow::row_or_column(&sizes_of(&parts), form, units),
            None => flow::rows(&sizes_of(&parts), room, form, units),
        };
        self.take(parts, places, at)
    }

    /// Takes parts in columns that are not higher than `limit`. Returns the size of all.
    pub(crate) fn put_columns(
        &mut self,
        parts: Vec<Self>,
        limit: u32,
        at: (u32, u32),
        units: Units,
    ) -> (u32, u32) {
        let places = flow::columns(&sizes_of(&parts), limit, units);
        self.take(parts, places, at)
    }

    fn take(
        &mut self,
        parts: Vec<Self>,
        (places, size): Places,
        (left, top): (u32, u32),
    ) -> (u32, u32) {
        let placed = parts.into_iter().zip(places);
        self.parts.extend(placed.map(|(part, (x, y))| (left + x, top + y, part)));
        size
    }

    /// The area of the boxes with nothing in them, and of caches' bars.
    pub(crate) fn filled(&self) -> u64 {
        let inner: u64 = self.parts.iter().map(|(_, _, part)| part.filled()).sum();
        match self.parts.is_empty() || self.is_bar() {
            true => inner + u64::from(self.width) * u64::from(self.own_height),
            false => inner,
        }
    }

    /// Makes it as large as those that are alike.
    pub(crate) fn grow(&mut self, (width, height): (u32, u32), units: Units) {
        self.stretch(height.saturating_sub(self.height), units);
        self.width = width;
        self.height = height;
        if !self.is_bar() && !self.is_bridge() {
            self.own_height = height;
        }
        self.widen(units);
    }

    /// Gives each row of groups or packages in it its share of more height.
    fn stretch(&mut self, more: u32, units: Units) {
        if more == 0 {
            return;
        }
        let is_framed = |it: &Self| matches!(it.kind(), BoxKind::Group | BoxKind::Package);
        let memory = self.shape.memory.len();
        let children = self.parts.iter_mut().skip(memory).take(self.shape.children.len());
        let mut children: Vec<_> = children.collect();
        if !children.iter().all(|(_, _, part)| is_framed(part)) {
            return;
        }
        let tops: BTreeSet<u32> = children.iter().map(|(_, top, _)| *top).collect();
        let each = more / u32::try_from(tops.len().max(1)).unwrap_or(u32::MAX);
        let moved: BTreeMap<u32, u32> = tops.into_iter().zip((0..).map(|row| row * each)).collect();
        for (_, top, part) in &mut children {
            part.grow((part.width, part.height + each), units);
            *top += moved.get(top).copied().unwrap_or(0);
        }
    }

    /// A cache that is alone is as wide as the box that it is in, or as the cache above it.
    fn widen(&mut self, units: Units) {
        let room = if self.is_bar() { self.width } else { self.width - 2 * units.pad.0 };
        if let [(_, _, part)] = self.parts.as_mut_slice()
            && part.is_bar()
            && part.width < room
        {
            part.width = room;
            part.widen(units);
        }
    }

    pub(crate) fn put(
        &self,
        picture: &mut Picture,
        (x, y): (u32, u32),
        parent: Option<usize>,
        units: Units,
    ) {
        let number = picture.blocks.len();
        let width = if self.is_bridge() { self.own_height } else { self.width };
        let place = Frame { x, y: y + self.head(units), width, height: self.own_height };
        picture.blocks.push(Block { place, look: self.shape.look.clone(), parent });
        for (left, below, part) in &self.parts {
            if self.is_bridge() {
                let to = (x + left, y + below + part.port(units));
                let from = (x + width, place.middle().1);
                self.link(picture, from, to, part, units);
            }
            part.put(picture, (x + left, y + below), Some(number), units);
        }
    }

    /// The line from this bridge to what is behind it.
    fn link(
        &self,
        picture: &mut Picture,
        from: (u32, u32),
        to: (u32, u32),
        part: &Self,
        units: Units,
    ) {
        let mut line = |from, to, text: Option<String>| {
            let dash = Dash::Solid;
            picture.lines.push(Line { from, to, bow: 0, dash, text, text_at: 2, label: None });
        };
        let text = part.shape.link.clone();
        // Lines of a column leave the one above it where the gap in front of the column begins.
        let gap = self.parts.first().map_or(0, |(left, _, _)| left - self.own_height);
        let bend = to.0 + units.letter - gap;
        match from.1 == to.1 && !self.is_bus {
            true if units.letter > 1 => return line(from, to, text),
            // As letters, the text would lie on where the others leave it.
            true => line(from, (bend + 1, from.1), None),
            false => {
                line(from, (bend, from.1), None);
                line((bend, from.1), (bend, to.1), None);
            }
        }
        line((bend, to.1), to, text);
    }

    /// How far below its top the box itself is: a bridge is next to the first box behind it.
    fn head(&self, units: Units) -> u32 {
        match self.parts.first() {
            Some((_, below, part)) if self.is_bridge() && !self.is_bus => {
                (below + part.port(units)).saturating_sub(self.own_height / 2)
            }
            _ => 0,
        }
    }

    /// How far below its top a line to it ends.
    fn port(&self, units: Units) -> u32 {
        match self.is_bridge() {
            true => self.head(units) + self.own_height / 2,
            false => units.pad.1 + units.line / 2,
        }
    }
}

pub(crate) fn sizes_of(parts: &[Placed<'_>]) -> Vec<(u32, u32)> {
    parts.iter().map(|part| (part.width, part.height)).collect()
}

/// Neighbours of a kind that are of about one size get the same size.
fn make_alike(parts: &mut [Placed<'_>], units: Units) {
    let is_about = |one: u32, other: u32| one.min(other) * 2 >= one.max(other);
    let mut rest = parts;
    while let Some(first) = rest.first() {
        let (kind, size) = (first.kind(), (first.width, first.height));
        let is_alike = |it: &&Placed<'_>| {
            it.kind() == kind && is_about(it.width, size.0) && is_about(it.height, size.1)
        };
        let count = rest.iter().take_while(is_alike).count().max(1);
        let (run, others) = rest.split_at_mut(count);
        let width = run.iter().map(|it| it.width).max().unwrap_or(0);
        let height = run.iter().map(|it| it.height).max().unwrap_or(0);
        if kind != BoxKind::Bridge {
            run.iter_mut().for_each(|it| it.grow((width, height), units));
        }
        rest = others;
    }
}
