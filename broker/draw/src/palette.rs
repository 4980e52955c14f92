//! Colours. Black text is readable on all of them, and no fact is told by colour alone.

use crate::picture::BoxKind;

/// Colour of the boxes of a kind.
pub(crate) fn of_kind(kind: BoxKind) -> &'static str {
    match kind {
        BoxKind::Machine
        | BoxKind::Group
        | BoxKind::Cache
        | BoxKind::Pu
        | BoxKind::Bridge
        | BoxKind::Legend => "#ffffff",
        BoxKind::Package => "#d5e8c4",
        BoxKind::Die => "#e5f2da",
        BoxKind::Core => "#d2d2d2",
        BoxKind::Memory => "#f3dedc",
        BoxKind::Pci => "#dce6f2",
        BoxKind::Device => "#eef2f7",
        BoxKind::Misc | BoxKind::More => "#f5f5f0",
    }
}

/// Colours of ranks and classes: neighbours differ also for those who cannot tell red from green.
pub(crate) const COLOURS: [&str; 12] = [
    "#8ec7ff", "#ffc06b", "#7fd6a8", "#f0a3c8", "#f2e26b", "#b7a6f2", "#9fe0e0", "#ff9c85",
    "#c3d96a", "#d6b48c", "#e3b5f5", "#a9c1b4",
];

/// The colour with a number; colours come again.
pub(crate) fn numbered(number: usize) -> &'static str {
    COLOURS.get(number % COLOURS.len()).copied().unwrap_or("#ffffff")
}
