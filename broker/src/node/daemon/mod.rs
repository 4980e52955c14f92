//! The node-wide daemon: keeps one folder in which the node's topology is published, as it is now.
//!
//! In the folder are the segment of the newest generation, the one before it (a process may have read
//! its keys just now), older ones that still have jobs, `keys` with the environment lines of the newest, and
//! `lock`, which one daemon holds.

mod daemon;
mod error;
mod own_folder;

pub use daemon::{Folder, fingerprint, notify};
pub use error::DaemonError;
