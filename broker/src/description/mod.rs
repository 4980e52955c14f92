//! Descriptions: topologies as plain values, with types filtered out or made from what is adopted.

mod filter;
mod from_archive;

#[cfg(feature = "program")]
pub(crate) use filter::is_any_cache;
pub use filter::{Filters, filter};
pub use from_archive::describe;
