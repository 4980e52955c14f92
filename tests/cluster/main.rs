//! Tests of `topobroker cluster`, and of processes on a node of a cluster.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]

mod damage;
mod nics;
mod own_node;
mod placement;
mod ports;
mod program;
mod questions;
mod slurm;
