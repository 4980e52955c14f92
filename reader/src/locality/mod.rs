//! The locality of processes relative to each other: which objects they share. Not to be confused
//! with `hwloc_get_obj_with_same_locality`, which is about objects.

mod locality;
mod relative;
mod text;

pub use locality::Locality;
pub(crate) use relative::relative;
pub use text::LocalityTextError;
