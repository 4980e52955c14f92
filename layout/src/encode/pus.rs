//! Encodes how PUs are numbered, and finds how many PUs the objects of each depth cover.

use super::builder::Builder;
use crate::archive::PuRun;
use crate::depth::Depth;
use crate::description::Object;
use crate::set::Set;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

impl Builder<'_> {
    /// The PUs by ascending OS index, in as few runs as possible.
    pub(super) fn pu_runs(&self) -> Vec<PuRun> {
        let logical = 0u32..;
        let mut pus: Vec<(u32, u32)> = self
            .pu_os_indexes
            .iter()
            .zip(logical)
            .filter_map(|(os, l)| Some(((*os)?, l)))
            .collect();
        pus.sort_unstable();
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

    /// Makes memory objects cover the PUs of their cpuset, if these PUs are contiguous. Other
    /// memory objects keep the PUs of the normal object that they are attached to.
    pub(super) fn find_pus_of_memory(&mut self) {
        let logical: BTreeMap<u32, u32> =
            (0..).zip(&self.pu_os_indexes).filter_map(|(pu, os)| Some(((*os)?, pu))).collect();
        for (object, pus) in self.by_id.iter().zip(&mut self.pus_by_id) {
            let Some(sets) = object.sets.as_ref().filter(|_| object.object_type.is_memory()) else {
                continue;
            };
            let found = sets.cpuset.iter().map(|os| logical.get(&os).copied());
            let found: Option<Vec<u32>> = found.collect();
            let ends = found.iter().flatten();
            match (&found, ends.clone().min(), ends.max()) {
                (Some(found), Some(&low), Some(&high))
                    if found.len() == (high - low) as usize + 1 =>
                {
                    *pus = (low, high - low + 1);
                }
                (Some(_), None, None) if !sets.cpuset.is_infinite() => pus.1 = 0,
                _ => {}
            }
        }
    }

    /// For each depth the number of PUs of each object if the level is regular, otherwise 0. A
    /// level is regular if its objects have the same number of PUs, one after the other, and have
    /// all PUs together. No level is regular if the cpuset of any normal or memory object differs
    /// from the OS indexes of its PUs.
    pub(super) fn pus_of_levels(&self) -> Vec<u32> {
        let with_pus = self.first_of(Depth::Bridge);
        let objects = self.by_id.iter().zip(&self.pus_by_id);
        let is_run = |(object, pus): (&&Object, &(u32, u32))| {
            object.sets.as_ref().is_some_and(|sets| self.is_os_indexes(&sets.cpuset, *pus))
        };
        if !objects.clone().take(with_pus).all(is_run) {
            return vec![0; self.normal_levels];
        }
        let tree = objects.take(self.first_of(Depth::NumaNode));
        let mut levels = vec![None; self.normal_levels];
        for (object, &(first, count)) in tree {
            let in_order = u64::from(first) == u64::from(object.logical_index) * u64::from(count);
            if let Some(level) = levels.get_mut(self.level_of(object)) {
                let alike = in_order && level.is_none_or(|pus| pus == count);
                *level = Some(if alike { count } else { 0 });
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

/// Whether a PU continues a run.
fn continues(run: &PuRun, os: u32, logical: u32) -> bool {
    if os != run.os_first + run.count || logical <= run.logical_first {
        return false;
    }
    run.count == 1 || logical == run.logical_first + run.count * run.step
}
