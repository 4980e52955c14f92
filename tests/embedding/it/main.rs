//! Tests of what is installed, as C programs, libraries, launchers and administrators use it; and
//! of its documents.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]

mod administration;
mod audited;
mod book;
mod c_interface;
mod commands_of_pages;
mod communicators;
mod daemon;
mod dealt;
mod distances;
mod documents;
mod gathering;
mod guard;
mod hostile;
mod hw_groups;
mod installing;
mod legacy;
mod like_hwloc;
mod loading;
mod localities;
mod mpi;
mod nic_choices;
mod nvlink_domains;
mod older_headers;
mod owners;
mod pmix;
mod reliability_table;
mod shared_libraries;
mod slots;
mod slurm;
mod storm;
mod surroundings;
