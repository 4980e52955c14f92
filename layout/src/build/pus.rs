//! How PUs are numbered, and how many of them the objects of each depth cover.

use super::Builder;
use crate::archive::PuRun;
use crate::set::Set;

impl Builder<'_> {
    /// The PUs by ascending OS index, in as few runs as that order allows.
    pub(super) fn pu_runs(&self) -> Vec<PuRun> {
        let logical = 0u32..;
        let mut pus: Vec<(u32, u32)> = self
            .pu_os_indexes
            .iter()
            .zip(logical)
            .filter_map(|(os, l)| Some(((*os)?, l)))
            .collect();
        pus.sort_unstable();
        // Two PUs of one index are no machine: the first is found.
        pus.dedup_by_key(|(os, _)| *os);
        let mut runs: Vec<PuRun> = Vec::new();
        for (os, logical) in pus {
            match runs.last_mut().filter(|run| continues(run, os, logical)) {
                Some(run) => {
                    run.step = (logical - run.logical_first) / run.count;
                    run.count += 1;
                }
                None => {
                    runs.push(PuRun { os_first: os, count: 1, logical_first: logical, step: 1 })
                }
            }
        }
        runs
    }

    /// PUs of each object by depth, where all objects of a depth have the same number and the
    /// cpuset of every object is its PUs; 0 elsewhere.
    pub(super) fn pus_of_levels(&self) -> Vec<u32> {
        let tree = self.by_id.iter().zip(&self.pus_by_id).take(self.first_special(0));
        let mut plain =
            tree.clone().filter_map(|(object, pus)| Some((object.sets.as_ref()?, *pus)));
        if !plain.all(|(sets, pus)| self.is_os_indexes(&sets.cpuset, pus)) {
            return vec![0; self.normal_levels];
        }
        let mut levels = vec![None; self.normal_levels];
        for (object, &(_, count)) in tree {
            if let Some(level) = levels.get_mut(self.level_of(object)) {
                *level = Some(if level.is_none_or(|pus| pus == count) { count } else { 0 });
            }
        }
        let all = u32::try_from(self.pu_os_indexes.len()).unwrap_or(u32::MAX);
        let covers = |(level, pus): (usize, Option<u32>)| {
            let objects = self.level_first.get(level + 1)? - self.level_first.get(level)?;
            pus.filter(|pus| u64::from(*pus) * objects == u64::from(all))
        };
        levels.into_iter().enumerate().map(|level| covers(level).unwrap_or(0)).collect()
    }

    /// Whether `set` is exactly the OS indexes of a run of PUs.
    pub(super) fn is_os_indexes(&self, set: &Set, (first, count): (u32, u32)) -> bool {
        let run = self.pu_os_indexes.get(first as usize..(first + count) as usize);
        set.weight() == Some(count)
            && run.is_some_and(|run| run.iter().all(|os| os.is_some_and(|os| set.contains(os))))
    }
}

/// Whether a PU goes on where a run ends.
fn continues(run: &PuRun, os: u32, logical: u32) -> bool {
    if os != run.os_first + run.count || logical <= run.logical_first {
        return false;
    }
    run.count == 1 || logical == run.logical_first + run.count * run.step
}
