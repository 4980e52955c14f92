//! Gathering the nodes of a cluster with what a site has: a shared folder, a launcher's fence, MPI,
//! PMIx, or a remote command.
//!
//! What a node sends is a *report*. The first of a class reports its whole topology, a few
//! kilobytes; the others only what differs from it, a few hundred bytes.

mod collect;
mod command;
mod error;
mod folder;
mod frame;
#[allow(unsafe_code, reason = "calling libpmix is what this module is for")]
mod pmix;
mod report;
mod rounds;
mod run_command;
mod this_machine;

pub use collect::{Added, Failure, Gathered, Gathering, Sent};
pub use command::{Commands, node_of_host, run_on};
pub use error::{GatherError, MAX_REPORT};
pub use folder::{join, read_folder};
pub use pmix::PmixExchange;
pub use report::{Contribution, Known, NodeReport, node_of_report};
pub use rounds::{Exchange, Rounds, in_rounds};
pub use this_machine::MEMLOCK;
