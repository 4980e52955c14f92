//! NICs of ranks: which a site and a user allow, and how other libraries choose them.
//!
//! ```no_run
//! use topobroker::nics::NicFilter;
//! use topobroker_reader::devices::NicChoice;
//! let topology = topobroker_reader::adopt()?.topology();
//! let filter = NicFilter::new(Some("infiniband"), None, Some("mlx5_an*"))?;
//! for network in filter.networks(topology, NicChoice::Active) {
//!     println!("{}", network.id);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod filter;
mod mpich;
mod nccl;
mod open_mpi;
mod reach;
mod rule;
mod site;

pub use filter::{NicFilter, NicListError};
pub use reach::nodes_reached;
pub use rule::{Rule, chosen};
pub use site::{SiteError, add_site};

use topobroker_layout::set::Set;
use topobroker_reader::Object;

/// A rank, in the order of local ranks.
#[derive(Debug, Clone)]
pub struct NicRank<'a> {
    /// Rank in the job.
    pub rank: u32,
    /// Its PUs; `None` if it is not bound.
    pub cpuset: Option<Set>,
    /// Its GPU.
    pub gpu: Option<Object<'a>>,
}
