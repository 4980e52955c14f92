//! What is wrong with a node or with the binding of a job, and what to do about it.
//!
//! ```no_run
//! let topology = topobroker_reader::adopt()?.topology();
//! for finding in topobroker::findings::ports(topology) {
//!     eprintln!("{finding}"); // no-active-port: ...
//! }
//! # Ok::<(), topobroker_reader::AdoptError>(())
//! ```

mod binding;
mod devices;
mod finding;
mod memory;
mod ports;

pub use binding::binding;
pub use finding::{Finding, FindingKind, rank_list};
pub use memory::{locked_memory, registerable_memory};
pub use ports::{named, ports, prefix_of, worded};
