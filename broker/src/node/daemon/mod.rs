//! The node-wide daemon: publishes the node's current topology in one folder.
//!
//! The folder has the segment of the newest generation, the one before it (because a process may
//! have just read its keys), older ones that still have jobs, `keys` with the environment lines of
//! the newest, and `lock`, which the daemon locks.

mod daemon;
mod error;
mod own_folder;

pub use daemon::{Folder, clear_after_killed, fingerprint, notify, was_killed};
pub use error::DaemonError;
