//! NICs of ranks: how other libraries choose them, and how processes are told.

mod environment;
mod filter;
mod mpich;
mod nccl;
mod open_mpi;
mod rank;
mod reach;
mod rule;
mod site;

pub use environment::{Library, variables};
pub use filter::{NicFilter, NicListError};
pub use rank::Rank;
pub use reach::nodes_reached;
pub use rule::{Rule, chosen};
pub use site::{SiteError, add_site};
