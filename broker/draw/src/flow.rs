//! Arranges boxes in rows, like words in a paragraph. The rows are so wide that the result has
//! about the form of a page.

use crate::picture::Units;

/// Width to height of a part of a picture, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form(u64);

impl Form {
    /// Between a square and a screen.
    pub(crate) const PAGE: Self = Self(1400);
    pub(crate) const HIGH: Self = Self(900);
    pub(crate) const HIGHER: Self = Self(600);
    pub(crate) const WIDE: Self = Self(2200);
    /// For narrow terminals.
    pub(crate) const NARROW: Self = Self(200);
    pub(crate) const NARROWEST: Self = Self(1);
    /// Of a screen.
    pub(crate) const SCREEN: Self = Self(1778);
    /// One row.
    pub(crate) const WIDEST: Self = Self(u64::MAX);

    /// Whether it is for narrow terminals.
    pub(crate) fn is_narrow(self) -> bool {
        self.0 <= Self::NARROW.0
    }

    /// Whether a box is not wider than this form.
    pub(crate) fn has(self, width: u32, height: u32, units: Units) -> bool {
        u64::from(width) * 1000 <= self.0 * high(height, units)
    }

    /// Whether a box is between a square and a screen.
    pub(crate) fn is_page(width: u32, height: u32, units: Units) -> bool {
        Self::SCREEN.has(width, height, units) && u64::from(width) >= high(height, units)
    }

    /// How far a box is from this form, and how much of it is empty: 1,000,000 if it is neither.
    pub(crate) fn cost(self, width: u32, height: u32, filled: u64, units: Units) -> u64 {
        let form = (u64::from(width) * 1000 / high(height, units)).max(1);
        let off = if form > self.0 { form * 1000 / self.0 } else { self.0 * 1000 / form };
        let area = (u64::from(width) * u64::from(height)).max(1);
        let empty = 1000 - (filled.min(area)).saturating_mul(1000) / area;
        off * (1000 + 2 * empty)
    }
}

/// A height in the unit of widths: letters are half as wide as high.
fn high(height: u32, units: Units) -> u64 {
    u64::from(height.max(1)) * if units.letter == 1 { 2 } else { 1 }
}

/// Places of boxes, and the size of all together.
pub(crate) type Places = (Vec<(u32, u32)>, (u32, u32));

/// Most boxes that a row is tried with.
const MOST_IN_ROW: usize = 96;

/// Boxes of these sizes in rows. What they are in is as wide as `room` at least.
pub(crate) fn rows(sizes: &[(u32, u32)], room: u32, form: Form, units: Units) -> Places {
    match form {
        Form::WIDEST => flow(sizes, u32::MAX, units),
        form => best_flow(sizes, room, form, units),
    }
}

/// Boxes of these sizes in rows of so many.
pub(crate) fn rows_of(length: usize, sizes: &[(u32, u32)], units: Units) -> Places {
    let first = sizes.get(..length).unwrap_or(sizes);
    let (_, (width, _)) = flow(first, u32::MAX, units);
    flow(sizes, width, units)
}

/// Boxes of these sizes, of which some stand for many, in one row or in one column.
pub(crate) fn row_or_column(sizes: &[(u32, u32)], form: Form, units: Units) -> Places {
    let widest = sizes.iter().map(|(width, _)| *width).max().unwrap_or(0);
    let both = [u32::MAX, widest].map(|room| flow(sizes, room, units));
    let cost = |(_, (width, height)): &Places| form.cost(*width, *height, filled(sizes), units);
    both.into_iter().min_by_key(cost).unwrap_or_default()
}

fn filled(sizes: &[(u32, u32)]) -> u64 {
    sizes.iter().map(|(width, height)| u64::from(*width) * u64::from(*height)).sum()
}

/// Boxes of these sizes in columns that are not higher than `limit`, or than the highest box.
pub(crate) fn columns(sizes: &[(u32, u32)], limit: u32, units: Units) -> Places {
    let limit = sizes.iter().map(|(_, height)| *height).max().unwrap_or(0).max(limit);
    let (mut x, mut y, mut width, mut height) = (0, 0, 0, 0);
    let mut places = Vec::with_capacity(sizes.len());
    for (own_width, own_height) in sizes {
        if y > 0 && y + own_height > limit {
            (x, y) = (width + units.gap.0, 0);
        }
        places.push((x, y));
        width = width.max(x + own_width);
        height = height.max(y + own_height);
        y += own_height + units.gap.1;
    }
    (places, (width, height))
}

/// The rows that have about a form, with few places left empty.
fn best_flow(sizes: &[(u32, u32)], room: u32, form: Form, units: Units) -> Places {
    let filled = filled(sizes);
    let widths = sizes.iter().take(MOST_IN_ROW).scan(0, |right, (width, _)| {
        let own = *right + width;
        *right = own + units.gap.0;
        Some(own)
    });
    let tried = widths.map(|width| flow(sizes, width, units));
    let cost =
        |(_, (width, height)): &Places| form.cost((*width).max(room), *height, filled, units);
    tried.min_by_key(cost).unwrap_or_default()
}

/// The places of boxes in rows of a width. Small boxes stand on each other next to a high one.
fn flow(sizes: &[(u32, u32)], room: u32, units: Units) -> Places {
    let (mut x, mut y, mut row) = (0_u32, 0, 0);
    // Left, width and height of the last column.
    let mut column = (0, 0, 0);
    let (mut width, mut height) = (0, 0);
    let mut places = Vec::with_capacity(sizes.len());
    for (own_width, own_height) in sizes {
        let on_it = column.2 + units.gap.1 + own_height;
        let place = if column.2 > 0 && *own_width <= column.1 && on_it <= row {
            column.2 = on_it;
            (column.0, y + on_it - own_height)
        } else {
            if x > 0 && x.saturating_add(*own_width) > room {
                (x, y, row) = (0, y + row + units.gap.1, 0);
            }
            column = (x, *own_width, *own_height);
            row = row.max(*own_height);
            x += own_width + units.gap.0;
            (column.0, y)
        };
        places.push(place);
        width = width.max(place.0 + own_width);
        height = height.max(place.1 + own_height);
    }
    (places, (width, height))
}
