//! The archive of an hwloc topology: what is stored in a segment and how it is checked.
//!
//! This crate does not use hwloc and does not map memory. [`description::Description`] is a
//! topology as plain values. [`encode::to_bytes`] archives it, and [`header::Header`] puts a header
//! in front of the archive. [`open`] checks the bytes and returns [`archive::ArchivedTopology`],
//! which is read in place. `FORMAT.md` describes every field and why it is there.
//!
//! ```
//! use topobroker_layout::{header::HEADER_LEN, open, OpenError};
//! let nothing = [0u8; HEADER_LEN];
//! assert!(matches!(open(&nothing), Err(OpenError::Header(_))));
//! ```
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

#[macro_use]
mod words;

pub mod archive;
pub mod attributes;
pub mod cluster;
pub mod column;
pub mod depth;
pub mod description;
pub mod encode;
mod error;
pub mod header;
pub mod job;
pub mod levels;
pub mod links;
pub mod object_type;
mod open;
pub mod overlay;
pub mod packed_texts;
pub mod pu_sets;
pub mod set;
pub mod shape;
pub mod stored_set;
pub mod support;
pub mod tree;
pub mod type_filter;
mod validate;

pub use error::{HeaderError, OpenError, ValidationError};
pub use open::{open, open_archive, open_certified, tree_is_sound};
pub use validate::{Checked, RULES};
