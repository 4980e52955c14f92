//! Fabrics: the switches and links of a network, out of what InfiniBand's tools print.
//!
//! ```no_run
//! let fabric = topobroker_cluster::fabric::read_fabric(&["ibnetdiscover.txt"])?;
//! # Ok::<(), topobroker_cluster::fabric::FabricError>(())
//! ```

mod error;
mod graph;
mod iblinkinfo;
mod iblinkinfo_blocks;
mod ibnetdiscover;
mod matching;
mod name_map;
mod packed;
mod ports_report;
mod rate;
mod read;
mod units;

pub use error::{FabricError, FabricErrorKind};
pub use graph::{End, FabricGraph};
pub use matching::{HostPorts, Matching};
pub(super) use packed::pack;
pub(super) use rate::mbps_of_rate;
pub use read::{read_fabric, read_name_map};
