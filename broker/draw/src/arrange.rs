//! Gives boxes their places: memory above, children below in rows, I/O at the right.
//!
//! Boxes that are alike have one shape: their sizes follow from what is in them, and not from the
//! digits of their indexes.

use crate::flow::{self, Form, Places};
use crate::picture::{BoxKind, Picture, Units};
use crate::placed::{LEAST_LINES, Placed, sizes_of};
use crate::shape::NestedBox;
use crate::text_size::{self, TextSizes};

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
    let legend_height = match legend.is_empty() {
        true => 0,
        false => units.line + 2 * units.pad.1 + units.gap.1,
    };
    let whole = best(&shape, legend_height, units, most_width);
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
/// the narrowest. Of the legend, the height of one line counts.
fn best(
    shape: &NestedBox,
    legend_height: u32,
    units: Units,
    most_width: Option<u32>,
) -> Placed<'_> {
    let sizes = TextSizes::of(shape, units);
    let narrow = most_width.is_some().then_some([Form::NARROW, Form::NARROWEST]);
    let inner =
        [Form::HIGH, Form::HIGHER, Form::WIDE].into_iter().chain(narrow.into_iter().flatten());
    let room = most_width.map_or(u32::MAX, |most| most.saturating_sub(2 * units.gap.0));
    let cost = |it: &Placed<'_>| {
        let cost = Form::PAGE.cost(it.width, it.height + legend_height, it.filled(), units);
        (it.width.saturating_sub(room), cost)
    };
    let first = Placed::new(shape, &sizes, Form::PAGE, units);
    if first.width <= room && Form::is_page(first.width, first.height + legend_height, units) {
        return first;
    }
    inner.fold(first, |best, form| {
        let other = Placed::new(shape, &sizes, form, units);
        let ((own_over, own), (over, least)) = (cost(&other), cost(&best));
        // By a tenth better, so that the usual one stays.
        if (own_over, own * 10) < (over, least * 9) { other } else { best }
    })
}

impl<'s> Placed<'s> {
    pub(crate) fn new(shape: &'s NestedBox, sizes: &TextSizes, form: Form, units: Units) -> Self {
        let [memory, children] =
            [&shape.memory, &shape.children].map(|parts| Self::siblings(parts, sizes, form, units));
        let devices = |height| Self::devices(&shape.io, height, sizes, form, units);
        Self::bare(shape, sizes, units).fill(memory, children, None, devices, form, units)
    }

    /// What is next to each other in a box.
    fn siblings(shapes: &'s [NestedBox], sizes: &TextSizes, form: Form, units: Units) -> Vec<Self> {
        let new = |shape| Self::new(shape, sizes, form, units);
        let mut siblings: Vec<Self> = shapes.iter().map(new).collect();
        Self::align(&mut siblings, sizes, form, units);
        siblings
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
        let texts = behind.iter().filter_map(|it| it.shape.link.as_deref());
        // The longest figure, and three letters of the line.
        let gap = (texts.map(text_size::letters).max().unwrap_or(0) + 3) * units.letter;
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
}
