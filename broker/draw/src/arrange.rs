//! Gives boxes their places: memory above, children below in rows, I/O at the right.

use crate::picture::{Block, BoxKind, Dash, Frame, Line, Picture, Units};
use crate::shape::NestedBox;

/// Places a box with all that is in it, and the legend below.
pub(crate) fn arrange(
    title: &str,
    shape: NestedBox,
    legend: Vec<NestedBox>,
    units: Units,
) -> Picture {
    let whole = Placed::new(shape, units);
    let mut picture = Picture { title: title.to_owned(), ..Picture::default() };
    let (gap_x, gap_y) = (units.gap.0, units.gap.1.max(1));
    whole.put(&mut picture, (gap_x, gap_y), None, units);
    let (mut width, mut height) = (whole.width + 2 * gap_x, whole.height + 2 * gap_y);
    let widest = width.max(90 * units.letter);
    // The legend flows from left to right.
    let (mut x, mut y, mut row) = (gap_x, height, 0);
    for entry in legend {
        let entry = Placed::new(entry, units);
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

/// A box whose size is known, with the places of its parts in it.
struct Placed {
    shape: NestedBox,
    width: u32,
    height: u32,
    /// Height of what is drawn as a box: caches do not enclose what is below them.
    own_height: u32,
    parts: Vec<(u32, u32, Placed)>,
}

/// Letters on the line between a bridge and what is below it.
const LINK_LETTERS: u32 = 7;

impl Placed {
    fn new(mut shape: NestedBox, units: Units) -> Self {
        let [memory, children, io] =
            [&mut shape.memory, &mut shape.children, &mut shape.io].map(|parts| {
                std::mem::take(parts).into_iter().map(|it| Self::new(it, units)).collect()
            });
        if shape.look.kind == BoxKind::Bridge {
            return Self::bridge(shape, io, units);
        }
        let longest = shape.look.text.iter().map(|line| letters(line)).max().unwrap_or(0);
        let lines = u32::try_from(shape.look.text.len()).unwrap_or(u32::MAX);
        let (pad_x, pad_y) = units.pad;
        let text_width = longest.saturating_mul(units.letter) + 2 * pad_x;
        let own_height = lines.saturating_mul(units.line) + 2 * pad_y;
        let (width, height) = (text_width, own_height);
        let mut placed = Self { shape, width, height, own_height, parts: Vec::new() };
        let is_bar = placed.shape.look.kind == BoxKind::Cache;
        let (left, inner) = if is_bar { (0, 0) } else { (pad_x, pad_y) };
        // Below the text.
        let mut y =
            if is_bar { own_height + units.gap.1 } else { own_height - pad_y + units.gap.1.min(3) };
        if memory.is_empty() && children.is_empty() && io.is_empty() {
            return placed;
        }
        let below = |(width, height): (u32, u32), y: &mut u32, placed: &mut Self| {
            placed.width = placed.width.max(left + width + left);
            *y += height + units.gap.1;
        };
        let (rows, size) = rows(memory, units);
        placed.take(rows, (left, y));
        if size.1 > 0 {
            below(size, &mut y, &mut placed);
        }
        let (rows, size) = rows_of(children, placed.width - 2 * left, units);
        placed.take(rows, (left, y));
        let (column, io_size) = column(io, units);
        let io_left = if size.0 > 0 { left + size.0 + 2 * units.gap.0 } else { left };
        placed.take(column, (io_left, y));
        let right = if io_size.0 > 0 { io_left - left + io_size.0 } else { size.0 };
        below((right, size.1.max(io_size.1)), &mut y, &mut placed);
        placed.height = y - units.gap.1 + inner;
        if !is_bar {
            placed.own_height = placed.height;
        }
        placed.widen(units);
        placed
    }

    /// A small square with what is behind it at its right.
    fn bridge(shape: NestedBox, io: Vec<Self>, units: Units) -> Self {
        let side = (units.letter.max(units.line) * 2 / 3).max(1);
        let (width, height) = if units.letter == 1 { (1, 1) } else { (side, side) };
        let (column, size) = column(io, units);
        let gap = LINK_LETTERS * units.letter;
        let mut placed = Self {
            shape,
            width: width + if size.0 > 0 { gap + size.0 } else { 0 },
            height: height.max(size.1),
            own_height: height,
            parts: Vec::new(),
        };
        placed.take(column, (width + gap, 0));
        placed
    }

    fn is_bridge(&self) -> bool {
        self.shape.look.kind == BoxKind::Bridge
    }

    fn take(&mut self, parts: Vec<(u32, u32, Self)>, (left, top): (u32, u32)) {
        self.parts.extend(parts.into_iter().map(|(x, y, part)| (left + x, top + y, part)));
    }

    /// One part alone is as wide as the box that it is in.
    fn widen(&mut self, units: Units) {
        let is_bar = self.shape.look.kind == BoxKind::Cache;
        let room = if is_bar { self.width } else { self.width - 2 * units.pad.0 };
        if let [(_, _, part)] = self.parts.as_mut_slice()
            && !part.is_bridge()
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
                let bend = from.0 + units.letter;
                let mut line = |from, to, text: Option<String>| {
                    picture.lines.push(Line {
                        from,
                        to,
                        bow: 0,
                        dash: Dash::Solid,
                        text,
                        label: None,
                    });
                };
                if from.1 == to.1 {
                    line(from, to, part.shape.link.clone());
                } else {
                    line(from, (bend, from.1), None);
                    line((bend, from.1), (bend, to.1), None);
                    line((bend, to.1), to, part.shape.link.clone());
                }
            }
            part.put(picture, (x + left, y + below), Some(number), units);
        }
    }

    /// How far below its top the box itself is: a bridge is beside the first box behind it.
    fn head(&self, units: Units) -> u32 {
        match self.parts.first() {
            Some((_, _, part)) if self.is_bridge() => {
                part.port(units).saturating_sub(self.own_height / 2)
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

fn letters(line: &str) -> u32 {
    u32::try_from(line.chars().count()).unwrap_or(u32::MAX).min(400)
}

type Rows = (Vec<(u32, u32, Placed)>, (u32, u32));

/// Parts in one row, or in several if they are many.
fn rows(parts: Vec<Placed>, units: Units) -> Rows {
    let columns = parts.len().min(8);
    in_columns(parts, columns, units)
}

/// Parts in as many columns as give about the form of a page, in a box that is `room` wide at least.
fn rows_of(parts: Vec<Placed>, room: u32, units: Units) -> Rows {
    let sizes: Vec<(u32, u32)> = parts.iter().map(|part| (part.width, part.height)).collect();
    let is_folded = parts.iter().any(|part| part.shape.look.kind == BoxKind::More);
    let columns = if is_folded { parts.len() } else { columns(&sizes, room, units) };
    in_columns(parts, columns, units)
}

fn in_columns(mut parts: Vec<Placed>, columns: usize, units: Units) -> Rows {
    align(&mut parts, columns, units);
    let (mut x, mut y, mut row, mut width) = (0, 0, 0, 0);
    let mut placed = Vec::with_capacity(parts.len());
    for (number, part) in parts.into_iter().enumerate() {
        if number > 0 && number % columns.max(1) == 0 {
            (x, y, row) = (0, y + row + units.gap.1, 0);
        }
        let (left, wide) = (x, part.width);
        row = row.max(part.height);
        placed.push((left, y, part));
        width = width.max(left + wide);
        x = left + wide + units.gap.0;
    }
    (placed, (width, y + row))
}

/// Parts of a column that are of one kind are equally wide.
fn align(parts: &mut [Placed], columns: usize, units: Units) {
    let kind = parts.first().map(|part| part.shape.look.kind);
    let is_other =
        |part: &Placed| Some(part.shape.look.kind) != kind && part.shape.look.kind != BoxKind::More;
    if kind == Some(BoxKind::Bridge) || parts.iter().any(is_other) {
        return;
    }
    for column in 0..columns.min(parts.len()) {
        let of_column = || (column..).step_by(columns);
        let widest = of_column().map_while(|it| parts.get(it)).map(|it| it.width).max();
        for number in of_column().take_while(|it| *it < parts.len()).collect::<Vec<_>>() {
            if let (Some(part), Some(widest)) = (parts.get_mut(number), widest) {
                part.width = widest;
                part.widen(units);
            }
        }
    }
}

fn column(parts: Vec<Placed>, units: Units) -> Rows {
    in_columns(parts, 1, units)
}

/// The number of columns by which boxes of these sizes fill about the form of a page, with few places left
/// empty. Up to three are in one row or column.
fn columns(sizes: &[(u32, u32)], room: u32, units: Units) -> usize {
    /// Width to height of a page, in thousandths.
    const FORM: u64 = 1600;
    let count = sizes.len().max(1);
    let (widest, highest) =
        sizes.iter().fold((1, 1), |(width, height), size| (size.0.max(width), size.1.max(height)));
    let wide = u64::from(widest + units.gap.0);
    // Letters are half as wide as high.
    let high = u64::from(highest + units.gap.1) * if units.letter == 1 { 2 } else { 1 };
    let form = |columns: usize| {
        let rows = count.div_ceil(columns);
        (columns as u64 * wide).max(room.into()) * 1000 / (rows as u64 * high)
    };
    // What is wide already is filled, with as few columns as need no more rows.
    let fill = usize::try_from(u64::from(room) / wide).unwrap_or(count).clamp(1, count);
    if form(fill) >= FORM {
        return count.div_ceil(count.div_ceil(fill));
    }
    let cost = |columns: usize| {
        let form = form(columns);
        let off = if form > FORM { form * 1000 / FORM } else { FORM * 1000 / form.max(1) };
        let places = count.div_ceil(columns) * columns;
        let empty = (places - count) as u64 * 1000 / places as u64;
        off * (1000 + empty)
    };
    let candidates = if count <= 3 { vec![1, count] } else { (fill..=count.min(512)).collect() };
    candidates.into_iter().min_by_key(|columns| cost(*columns)).unwrap_or(1)
}
