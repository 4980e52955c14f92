//! The C interface: what `topobroker.h` declares.
//!
//! Without the feature `broker` this is the thin library, `libtopobroker-reader`, for everybody's
//! process; with it `libtopobroker`, for launchers. Both are made by `scripts/install`.
//!
//! Every function takes pointers that are NULL or valid as its documentation says, and returns a
//! [`tb_status`]; that contract is C's, so functions are not marked unsafe one by one: what
//! is done with a pointer is in `pointers.rs` alone. No panic leaves a function, and none ends the process because memory
//! is short (`reserve.rs`).
#![allow(non_camel_case_types, reason = "the names are C's")]

mod attributes;
mod call;
mod hardware;
mod inside;
mod job;
mod keys;
mod levels;
mod memory;
mod object;
mod part;
mod pointers;
mod relatives;
mod reserve;
mod scope;
mod set;
mod status;
mod topology;

#[cfg(feature = "broker")]
mod broker;

pub use attributes::*;
pub use call::tb_error_detail;
pub use hardware::*;
pub use inside::*;
pub use job::*;
pub use keys::*;
pub use levels::*;
pub use memory::*;
pub use object::*;
pub use part::*;
pub use relatives::*;
pub use scope::*;
pub use set::*;
pub use status::*;
pub use topology::*;

#[cfg(feature = "broker")]
pub use broker::*;
