//! Publish a node's hwloc topology once, for every process to adopt.
//!
//! [`hwloc::load`] loads a topology, [`capture::capture`] describes all of it, and
//! [`publish::publish`] makes it a segment that processes adopt with `topobroker-reader`. What the
//! `topobroker` program does beside that is here too: [`console`] prints a topology as `lstopo`
//! does, [`xml`] exports it, [`filter`] drops types of objects, [`status`] lists what is published.
//!
//! ```
//! use topobroker::{capture::capture, hwloc::{Input, LoadOptions, load}};
//! use topobroker::publish::{PublishOptions, publish};
//! let machine = load(&Input::ThisMachine, &LoadOptions::default())?;
//! let publication = publish(&capture(&machine)?, &PublishOptions::default())?;
//! print!("{}", publication.keys());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(unsafe_code)]

#[allow(unsafe_code, reason = "the C library is told what to do at exit")]
mod at_exit;
pub mod audit;
pub mod capture;
pub mod console;
pub mod daemon;
pub mod describe;
pub mod filter;
#[allow(unsafe_code, reason = "raw calls of hwloc are what this module is for")]
pub mod hwloc;
pub mod hwloc_topology;
pub mod load;
pub mod location;
pub mod placement;
#[allow(unsafe_code, reason = "calling libpmix is what this module is for")]
pub mod pmix_host;
pub mod program;
pub mod publish;
pub mod status;
pub mod synthetic;
pub mod xml;
