//! The overlay of a view, and its rules.

mod overlay;
mod validate;

pub use overlay::{
    ArchivedMoved, ArchivedOverlay, ArchivedVisibleSet, Moved, NOT_CONTIGUOUS, Overlay, SEVERAL,
    VisibleSet, access, to_bytes,
};
pub use validate::validate;
