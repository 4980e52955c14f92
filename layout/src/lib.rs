//! The archive of an hwloc topology: what is stored in a segment and how it is checked.
//!
//! This crate knows no hwloc and maps no memory. [`description::Description`] is a topology as
//! plain values; [`encode::to_bytes`] archives it; [`header::Header`] frames it; [`open`] checks the
//! bytes and gives back [`archive::ArchivedTopology`], which is read in place. `FORMAT.md` has
//! every field and its reason.
//!
//! ```
//! use topobroker_layout::{header::HEADER_LEN, open, OpenError};
//! let nothing = [0u8; HEADER_LEN];
//! assert!(matches!(open(&nothing), Err(OpenError::Header(_))));
//! ```
#![forbid(unsafe_code)]

pub mod archive;
pub mod attributes;
pub mod column;
pub mod depth;
pub mod description;
pub mod encode;
mod error;
pub mod header;
pub mod job;
pub mod levels;
pub mod object_type;
mod open;
pub mod overlay;
pub mod set;
pub mod shape;
pub mod stored_set;
pub mod support;
pub mod tree;
pub mod type_filter;
mod validate;

pub use error::{HeaderError, OpenError, ValidationError};
pub use open::{open, open_archive};
