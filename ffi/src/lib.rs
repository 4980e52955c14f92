//! The C interface: the functions and types that `topobroker.h` declares.
//!
//! Without the feature `broker` this is `libtopobroker-reader`, the thin library for every process.
//! With the feature it is `libtopobroker`, for launchers. `scripts/install` makes both.
//!
//! Every function takes pointers that are NULL or valid, as its documentation says, and most return
//! a [`tb_status`]. The caller in C must keep this contract, so the functions are not marked unsafe
//! one by one. Only `pointers.rs` and `structs.rs` have the code that uses the pointers of C. If
//! memory runs out, the reserve in `reserve.rs` keeps a call from ending the process.
//!
//! The thin library is built without the standard library of Rust, so it needs libc alone.
#![cfg_attr(not(any(test, feature = "broker")), no_std)]
#![allow(non_camel_case_types, reason = "the names are C's")]

extern crate alloc;

mod answer;
mod attributes;
mod call;
mod cluster;
mod cluster_groups;
mod devices;
mod failure;
mod given;
mod groups;
mod hardware;
mod inside;
mod job;
mod keys;
mod levels;
mod link_paths;
mod links;
mod locality;
mod members;
mod memory;
mod nics;
mod object;
mod part;
mod per_thread;
mod pointers;
mod ports;
mod relatives;
mod reserve;
mod scope;
mod set;
mod status;
mod structs;
mod topology;
#[cfg(not(any(test, feature = "broker")))]
mod without_std;

#[cfg(feature = "broker")]
mod broker;

pub use attributes::*;
pub use call::tb_error_detail;
pub use cluster::*;
pub use cluster_groups::*;
pub use devices::*;
pub use groups::*;
pub use hardware::*;
pub use inside::*;
pub use job::*;
pub use keys::*;
pub use levels::*;
pub use link_paths::*;
pub use links::*;
pub use locality::*;
pub use members::*;
pub use memory::*;
pub use nics::*;
pub use object::*;
pub use part::*;
pub use ports::*;
pub use relatives::*;
pub use scope::*;
pub use set::*;
pub use status::*;
pub use topology::*;

#[cfg(feature = "broker")]
pub use broker::*;
