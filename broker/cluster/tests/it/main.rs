//! Tests of clusters: many nodes in one file, their fabrics, and the files of other programs.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]

mod builder;
mod clusters;
mod damage;
mod fabric_files;
mod fabrics;
mod formats;
mod gathering_attacks;
mod own_node;
mod placement;
mod slurm;
mod slurm_sites;
