//! The archive of a job: which part of a published topology it has, and the PUs of its ranks.

use crate::archive::ArchivedTopology;
use crate::column::{ArchivedColumn, Column};
use crate::depth::Depth;
use crate::encode::{AlignedVec, EncodeError};
use crate::error::{OpenError, ValidationError};
use crate::header::{Header, Kind};
use crate::open::open_frame;
use crate::overlay::{self, Overlay};
use crate::pu_sets::{PuSet, PuSets};
use crate::validate::{ROWS_A_BYTE, check_rules, ensure};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;
use rkyv::{Archive, Serialize};

/// Maximum length of the name of a job, in bytes.
pub const MAX_NAME: usize = 64;

/// Maximum number of ranks of a job on one node.
pub const MAX_RANKS: usize = 1 << 16;

/// In [`Job::set_of_rank`]: the rank is not bound.
const NOT_BOUND: u64 = 0;

/// A job on one node.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Job {
    pub base: [u8; 16],
    pub name: Vec<u8>,
    pub overlay: Overlay,
    pub ranks: Column,
    pub set_of_rank: Column,
    pub sets: PuSets,
    pub nics: DevicesOfRanks,
    pub gpus: DevicesOfRanks,
}

/// The devices that ranks were given: as many for each rank, in the order of local ranks. `device`
/// has logical indexes of OS devices, and those of PCI devices above the number of OS devices.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct DevicesOfRanks {
    pub per_rank: u32,
    pub device: Column,
}

impl DevicesOfRanks {
    /// Packs `per_rank` devices for each rank, by their logical indexes.
    #[must_use]
    pub fn pack(per_rank: u32, devices: &[u32]) -> Self {
        let device: Vec<u64> = devices.iter().map(|device| u64::from(*device)).collect();
        Self { per_rank, device: Column::pack(&device) }
    }
}

impl ArchivedDevicesOfRanks {
    /// The devices of the rank with a local rank, by their logical indexes.
    pub fn of(&self, local_rank: usize) -> impl ExactSizeIterator<Item = u32> + '_ {
        let per_rank = self.per_rank.to_native() as usize;
        let first = local_rank.saturating_mul(per_rank).min(self.device.len());
        let end = first.saturating_add(per_rank).min(self.device.len());
        (first..end).map(|row| self.device.get_u32(row))
    }
}

/// A rank, and the runs of its PUs by ascending logical index; `None` if it is not bound.
pub type Rank = (u32, Option<Vec<Range<u32>>>);

impl Job {
    /// A job named `name`, whose ranks have no devices yet. `overlay` is its part of the topology
    /// in the segment `base`. `ranks` are in the order of local ranks.
    #[must_use]
    pub fn new<'r>(base: [u8; 16], name: &str, overlay: Overlay, ranks: &'r [Rank]) -> Self {
        let mut sets: Vec<&[Range<u32>]> = Vec::new();
        let mut places = BTreeMap::new();
        let row_of = |(_, runs): &'r Rank| {
            let Some(runs) = runs else { return NOT_BOUND };
            let key: Vec<(u32, u32)> = runs.iter().map(|run| (run.start, run.end)).collect();
            *places.entry(key).or_insert_with(|| {
                sets.push(runs);
                sets.len() as u64
            })
        };
        let set_of_rank: Vec<u64> = ranks.iter().map(row_of).collect();
        let numbers: Vec<u64> = ranks.iter().map(|(rank, _)| u64::from(*rank)).collect();
        Self {
            base,
            name: name.as_bytes().to_vec(),
            overlay,
            ranks: Column::pack(&numbers),
            set_of_rank: Column::pack(&set_of_rank),
            sets: PuSets::pack(&sets),
            ..Self::default()
        }
    }

    /// Archives the job. The bytes are valid at any address that is a multiple of 16.
    ///
    /// # Errors
    ///
    /// [`EncodeError::Serialize`].
    pub fn to_bytes(&self) -> Result<AlignedVec, EncodeError> {
        rkyv::to_bytes::<rkyv::rancor::Error>(self)
            .map_err(|error| EncodeError::Serialize(error.into()))
    }
}

impl ArchivedJob {
    /// Name of the job.
    #[must_use]
    pub fn name(&self) -> &str {
        core::str::from_utf8(&self.name).unwrap_or_default()
    }

