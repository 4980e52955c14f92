//! CPU kinds: PUs that are alike, and how frugal they are.

use crate::object::Info;
use crate::topology::Topology;
use topobroker_layout::set::Set;

/// PUs of one kind. Counterpart: what `hwloc_cpukinds_get_info` returns.
#[derive(Debug, Clone, Copy)]
pub struct CpuKind<'a> {
    topology: Topology<'a>,
    index: usize,
}

impl<'a> CpuKind<'a> {
    pub(crate) fn new(topology: Topology<'a>, index: usize) -> Self {
        Self { topology, index }
    }

    /// The PUs.
    #[must_use]
    pub fn cpuset(self) -> Set {
        self.topology.set(self.topology.archive.cpu_kinds.cpuset.get_u32(self.index))
    }

    /// Rank from 0, the most frugal; `None` if unknown.
    #[must_use]
    pub fn efficiency(self) -> Option<u32> {
        self.topology.archive.cpu_kinds.efficiency.get_u32(self.index).checked_sub(1)
    }

    /// Efficiency that the platform or a user stated, which hwloc keeps in its XML.
    #[must_use]
    pub fn forced_efficiency(self) -> Option<u32> {
        self.topology.archive.cpu_kinds.forced_efficiency.get_u32(self.index).checked_sub(1)
    }

    /// Pairs of name and value, such as `CoreType`.
    pub fn infos(self) -> impl Iterator<Item = Info<'a>> {
        let kinds = &self.topology.archive.cpu_kinds;
        let start = |index| kinds.info_start.get_u32(index) as usize;
        (start(self.index)..start(self.index + 1)).map(move |row| Info {
            name: self.topology.string(kinds.info_name.get_u32(row)),
            value: self.topology.string(kinds.info_value.get_u32(row)),
        })
    }
}
