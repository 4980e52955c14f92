//! The locality of processes relative to each other: which objects they share. Not to be confused
//! with `hwloc_get_obj_with_same_locality`, which is about objects.

mod blocks;
mod locality;
mod relative;
mod text;

pub(crate) use blocks::Blocks;
pub use locality::Locality;
pub(crate) use relative::{by_pus, by_sets};
pub use text::LocalityTextError;
