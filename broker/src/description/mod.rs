//! Descriptions (topologies as plain values): filters by type, and conversion from an archive.

mod filter;
mod from_archive;

pub use filter::{Filters, filter, is_any_cache};
pub use from_archive::describe;
