//! Descriptions (topologies as plain values): filters by type, and conversion from an archive.

mod filter;
mod from_archive;

#[cfg(feature = "program")]
pub(crate) use filter::is_any_cache;
pub use filter::{Filters, filter};
pub use from_archive::describe;
