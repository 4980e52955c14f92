//! One CPU kind.

use crate::index::{VisiblePart, Words};
use crate::object::Info;
use crate::topology::Topology;
use topobroker_layout::archive::ArchivedCpuKind;
use topobroker_layout::set::{Format, Set};

/// A CPU kind: PUs with common properties. Counterpart: what `hwloc_cpukinds_get_info` returns.
#[derive(Clone, Copy)]
pub struct CpuKind<'a> {
    pub(super) topology: Topology<'a>,
    pub(super) kind: &'a ArchivedCpuKind,
}

impl core::fmt::Debug for CpuKind<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "CpuKind {{{}}}", self.cpuset().to_text(Format::List))
    }
}

impl<'a> CpuKind<'a> {
    pub(crate) fn new(topology: Topology<'a>, kind: &'a ArchivedCpuKind) -> Self {
        Self { topology, kind }
    }

    /// The PUs of the kind.
    #[must_use]
    pub fn cpuset(self) -> Set {
        self.stored().to_set()
    }

    pub(super) fn is_empty(self) -> bool {
        self.stored().is_empty()
    }

    pub(super) fn stored(self) -> VisiblePart<'a> {
        self.topology.index.visible_part(self.kind.cpuset.to_native())
    }

    /// Efficiency that the platform or a user stated. hwloc reports it only in its XML.
    #[must_use]
    pub fn forced_efficiency(self) -> Option<u32> {
        self.kind.forced_efficiency.to_native().checked_sub(1)
    }

    /// Pairs of name and value, such as `CoreType`.
    pub fn infos(self) -> impl Iterator<Item = Info<'a>> + use<'a> {
        let Self { topology, kind } = self;
        (0..kind.info_name.len()).map(move |row| Info {
            name: topology.index.string(kind.info_name.get_u32(row)),
            value: topology.index.string(kind.info_value.get_u32(row)),
        })
    }
}
