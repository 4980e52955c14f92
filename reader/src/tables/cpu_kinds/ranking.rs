//! The efficiency of CPU kinds. If a restriction has removed kinds, hwloc ranks the remaining ones
//! anew, and so does a view.

use super::kind::CpuKind;
use crate::topology::Topology;

/// The values that kinds are ranked by.
#[derive(Clone, Copy)]
enum Ranking {
    /// The efficiency that the platform or a user stated.
    Forced,
    /// The type of core if `by_type`, then the frequency if all kinds have one.
    Info { by_type: bool, frequency: Option<&'static str> },
}

impl<'a> Topology<'a> {
    /// The kinds that have visible PUs, in the order of the archive.
    pub(super) fn visible_kinds(self) -> impl Iterator<Item = CpuKind<'a>> {
        let kinds = self.index.archive.cpu_kinds.iter().map(move |kind| CpuKind::new(self, kind));
        kinds.filter(move |kind| self.index.overlay.is_none() || !kind.is_empty())
    }

    /// Whether a restriction has removed kinds, so that hwloc ranks the remaining ones anew.
    pub(super) fn has_lost_kinds(self) -> bool {
        self.index.overlay.is_some()
            && self.visible_kinds().count() < self.index.archive.cpu_kinds.len()
    }

    /// The first ranking that gives each remaining kind a value of its own; `None` if there is
    /// none.
    fn ranking(self) -> Option<Ranking> {
        let fits = |ranking: Ranking| {
            let values = || self.visible_kinds().map(move |kind| kind.value(ranking));
            let is_one = |value: u64| values().filter(|other| *other == Some(value)).count() == 1;
            values().all(|value| value.is_some_and(is_one))
        };
        let all = |name: &str| self.visible_kinds().all(|kind| kind.info(name).is_some());
        let frequency =
            ["FrequencyBaseMHz", "FrequencyMaxMHz"].into_iter().find(|frequency| all(frequency));
        let architecture = self.root().info("Architecture").unwrap_or_default();
        let is_arm = ["arm", "aarch"].into_iter().any(|name| architecture.starts_with(name));
        let by_type = !is_arm && all("CoreType");
        let info = Ranking::Info { by_type, frequency };
        let known = by_type || frequency.is_some();
        [Ranking::Forced, info]
            .into_iter()
            .filter(|ranking| known || matches!(ranking, Ranking::Forced))
            .find(|ranking| fits(*ranking))
    }
}

impl<'a> CpuKind<'a> {
    /// Efficiency as a rank: 0 is the most energy-efficient kind; `None` if unknown.
    #[must_use]
    pub fn efficiency(self) -> Option<u32> {
        match self.topology.has_lost_kinds() {
            false => self.kind.efficiency.to_native().checked_sub(1),
            true => self.rank_left(),
        }
    }

    /// Rank among the remaining kinds.
    fn rank_left(self) -> Option<u32> {
        if self.topology.visible_kinds().count() == 1 {
            return Some(0);
        }
        let ranking = self.topology.ranking()?;
        let own = self.value(ranking);
        let below = self.topology.visible_kinds().filter(|kind| kind.value(ranking) < own).count();
        u32::try_from(below).ok()
    }

    /// The value that a ranking sorts this kind by; `None` if it is not known.
    fn value(self, ranking: Ranking) -> Option<u64> {
        match ranking {
            Ranking::Forced => self.forced_efficiency().map(u64::from),
            Ranking::Info { by_type, frequency } => {
                let kind = match self.info("CoreType").filter(|_| by_type) {
                    Some("IntelCore") => 2,
                    Some("IntelAtom") => 1,
                    _ => 0,
                };
                let megahertz = frequency.and_then(|name| self.info(name)?.parse::<u64>().ok());
                Some(megahertz.unwrap_or(0).saturating_add(kind << 20))
            }
        }
    }

    /// Value of the first info with this name.
    fn info(self, name: &str) -> Option<&'a str> {
        self.infos().find(|info| info.name == name).map(|info| info.value)
    }
}
