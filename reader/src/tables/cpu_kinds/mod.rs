//! The CPU kinds of a topology, and the kind of a set of PUs.

mod kind;
mod ranking;

pub use kind::CpuKind;

use crate::index::Words;
use crate::topology::Topology;
use topobroker_layout::set::Set;

impl<'a> Topology<'a> {
    /// CPU kinds, the most energy-efficient first if their efficiency is known. Counterpart:
    /// `hwloc_cpukinds_get_info`.
    #[doc(alias = "hwloc_cpukinds_get_info")]
    pub fn cpu_kinds(self) -> impl Iterator<Item = CpuKind<'a>> {
        let ranked =
            self.has_lost_kinds() && self.visible_kinds().all(|kind| kind.efficiency().is_some());
        let count = if ranked { self.visible_kinds().count() } else { 0 };
        let by_rank = (0u32..).take(count).filter_map(move |rank| {
            self.visible_kinds().find(move |kind| kind.efficiency() == Some(rank))
        });
        by_rank.chain(self.visible_kinds().filter(move |_| !ranked))
    }

    /// The CPU kind of a set of PUs, if they are all of one kind. Counterpart:
    /// `hwloc_cpukinds_get_by_cpuset`.
    ///
    /// # Errors
    ///
    /// [`NoCpuKind`] if the set is empty, if its PUs are not all of one kind, or if no PU has a
    /// known kind.
    #[doc(alias = "hwloc_cpukinds_get_by_cpuset")]
    pub fn cpu_kind_of(self, set: &Set) -> Result<CpuKind<'a>, NoCpuKind> {
        if set.is_empty() {
            return Err(NoCpuKind::Empty);
        }
        let first = self.cpu_kinds().find(|kind| kind.stored().intersects(set));
        let kind = first.ok_or(NoCpuKind::Unknown)?;
        if Words::is_included_in(set, &kind.stored()) { Ok(kind) } else { Err(NoCpuKind::Several) }
    }
}

/// Why a set of PUs has no single CPU kind.
#[derive(Debug, thiserror::Error, Clone, Copy, PartialEq, Eq)]
pub enum NoCpuKind {
    /// The set is empty. Counterpart: `EINVAL`.
    #[error("the set of PUs is empty; expected one PU at least")]
    Empty,
    /// The PUs are not all of one kind. Counterpart: `EXDEV`.
    #[error("the PUs are of several CPU kinds; ask for each kind by itself")]
    Several,
    /// No PU has a known kind. Counterpart: `ENOENT`.
    #[error("the CPU kind of the PUs is not known; hwloc knows it of some machines only")]
    Unknown,
}
