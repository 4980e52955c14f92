//! Colours. Black text is readable on all of them, and no fact is told by colour alone.

use crate::picture::Kind;

/// Colour of the boxes of a kind.
pub(crate) fn of_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Machine | Kind::Group | Kind::Cache | Kind::Pu | Kind::Bridge | Kind::Legend => {
            "#ffffff"
        }
        Kind::Package => "#d5e8c4",
        Kind::Die => "#e5f2da",
        Kind::Core => "#d2d2d2",
        Kind::Memory => "#f3dedc",
        Kind::Pci => "#dce6f2",
        Kind::Device => "#eef2f7",
        Kind::Misc | Kind::More => "#f5f5f0",
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
