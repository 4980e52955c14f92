//! Shared code of the benchmarks: the machines that they run on, hwloc's own shared segment and
//! queries, and client processes that get a topology in one way or another.
#![deny(unsafe_code)]

pub mod clients;
pub mod cluster_questions;
pub mod jobs;
pub mod machines;
pub mod nics;
#[allow(unsafe_code, reason = "hwloc's shared segment has raw bindings only")]
pub mod rival;
#[allow(unsafe_code, reason = "hwloc's bitmaps have raw bindings only")]
pub mod rival_bitmap;
#[allow(unsafe_code, reason = "most of hwloc's queries are inline functions of C")]
pub mod rival_queries;
#[allow(unsafe_code, reason = "duplicating and restricting have raw bindings only")]
pub mod rival_restrict;
pub mod ways;
pub mod whole_cost;
