//! Gives boxes their places: memory above, children below in rows, I/O at the right.
//!
//! Boxes that are alike have one shape: their sizes follow from what is in them, and not from the
//! digits of their indexes.

use crate::flow::{self, Form, Places};
use crate::picture::{Block, BoxKind, Dash, Frame, Line, Picture, Units};
use crate::shape::NestedBox;
use crate::siblings::make_alike;
use crate::text_size::TextSizes;

/// Places a box with all that is in it, and the legend below.
pub(crate) fn arrange(
    title: &str,
    shape: NestedBox,
    legend: Vec<NestedBox>,
    units: Units,
    most_width: Option<u32>,
) -> Picture {
    let mut shape = shape;
    shape.cut();
    let whole = best(&shape, units, most_width);
    let mut picture = Picture { title: title.to_owned(), ..Picture::default() };
    let (gap_x, gap_y) = (units.gap.0, units.gap.1.max(1));
    whole.put(&mut picture, (gap_x, gap_y), None, units);
    let (mut width, mut height) = (whole.width + 2 * gap_x, whole.height + 2 * gap_y);
    let widest = width.max(most_width.unwrap_or(90 * units.letter));
    // The legend flows from left to right.
    let (mut x, mut y, mut row) = (gap_x, height, 0);
    let sizes = TextSizes::default();
    for mut entry in legend {
        entry.cut();
        let entry = Placed::new(&entry, &sizes, Form::PAGE, units);
        if x > gap_x && x + entry.width + gap_x > widest {
            (x, y, row) = (gap_x, y + row + gap_y, 0);
        }
        entry.put(&mut picture, (x, y), None, units);
        x += entry.width + gap_x;
        row = row.max(entry.height);
        width = width.max(x);
        height = y + row + gap_y;
    }
    (picture.width, picture.height) = (width, height);
    picture
}

/// The arrangement whose form is the most like a page. What is in the outermost box is wider or
/// higher for that: a row of two packages is a page if each is high. Of those that are too wide,
/// the narrowest.
fn best(shape: &NestedBox, units: Units, most_width: Option<u32>) -> Placed<'_> {
    let sizes = TextSizes::of(shape, units);
    let narrow = most_width.is_some().then_some([Form::NARROW, Form::NARROWEST]);
    let inner =
        [Form::HIGH, Form::HIGHER, Form::WIDE].into_iter().chain(narrow.into_iter().flatten());
    let room = most_width.map_or(u32::MAX, |most| most.saturating_sub(2 * units.gap.0));
    let cost = |it: &Placed<'_>| {
        let cost = Form::PAGE.cost(it.width, it.height, it.filled(), units);
        (it.width.saturating_sub(room), cost)
    };
    let first = Placed::new(shape, &sizes, Form::PAGE, units);
    if first.width <= room && Form::is_page(first.width, first.height, units) {
        return first;
    }
    inner.fold(first, |best, form| {
        let other = Placed::new(shape, &sizes, form, units);
        let ((own_over, own), (over, least)) = (cost(&other), cost(&best));
        // By a tenth better, so that the usual one stays.
        if (own_over, own * 10) < (over, least * 9) { other } else { best }
    })
}

/// A box whose size is known, with the places of its parts in it.
pub(crate) struct Placed<'s> {
    pub(crate) shape: &'s NestedBox,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Height of what is drawn as a box: caches do not enclose what is below them.
    own_height: u32,
    /// Of a bridge: whether what is behind it is in several columns.
    is_bus: bool,
    pub(crate) parts: Vec<(u32, u32, Placed<'s>)>,
}

/// Letters on the line between a bridge and what is below it.
const LINK_LETTERS: u32 = 7;

/// What is at the right of less than so many lines is still in one column.
pub(crate) const LEAST_LINES: u32 = 16;

impl<'s> Placed<'s> {
    pub(crate) fn new(shape: &'s NestedBox, sizes: &TextSizes, form: Form, units: Units) -> Self {
        let [memory, children] =
            [&shape.memory, &shape.children].map(|parts| Self::siblings(parts, sizes, form, units));
        let devices = |height| Self::devices(&shape.io, height, sizes, form, units);
        Self::bare(shape, sizes, units).fill(memory, children, None, devices, form, units)
    }

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

