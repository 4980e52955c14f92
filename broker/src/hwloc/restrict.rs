//! Restricting a topology to some PUs or NUMA nodes.

use super::{Topology, bitmap};
use std::io;
use topobroker_layout::set::Set;

/// How a topology is restricted, and to what. Counterpart: the arguments of
/// `hwloc_topology_restrict`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restriction {
    /// What is kept: PUs, or NUMA nodes with [`Restriction::BY_NODESET`].
    pub set: Set,
    /// Sum of hwloc's flags.
    pub flags: u64,
}

impl Restriction {
    /// Names of the flags, by bit.
    pub const FLAGS: [&str; 5] =
        ["remove_cpuless", "adapt_misc", "adapt_io", "bynodeset", "remove_memless"];

    /// The flag that makes the set one of NUMA nodes: `HWLOC_RESTRICT_FLAG_BYNODESET`.
    pub const BY_NODESET: u64 = hwlocality_sys::HWLOC_RESTRICT_FLAG_BYNODESET;
}

/// A topology cannot be restricted so.
#[derive(Debug, thiserror::Error)]
#[error(
    "the topology cannot be restricted to {set}: {source}; expected {what} of the topology, and \
     flags that go together"
)]
pub struct RestrictError {
    /// The set, as hwloc prints it.
    pub set: String,
    /// What the set is of.
    pub what: &'static str,
    /// What hwloc says.
    pub source: io::Error,
}

impl Topology<'static> {
    /// Keeps only what belongs to some PUs or NUMA nodes. Counterpart: `hwloc_topology_restrict`.
    ///
    /// # Errors
    ///
    /// [`RestrictError`] when nothing would be left; the topology is then as it was. Without memory
    /// for it hwloc leaves nothing of use.
    #[doc(alias = "hwloc_topology_restrict")]
    pub fn restrict(&mut self, restriction: &Restriction) -> Result<(), RestrictError> {
        let set = bitmap::Bitmap::new(&restriction.set);
        // SAFETY: a loaded topology that nobody else refers to, and a set of our own.
        let error = unsafe {
            hwlocality_sys::hwloc_topology_restrict(self.raw, set.as_raw(), restriction.flags)
        };
        if error == 0 {
            return Ok(());
        }
        let what = match restriction.flags & Restriction::BY_NODESET {
            0 => "PUs",
            _ => "NUMA nodes",
        };
        Err(RestrictError {
            set: restriction.set.to_string(),
            what,
            source: io::Error::last_os_error(),
        })
    }
}
