//! Views: a part of a topology, seen as a topology of its own. A view is an archive seen through an
//! overlay. If no object moves, the overlay is made by folding bits level by level (`fold`), else
//! by taking the tree apart as hwloc does (`rebuild`).

mod fold;
mod rebuild;
mod restriction;
#[allow(unsafe_code, reason = "referring to what it owns is what this module is for")]
mod storage;
mod view;

pub use restriction::{RestrictError, RestrictFlags};
pub use view::View;
