//! Colours, for light pages and for dark ones. Text is readable on all of them, and colour alone
//! says nothing.

use crate::picture::{BoxKind, Look};

/// The colours of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Light,
    Dark,
}

/// A colour for light pages, and the one in its place on dark ones.
type Pair = (&'static str, &'static str);

impl Mode {
    /// The colour of a pair that is of this mode.
    pub(crate) fn of(self, (light, dark): Pair) -> &'static str {
        match self {
            Self::Light => light,
            Self::Dark => dark,
        }
    }
}

/// The page behind the picture, letters, and lines and borders.
pub(crate) const PAGE: Pair = ("#ffffff", "#16191d");
pub(crate) const INK: Pair = ("#111111", "#eceff2");
pub(crate) const LINES: Pair = ("#333333", "#ccd2d9");
/// What a view does not have.
pub(crate) const HIDDEN: Pair = ("#e6e6e6", "#33383e");
pub(crate) const HIDDEN_INK: Pair = ("#5c5c5c", "#b6bcc3");
/// Borders of what is highlighted, and stripes of what is not to be used.
pub(crate) const MARK: Pair = ("#b35c00", "#ffb454");
pub(crate) const STRIPES: Pair = ("#aa3333", "#ff8a80");

/// Colour of the boxes of a kind.
pub(crate) fn of_kind(kind: BoxKind) -> Pair {
    match kind {
        BoxKind::Machine
        | BoxKind::Group
        | BoxKind::Cache
        | BoxKind::Pu
        | BoxKind::Bridge
        | BoxKind::Legend => PAGE,
        BoxKind::Package => ("#d5e8c4", "#24382a"),
        BoxKind::Die => ("#e5f2da", "#2b4231"),
        BoxKind::Core => ("#d2d2d2", "#3a4047"),
        BoxKind::Memory => ("#f3dedc", "#4a2f33"),
        BoxKind::Pci => ("#dce6f2", "#26364a"),
        BoxKind::Device => ("#eef2f7", "#1c2838"),
        BoxKind::Misc | BoxKind::More => ("#f5f5f0", "#2c2c27"),
    }
}

/// Colours of ranks and classes: neighbours differ also for those who cannot distinguish red from
/// green.
pub(crate) const COLOURS: [Pair; 12] = [
    ("#8ec7ff", "#1d4f82"),
    ("#ffc06b", "#7a4a00"),
    ("#7fd6a8", "#1b5e40"),
    ("#f0a3c8", "#7a2f57"),
    ("#f2e26b", "#5f5600"),
    ("#b7a6f2", "#4a3a8c"),
    ("#9fe0e0", "#1d5c5c"),
    ("#ff9c85", "#84301c"),
    ("#c3d96a", "#495a0c"),
    ("#d6b48c", "#664a26"),
    ("#e3b5f5", "#693480"),
    ("#a9c1b4", "#3a5246"),
];

/// Colour of a box.
pub(crate) fn of(look: &Look) -> Pair {
    match look.colour {
        _ if look.marks.hidden => HIDDEN,
        Some(number) => numbered(number),
        None => of_kind(look.kind),
    }
}

/// The colour with a number; colours come again.
pub(crate) fn numbered(number: usize) -> Pair {
    COLOURS.get(number % COLOURS.len()).copied().unwrap_or(PAGE)
}

/// Lengths of the strokes of a border and of the gaps between them, by how often a colour has come
/// before.
pub(crate) const BORDERS: [&[u8]; 4] = [&[], &[6, 2], &[2, 2], &[9, 2, 2, 2]];

/// The border of a box, which may have a numbered colour.
pub(crate) fn border_of(colour: Option<usize>) -> &'static [u8] {
    BORDERS.get(colour.map_or(0, border)).copied().unwrap_or_default()
}

/// Which of [`BORDERS`] a numbered colour has.
pub(crate) fn border(number: usize) -> usize {
    number / COLOURS.len() % BORDERS.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, as WCAG 2 defines it.
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn letters_and_lines_have_a_contrast_of_4_5_on_every_box_in_both_modes() {
        let kinds = BoxKind::ALL.into_iter().map(of_kind);
        for mode in [Mode::Light, Mode::Dark] {
            for ground in kinds.clone().chain(COLOURS).chain([PAGE]) {
                for ink in [INK, LINES] {
                    let found = contrast(mode.of(ground), mode.of(ink));
                    assert!(found >= 4.5, "{mode:?} {ground:?} {ink:?}: {found}");
                }
            }
            let hidden = contrast(mode.of(HIDDEN), mode.of(HIDDEN_INK));
            assert!(hidden >= 4.5, "{mode:?}: {hidden}");
            assert!(contrast(mode.of(PAGE), mode.of(MARK)) >= 4.5);
        }
    }
}
