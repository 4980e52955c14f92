//! hwloc itself, behind safe types: all raw calls of this crate are in this folder.
//!
//! The safe hwlocality crate neither takes nor gives a raw topology, and launchers hand over
//! theirs; it also hides parts that an archive must keep (all memory attributes, group kinds). So
//! this is built on its raw bindings.

mod bitmap;
mod capture;
mod load;
mod object;
mod shmem;
mod tables;
mod topology;
mod version;

pub use capture::{CaptureError, capture};
pub(crate) use load::export_v1;
pub use load::{HwlocLoadError, Input, LoadOptions, load};
pub use shmem::{AdoptedHwloc, adopt_shmem, shmem_length, write_shmem};
pub use topobroker_layout::type_filter::TypeFilter;
pub use topology::HwlocTopology;
pub use version::api_version;
