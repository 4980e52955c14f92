//! Views: a part of a topology, seen as a topology of its own. A view is an overlay over the archive, made in one of two
//! ways: by folding bits level by level if nothing moves (`fold`), else by taking the tree apart as hwloc does
//! (`rebuild`).

mod fold;
mod rebuild;
mod restriction;
#[allow(unsafe_code, reason = "referring to what it owns is what this module is for")]
mod storage;
mod view;

pub use restriction::{RestrictError, RestrictFlags};
pub use view::View;
