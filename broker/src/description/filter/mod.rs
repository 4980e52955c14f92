//! Filters of a description by type. The result is the topology that hwloc would have loaded with the
//! same filters.
//!
//! Counterpart: `hwloc_topology_set_type_filter` before loading the same XML.

mod filter;
mod filters;
mod merge_levels;
mod renumber;
mod tree;

pub use filter::filter;
pub use filters::{Filters, is_any_cache};
