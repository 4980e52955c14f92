//! Tests of what launchers embed: queries and views compared with hwloc itself, graphs of links,
//! networks, placement.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]

mod allowed;
mod ancestry;
mod dealing;
mod imports;
mod links;
mod names;
mod nccl;
mod nccl_guests;
mod network_model;
mod networks;
mod odd_machines;
mod placement;
mod queries;
mod random_cases;
mod rank_lists;
mod sizes;
mod summit;
mod tree;
mod views;
