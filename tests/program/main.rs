//! Tests of the program: what its commands print and refuse.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]

mod bind;
mod command_line;
mod difference;
mod hwloc_by_name;
mod info_and_calc;
mod ip_subnets;
mod json;
mod links_declared;
mod networks;
mod nics;
mod packed;
mod part_of_a_node;
mod pictures;
mod ports;
mod program;
mod ps;
mod virtual_machines;
mod who_gets_what;
mod wrong_lines;
