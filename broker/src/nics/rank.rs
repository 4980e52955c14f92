//! A rank that libraries choose NICs for.

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
