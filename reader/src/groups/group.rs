//! Ranks that are on the same instance of a hardware resource.

use super::error::ResourceError;
use super::resource_type::ResourceType;
use super::resources::HwResources;
use super::uri::Uri;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// Ranks that are on the same instance. Counterpart: `MPI_Hw_groups_get` of the proposal to the
/// MPI Forum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HwGroup {
    /// The instances that all of these ranks are on, and no others, in the order of
    /// [`HwResources::types`].
    pub uris: Vec<Uri<'static>>,
    /// The ranks, in the order of local ranks.
    pub ranks: Vec<u32>,
}

/// An instance that a rank is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankGroup {
    /// The instance.
    pub uri: Uri<'static>,
    /// Number of ranks on it.
    pub size: u32,
    /// Number of the group: instances with the same ranks have the same one.
    pub group: u32,
}

/// The instances that a rank is on, those with the most ranks first.
#[derive(Clone)]
pub struct RankGroups {
    rows: [Row; MOST],
    len: usize,
    next: usize,
}

#[derive(Clone, Copy)]
struct Row {
    resource: ResourceType,
    instance: u32,
    size: u32,
    group: u32,
}

/// The greatest number of types: a topology has fewer than 256 levels.
const MOST: usize = 256 + ResourceType::OWN.len();

impl HwResources<'_> {
    /// The groups of a rank, from the largest to the smallest: one row for each type of which the
    /// rank is on an instance with `least` ranks or more. Rows with the same number of a group have
    /// the same ranks.
    ///
    /// # Errors
    ///
    /// [`ResourceError::NotHere`].
    pub fn groups_of(&self, rank: u32, least: usize) -> Result<RankGroups, ResourceError> {
        RankGroups::new(self, self.local_rank(rank)?, least)
    }

    /// All distinct groups of `least` ranks or more, from the largest to the smallest.
    #[must_use]
    pub fn groups(&self, least: usize) -> Vec<HwGroup> {
        all_groups(self, least)
    }
}

impl RankGroups {
    pub(super) fn new(
        resources: &HwResources<'_>,
        local_rank: usize,
        least: usize,
    ) -> Result<Self, ResourceError> {
        let none = Row { resource: ResourceType::Job, instance: 0, size: 0, group: 0 };
        let mut groups = Self { rows: [none; MOST], len: 0, next: 0 };
        for resource in resources.types() {
            let instances = resources.instances(Uri::of(resource))?;
            let Some(instance) = instances.of(local_rank) else { continue };
            let size = instances.iter().filter(|it| *it == Some(instance)).count();
            if size >= least {
                let size = u32::try_from(size).unwrap_or(u32::MAX);
                groups.insert(resources, Row { resource, instance, size, group: 0 })?;
            }
        }
        Ok(groups)
    }

    /// Adds a row after those of as many ranks.
    fn insert(&mut self, resources: &HwResources<'_>, new: Row) -> Result<(), ResourceError> {
        let known = self.rows.get(..self.len).unwrap_or_default();
        let place = known.iter().take_while(|row| row.size >= new.size).count();
        let mut group = None;
        for row in known.iter().filter(|row| row.size == new.size) {
            if group.is_none() && has_same_ranks(resources, row, &new)? {
                group = Some(row.group);
            }
        }
        let group =
            group.unwrap_or_else(|| known.iter().map(|row| row.group + 1).max().unwrap_or(0));
        if let Some(later) = self.rows.get_mut(place..=self.len) {
            later.rotate_right(1);
            later.first_mut().into_iter().for_each(|row| *row = Row { group, ..new });
            self.len += 1;
        }
        Ok(())
    }
}

fn has_same_ranks(
    resources: &HwResources<'_>,
    one: &Row,
    other: &Row,
) -> Result<bool, ResourceError> {
    let on = |row: &Row| resources.instances(Uri::of_instance(row.resource, row.instance));
    let (one, other) = (on(one)?, on(other)?);
    Ok(one.iter().zip(other.iter()).all(|(one, other)| one.is_some() == other.is_some()))
}

impl Iterator for RankGroups {
    type Item = RankGroup;

    fn next(&mut self) -> Option<RankGroup> {
        let row = self.rows.get(..self.len)?.get(self.next)?;
        self.next += 1;
        let uri = Uri::of_instance(row.resource, row.instance);
        Some(RankGroup { uri, size: row.size, group: row.group })
    }
}

/// All distinct groups of `least` ranks or more, the largest first.
fn all_groups(resources: &HwResources<'_>, least: usize) -> Vec<HwGroup> {
    let job = resources.job();
    let mut groups: Vec<Distinct> = Vec::new();
    // By the first rank of a group: the group with this first rank that was found last.
    let mut last_with: Vec<Option<usize>> = vec![None; job.rank_count()];
    // The instance in the high half, the local rank in the low one.
    let mut on: Vec<u64> = Vec::with_capacity(job.rank_count());
    for resource in resources.types() {
        let Ok(instances) = resources.instances(Uri::of(resource)) else { continue };
        on.clear();
        on.extend(
            (0..).zip(instances.iter()).filter_map(|(rank, it)| Some(u64::from(it?) << 32 | rank)),
        );
        on.sort_unstable();
        for same in on.chunk_by(|one, other| one >> 32 == other >> 32) {
            let Some(first) = same.first().copied().filter(|_| same.len() >= least) else {
                continue;
            };
            let Some(last) = last_with.get_mut(local_rank(first)) else { continue };
            let uri = Uri::of_instance(resource, (first >> 32) as u32);
            let mut known = core::iter::successors(*last, |at| groups.get(*at)?.before);
            match known.find(|at| groups.get(*at).is_some_and(|group| group.has(same))) {
                Some(at) => groups.get_mut(at).into_iter().for_each(|group| group.uris.push(uri)),
                None => {
                    let ranks = same.to_vec();
                    groups.push(Distinct { uris: vec![uri], ranks, before: *last });
                    *last = Some(groups.len() - 1);
                }
            }
        }
    }
    groups.sort_by_key(|group| Reverse(group.ranks.len()));
    let finished = |group: Distinct| HwGroup {
        ranks: group.ranks.iter().map(|it| job.rank_number(local_rank(*it))).collect(),
        uris: group.uris,
    };
    groups.into_iter().map(finished).collect()
}

/// The local rank of a pair of instance and local rank.
fn local_rank(pair: u64) -> usize {
    usize::try_from(pair & u64::from(u32::MAX)).unwrap_or(usize::MAX)
}

/// A group while groups are collected.
struct Distinct {
    uris: Vec<Uri<'static>>,
    /// Pairs of any instance and a local rank.
    ranks: Vec<u64>,
    /// The group with the same first rank that was found before.
    before: Option<usize>,
}

impl Distinct {
    fn has(&self, same: &[u64]) -> bool {
        self.ranks.len() == same.len()
            && self
                .ranks
                .iter()
                .zip(same)
                .all(|(one, other)| local_rank(*one) == local_rank(*other))
    }
}
