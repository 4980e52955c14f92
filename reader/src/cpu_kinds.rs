//! CPU kinds: PUs that are alike, and how frugal they are.

mod ranking;

use crate::extent::PusLeft;
use crate::object::Info;
use crate::stored_set::Words;
use crate::topology::Topology;
use topobroker_layout::archive::ArchivedCpuKind;
use topobroker_layout::set::Set;

impl<'a> Topology<'a> {
    /// CPU kinds, the most frugal first if their efficiency is known. Counterpart:
    /// `hwloc_cpukinds_get_info`.
    #[doc(alias = "hwloc_cpukinds_get_info")]
    pub fn cpu_kinds(self) -> impl Iterator<Item = CpuKind<'a>> {
        let ranked =
            self.has_lost_kinds() && self.kinds_left().all(|kind| kind.efficiency().is_some());
        let count = if ranked { self.kinds_left().count() } else { 0 };
        let by_rank = (0u32..).take(count).filter_map(move |rank| {
            self.kinds_left().find(move |kind| kind.efficiency() == Some(rank))
        });
        by_rank.chain(self.kinds_left().filter(move |_| !ranked))
    }

    /// The kind that all PUs of a set are of. Counterpart: `hwloc_cpukinds_get_by_cpuset`.
    ///
    /// # Errors
    ///
    /// [`NoCpuKind`]: the set is empty, has PUs of several kinds, or of none.
    #[doc(alias = "hwloc_cpukinds_get_by_cpuset")]
    pub fn cpu_kind_of(self, set: &Set) -> Result<CpuKind<'a>, NoCpuKind> {
        if set.is_empty() {
            return Err(NoCpuKind::Empty);
        }
        let first = self.cpu_kinds().find(|kind| kind.stored().meets(set));
        let kind = first.ok_or(NoCpuKind::Unknown)?;
        if set.is_within(&kind.stored()) { Ok(kind) } else { Err(NoCpuKind::Several) }
    }
}

/// Why PUs are of no one kind.
#[derive(Debug, thiserror::Error, Clone, Copy, PartialEq, Eq)]
pub enum NoCpuKind {
    /// hwloc's EINVAL.
    #[error("the set of PUs is empty; expected one PU at least")]
    Empty,
    /// hwloc's EXDEV.
    #[error("the PUs are of several CPU kinds; ask for each kind by itself")]
    Several,
    /// hwloc's ENOENT.
    #[error("the CPU kind of the PUs is not known; hwloc knows it of some machines only")]
    Unknown,
}

/// PUs of one kind. Counterpart: what `hwloc_cpukinds_get_info` returns.
#[derive(Clone, Copy)]
pub struct CpuKind<'a> {
    topology: Topology<'a>,
    kind: &'a ArchivedCpuKind,
}

impl std::fmt::Debug for CpuKind<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CpuKind({}, efficiency {:?})", self.cpuset(), self.efficiency())
    }
}

impl<'a> CpuKind<'a> {
    pub(crate) fn new(topology: Topology<'a>, kind: &'a ArchivedCpuKind) -> Self {
        Self { topology, kind }
    }

    /// The PUs.
    #[must_use]
    pub fn cpuset(self) -> Set {
        self.stored().to_set()
    }

    fn is_empty(self) -> bool {
        self.stored().is_within(&Set::new())
    }

    fn stored(self) -> PusLeft<'a> {
        self.topology.pus_left(self.kind.cpuset.to_native())
    }

    /// Rank from 0, the most frugal; `None` if unknown.
    #[must_use]
    pub fn efficiency(self) -> Option<u32> {
        match self.topology.has_lost_kinds() {
            false => self.kind.efficiency.to_native().checked_sub(1),
            true => self.rank_left(),
        }
    }

    /// Efficiency that the platform or a user stated, which hwloc keeps in its XML.
    #[must_use]
    pub fn forced_efficiency(self) -> Option<u32> {
        self.kind.forced_efficiency.to_native().checked_sub(1)
    }

    /// Pairs of name and value, such as `CoreType`.
    pub fn infos(self) -> impl Iterator<Item = Info<'a>> + use<'a> {
        let Self { topology, kind } = self;
        (0..kind.info_name.len()).map(move |row| Info {
            name: topology.string(kind.info_name.get_u32(row)),
            value: topology.string(kind.info_value.get_u32(row)),
        })
    }
}