    /// Number of ranks on this node.
    #[must_use]
    pub fn rank_count(&self) -> usize {
        self.ranks.len()
    }

    /// Local rank of a rank; `None` if the rank is not on this node.
    #[must_use]
    #[inline]
    pub fn local_rank_of(&self, rank: u32) -> Option<usize> {
        let count = self.ranks.len();
        let is_it = |place: &usize| *place < count && self.ranks.get_u32(*place) == rank;
        // Nearly always ranks are contiguous, or a fixed step apart.
        let least = u32::try_from(self.ranks.base()).unwrap_or(0);
        let ahead = rank.checked_sub(least)? as usize;
        Some(ahead).filter(is_it).or_else(|| {
            let span = self.ranks.get_u32(count.checked_sub(1)?).checked_sub(least)? as usize;
            let guess = ahead.checked_mul(count - 1)?.checked_div(span).filter(is_it);
            guess.or_else(|| self.ranks.iter().position(|it| it == u64::from(rank)))
        })
    }

    /// PUs of the rank with a local rank; `None` if it is not bound, and past the last rank.
    #[must_use]
    #[inline]
    pub fn pus_of(&self, local_rank: usize) -> Option<PuSet<'_>> {
        Some(self.sets.set(self.set_of(local_rank)?))
    }

    /// Row of the set of PUs of the rank with a local rank; `None` if it is not bound, and past the
    /// last rank.
    #[must_use]
    #[inline]
    pub fn set_of(&self, local_rank: usize) -> Option<u32> {
        if local_rank >= self.set_of_rank.len() {
            return None;
        }
        self.set_of_rank.get_u32(local_rank).checked_sub(1)
    }
}

/// Checks the segment of a job and returns its header and its archive, which is read in place. The
/// overlay is not checked here, because that needs the topology: [`validate`] does it.
///
/// # Errors
///
/// [`OpenError`] for the first check that fails.
pub fn open(segment: &[u8]) -> Result<(Header, &ArchivedJob), OpenError> {
    let (header, archive) = open_frame(segment, Kind::Job)?;
    let job = rkyv::access::<ArchivedJob, rkyv::rancor::Error>(archive)
        .map_err(|error: rkyv::rancor::Error| OpenError::Archive(error.into()))?;
    validate_ranks(job, archive.len())?;
    Ok((header, job))
}

/// Checks the overlay and the sets of a job against the topology `base`.
///
/// # Errors
///
/// [`ValidationError`] for the first rule that is broken.
pub fn validate(job: &ArchivedJob, base: &ArchivedTopology) -> Result<(), ValidationError> {
    let pus = base.levels.pus().len() as u64;
    ensure(job.sets.is_below(pus), "job.sets", 0, "has PUs of the topology")?;
    let count = |depth: Depth| {
        let level = depth.level(base.levels.normal_rows().len()).unwrap_or(usize::MAX);
        let (first, end) = (base.levels.first(level), base.levels.first(level.saturating_add(1)));
        u64::from(end.saturating_sub(first))
    };
    let devices = count(Depth::OsDevice) + count(Depth::PciDevice);
    for (given, name) in [(&job.nics, "job.nics"), (&job.gpus, "job.gpus")] {
        ensure(given.device.is_below(devices), name, 0, "has OS or PCI devices of the topology")?;
    }
    overlay::validate(&job.overlay, base)
}

fn validate_ranks(job: &ArchivedJob, archive_len: usize) -> Result<(), ValidationError> {
    let is_name =
        core::str::from_utf8(&job.name).is_ok_and(|name| (1..=MAX_NAME).contains(&name.len()));
    ensure(is_name, "job.name", 0, "is UTF-8 of 1 to 64 bytes")?;
    let (ranks, sets) = (job.ranks.len(), job.sets.len() as u64);
    ensure(ranks <= MAX_RANKS, "job.ranks", ranks, "has 65536 ranks at most")?;
    let most_rows = archive_len.saturating_mul(ROWS_A_BYTE);
    let columns = [(&job.ranks, ranks, 1 << 32), (&job.set_of_rank, ranks, sets + 1)];
    check_rules(&columns, "job.ranks job.set_of_rank", most_rows)?;
    ensure(are_different(&job.ranks), "job.ranks", 0, "are different")?;
    let of_ranks =
        |given: &ArchivedDevicesOfRanks| ranks.saturating_mul(given.per_rank.to_native() as usize);
    let devices = [&job.nics, &job.gpus].map(|given| (&given.device, of_ranks(given), 1 << 32));
    check_rules(&devices, "job.nics.device job.gpus.device", most_rows)?;
    job.sets.validate(most_rows)
}

