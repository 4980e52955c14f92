//! Compares what commands print with what hwloc's programs print.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]

mod against_hwloc_programs;
mod lstopo;
