//! Tests that cross crates and processes.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]

mod adoption;
mod ancestry;
mod answers;
mod attacks;
mod compatibility;
mod containers;
mod dependencies;
mod embedding;
mod faults;
mod fidelity;
mod generations;
mod jobs;
mod lstopo;
mod names;
mod picks;
mod placement;
mod program;
mod promises;
mod queries;
mod questions;
mod scope;
mod segments;
mod sources;
mod tree;
mod unsafe_code;
mod views;
