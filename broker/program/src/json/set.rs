//! Sets of PUs and of NUMA nodes.

use serde::Serialize;
use topobroker_layout::set::{self, Format};

/// A set of PUs or NUMA nodes by index of the operating system.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Set {
    /// As hwloc writes it: `0x0000000f`.
    mask: String,
    /// As `taskset -c` takes it: `0-3`.
    list: String,
}

impl From<&set::Set> for Set {
    fn from(set: &set::Set) -> Self {
        Self { mask: set.to_text(Format::Hwloc), list: set.to_text(Format::List) }
    }
}

impl From<set::Set> for Set {
    fn from(set: set::Set) -> Self {
        Self::from(&set)
    }
}
