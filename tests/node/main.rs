//! Tests of a node: processes that adopt what others publish, and what stays if one of them fails.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]

mod adoption;
mod attacks;
mod certificates;
mod cgroups;
mod changes;
mod containers;
mod dependencies;
mod examples;
mod faults;
mod fidelity;
mod files_of_others;
mod first_command;
mod generations;
mod jobs;
mod load_for_others;
mod nvidia_driver;
mod scope;
mod sources;
mod sweeping;
mod watching;
