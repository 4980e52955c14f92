//! Tests that cross crates and processes.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]

mod adoption;
mod against_hwloc_programs;
mod ancestry;
mod attacks;
mod circles;
mod cluster;
mod cluster_damage;
mod cluster_fabrics;
mod cluster_formats;
mod cluster_own_node;
mod cluster_ports;
mod cluster_program;
mod cluster_slurm;
mod compatibility;
mod containers;
mod dependencies;
mod embedding;
mod examples;
mod faults;
mod fidelity;
mod gathering_attacks;
mod generations;
mod info_and_calc;
mod jobs;
mod links;
mod lstopo;
mod made_nodes;
mod names;
mod nccl;
mod networks;
mod nics;
mod odd_machines;
mod placement;
mod ports;
mod program;
mod queries;
mod random_cases;
mod reliability_table;
mod saved_root;
mod scope;
mod segments;
mod sources;
mod tree;
mod views;