    /// Devices and bridges in columns as high as what is at their left; higher if they would be
    /// wider than a screen.
    fn devices(
        io: &'s [NestedBox],
        height: u32,
        sizes: &TextSizes,
        form: Form,
        units: Units,
    ) -> (Vec<Self>, Places) {
        let mut limit = height.max(LEAST_LINES * units.line);
        loop {
            let parts = io.iter().map(|it| Self::device(it, limit, sizes, form, units));
            let parts: Vec<Self> = parts.collect();
            let places = flow::columns(&sizes_of(&parts), limit, units);
            let (wide, high) = places.1;
            // What is in one column gets no narrower.
            if Form::SCREEN.has(wide, high.max(height), units) || high * 2 < limit {
                return (parts, places);
            }
            limit += limit / 2;
        }
    }

    /// A device, or a bridge with all that is behind it, not higher than `limit` if that can be.
    fn device(
        shape: &'s NestedBox,
        limit: u32,
        sizes: &TextSizes,
        form: Form,
        units: Units,
    ) -> Self {
        if shape.look.kind != BoxKind::Bridge {
            return Self::new(shape, sizes, form, units);
        }
        let behind = shape.io.iter().chain(&shape.children);
        let behind = behind.map(|it| Self::device(it, limit, sizes, form, units)).collect();
        Self::bridge(shape, behind, limit, units)
    }

    /// A small square with what is behind it at its right; below it, if that is in several columns.
    fn bridge(shape: &'s NestedBox, behind: Vec<Self>, limit: u32, units: Units) -> Self {
        let side = (units.letter.max(units.line) * 2 / 3).max(1);
        let side = if units.letter == 1 { 1 } else { side };
        let gap = LINK_LETTERS * units.letter;
        let spaced = Units { gap: (gap, units.gap.1), ..units };
        let mut placed = Self {
            shape,
            width: side,
            height: side,
            own_height: side,
            is_bus: false,
            parts: Vec::new(),
        };
        let size = placed.put_columns(behind, limit, (side + gap, 0), spaced);
        placed.is_bus = placed.parts.iter().any(|(x, _, _)| *x > side + gap);
        let top = if placed.is_bus { side + units.gap.1.max(1) } else { 0 };
        placed.parts.iter_mut().for_each(|(_, y, _)| *y += top);
        placed.width = side + if size.0 > 0 { gap + size.0 } else { 0 };
        placed.height = side.max(top + size.1);
        placed
    }

    pub(crate) fn kind(&self) -> BoxKind {
        self.shape.look.kind
    }

    fn is_bridge(&self) -> bool {
        self.kind() == BoxKind::Bridge
    }

    fn is_bar(&self) -> bool {
        self.kind() == BoxKind::Cache
    }

    /// Takes parts in rows; what is left out of a row stays where it is. Returns the size of all.
    fn put_rows(
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
    fn put_columns(
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

    /// The area of the boxes that have a colour, or nothing in them.
    fn filled(&self) -> u64 {
        let is_white = matches!(self.kind(), BoxKind::Machine | BoxKind::Group | BoxKind::Cache);
        match self.parts.is_empty() || !(is_white || self.is_bridge()) {
            true => u64::from(self.width) * u64::from(self.height),
            false => self.parts.iter().map(|(_, _, part)| part.filled()).sum(),
        }
    }

    /// Makes it as large as those that are alike.
    pub(crate) fn grow(&mut self, (width, height): (u32, u32), units: Units) {
        self.width = width;
        self.height = height;
        if !self.is_bar() && !self.is_bridge() {
            self.own_height = height;
        }
        self.widen(units);
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

    fn put(&self, picture: &mut Picture, (x, y): (u32, u32), parent: Option<usize>, units: Units) {
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
        if from.1 == to.1 && !self.is_bus {
            return line(from, to, text);
        }
        // Lines of a column leave the one above it where the gap in front of the column begins.
        let bend = to.0 + units.letter - LINK_LETTERS * units.letter;
        line(from, (bend, from.1), None);
        line((bend, from.1), (bend, to.1), None);
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