/// Whether all values of a column are different. Nearly always they ascend.
fn are_different(column: &ArchivedColumn) -> bool {
    if (1..column.len()).all(|row| column.get(row - 1) < column.get(row)) {
        return true;
    }
    let mut all: Vec<u64> = column.iter().collect();
    all.sort_unstable();
    all.is_sorted_by(|one, next| one < next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::topology;
    use crate::validate::tests::machine;
    use rkyv::rancor::Error;

    /// The error of a job of two ranks with these NICs, on a machine without OS devices.
    fn refused(per_rank: u32, devices: &[u32]) -> &'static str {
        let base = rkyv::to_bytes::<Error>(&topology(&machine(2)).unwrap()).unwrap();
        let base = rkyv::access::<ArchivedTopology, Error>(&base).unwrap();
        let ranks = [(0, None), (1, None)];
        let mut job = Job::new([0; 16], "devices", Overlay::default(), &ranks);
        job.nics = DevicesOfRanks::pack(per_rank, devices);
        let bytes = job.to_bytes().unwrap();
        let job = rkyv::access::<ArchivedJob, Error>(&bytes).unwrap();
        let found = validate_ranks(job, bytes.len()).and_then(|()| validate(job, base));
        found.unwrap_err().rule
    }

    #[test]
    fn devices_of_ranks_are_os_devices_as_many_for_each_rank() {
        assert_eq!(refused(1, &[0, 0]), "has OS or PCI devices of the topology");
        for (per_rank, devices) in [(1, &[0][..]), (2, &[0, 0]), (0, &[0]), (u32::MAX, &[0, 0])] {
            assert_eq!(refused(per_rank, devices), "has a value for each row of its table");
        }
    }

    #[test]
    fn ranks_have_pus_of_the_topology() {
        let base = rkyv::to_bytes::<Error>(&topology(&machine(2)).unwrap()).unwrap();
        let base = rkyv::access::<ArchivedTopology, Error>(&base).unwrap();
        let pus = u32::try_from(base.levels.pus().len()).unwrap();
        // Runs that overlap, so that their sum says nothing.
        let up_to = |end| Some(std::iter::once(0..end).collect());
        let ranks: [Rank; 3] = [(0, up_to(pus)), (1, up_to(pus + 1)), (2, up_to(pus))];
        for (count, is_right) in [(1, true), (2, false), (3, false)] {
            let job = Job::new([0; 16], "pus", Overlay::default(), &ranks[..count]);
            let bytes = job.to_bytes().unwrap();
            let job = rkyv::access::<ArchivedJob, Error>(&bytes).unwrap();
            let found = validate(job, base).map_err(|error| error.rule);
            assert_eq!(found == Err("has PUs of the topology"), !is_right, "{found:?}");
        }
    }

    #[test]
    fn a_job_has_each_rank_once() {
        for (numbers, is_right) in
            [([4, 7, 9], true), ([9, 4, 7], true), ([4, 4, 9], false), ([9, 4, 9], false)]
        {
            let ranks = numbers.map(|number| (number, None));
            let bytes = Job::new([0; 16], "ranks", Overlay::default(), &ranks).to_bytes().unwrap();
            let job = rkyv::access::<ArchivedJob, Error>(&bytes).unwrap();
            let found = validate_ranks(job, bytes.len()).map_err(|error| error.rule);
            assert_eq!(found, if is_right { Ok(()) } else { Err("are different") });
        }
    }

    #[test]
    fn a_rank_has_its_own_devices_and_those_past_the_last_have_none() {
        let given = DevicesOfRanks::pack(2, &[4, 5, 6, 7]);
        let bytes = rkyv::to_bytes::<Error>(&given).unwrap();
        let given = rkyv::access::<ArchivedDevicesOfRanks, Error>(&bytes).unwrap();
        let of = |rank| given.of(rank).collect::<Vec<_>>();
        assert_eq!([of(0), of(1), of(2), of(usize::MAX)], [vec![4, 5], vec![6, 7], vec![], vec![]]);
    }
}
