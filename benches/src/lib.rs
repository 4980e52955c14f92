//! Shared code of the benchmarks: the machines that they run on, and client processes that get a
//! topology in one way or another.
#![forbid(unsafe_code)]

pub mod clients;
#[cfg(feature = "all")]
pub mod cluster_questions;
pub mod machines;
pub mod nics;
pub mod queries;
pub mod times;
pub mod ways;
pub mod whole_cost;
