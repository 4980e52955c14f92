//! Publish a node's hwloc topology once, for every process to adopt.
//!
//! [`hwloc::load`] loads a topology, [`hwloc::capture`] turns it into a description, and
//! [`publish::publish`] makes a segment of that, which processes adopt with `topobroker-reader`.
//!
//! | module | what |
//! | --- | --- |
//! | [`hwloc`] | loading topologies with hwloc, and describing them |
//! | [`linux`] | what Linux says of a node that hwloc does not keep |
//! | [`description`] | filters by type, and descriptions of adopted topologies |
//! | [`publish`] | segments, jobs over them, and files for programs that know only hwloc |
//! | [`node`] | publishing on a node: by a daemon, a launcher, or the first of many processes |
//! | [`links`] | the links of a node in the formats of other programs, and declaring links |
//! | [`findings`] | what is wrong with a node or with the binding of a job |
//! | [`nics`] | which NICs a site and a user allow, and how other libraries choose them |
//! | [`binding`] | binding processes to PUs, and their memory to NUMA nodes |
//! | [`file_bytes`] | the bytes of files that users name |
//! | [`location`], [`placement`] | objects as users name them, and PUs for ranks |
//!
//! ```
//! use topobroker::hwloc::{Input, LoadOptions, capture, load};
//! use topobroker::publish::{PublishOptions, publish};
//! let machine = load(&Input::ThisMachine, &LoadOptions::default())?;
//! let publication = publish(&capture(&machine)?, &PublishOptions::default())?;
//! print!("{}", publication.keys());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(unsafe_code)]

#[doc(hidden)]
pub mod aligned;
#[allow(unsafe_code, reason = "forks, and closes what a fork inherits")]
pub mod child;
mod compressed;
pub mod description;
#[allow(unsafe_code, reason = "maps files")]
pub mod file_bytes;
pub mod findings;
#[allow(unsafe_code, reason = "raw calls of hwloc are what this module is for")]
pub mod hwloc;
pub mod links;
pub mod linux;
pub mod location;
pub mod name_pattern;
pub mod nics;
pub mod node;
pub mod placement;
pub mod publish;
pub mod table;

pub use topobroker_binding as binding;
