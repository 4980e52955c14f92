//! NICs of ranks: which a site and a user allow, and how other libraries choose them.

mod filter;
mod mpich;
mod nccl;
mod open_mpi;
mod rank;
mod reach;
mod rule;
mod site;

pub use filter::{NicFilter, NicListError};
pub use rank::NicRank;
pub use reach::nodes_reached;
pub use rule::{Rule, chosen};
pub use site::{SiteError, add_site};
