//! What topobroker asks of its own process: which files and variables can be trusted, how much of
//! an input is read, what is mapped, and values that are set once. Also errors and paths without
//! the standard library, and libpmix' types.
//!
//! The crate is for the other crates of topobroker. It needs an allocator and libc. The feature
//! `std`, which is on by default, adds only conversions from and to types of the standard library.
// Loom tests only the cell that is set once: `tests/loom/main.rs` includes its file by path.
#![cfg(not(loom))]
#![cfg_attr(not(test), no_std)]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod bounded;
mod causes;
#[allow(unsafe_code, reason = "the C library is asked with what rights the kernel started this")]
mod environment;
mod file_error;
mod file_path;
mod gate;
#[allow(unsafe_code, reason = "a global behind an atomic pointer is what this module is for")]
mod once;
#[allow(unsafe_code, reason = "the C library is asked for the text of an error")]
mod os_error;
pub mod pmix_abi;
mod proc_maps;
mod trust;

pub use bounded::{bytes_within, file_within, text_within};
pub use causes::with_causes;
pub use environment::{auxiliary, has_more_rights, is_of_one_user, trusted_var, variable};
pub use file_error::FileError;
pub use file_path::FilePath;
pub use gate::{Gate, Turn};
pub use once::Global;
pub use os_error::OsError;
pub use proc_maps::{Mapping, find_mapping, mappings};
pub use trust::{Trust, open_trusted, other_than_regular, trust_of};
