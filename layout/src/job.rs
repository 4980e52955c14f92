//! The archive of a job: which part of a published topology it has, and the PUs of its ranks.

use crate::archive::{ArchivedTopology, MAX_SET_WORDS};
use crate::column::{ArchivedColumn, Column};
use crate::encode::{AlignedVec, EncodeError};
use crate::error::{OpenError, ValidationError};
use crate::header::{Header, Kind};
use crate::open::open_frame;
use crate::overlay::{self, Overlay};
use crate::set::Set;
use crate::validate::ensure;
use alloc::vec::Vec;
use rkyv::{Archive, Serialize};

/// Maximum length of the name of a job, in bytes.
pub const MAX_NAME: usize = 64;

/// Maximum number of ranks of a job on one node.
pub const MAX_RANKS: usize = 1 << 16;

/// A job on one node.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Job {
    pub base: [u8; 16],
    pub name: Vec<u8>,
    pub overlay: Overlay,
    pub ranks: Column,
    pub set_of_rank: Column,
    pub sets: Vec<RankSet>,
}

/// PUs of ranks: the words of a set, without the leading zero words.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct RankSet {
    pub first_word: u32,
    pub words: Vec<u64>,
}

impl From<&Set> for RankSet {
    fn from(set: &Set) -> Self {
        let words = set.words();
        let first = words.iter().position(|word| *word != 0).unwrap_or(words.len());
        Self {
            first_word: u32::try_from(first).unwrap_or(u32::MAX),
            words: words.get(first..).unwrap_or_default().to_vec(),
        }
    }
}

impl Job {
    /// A job named `name`. `overlay` is its part of the topology in the segment `base`. `ranks` has
    /// each rank and its PUs, in the order of local ranks.
    #[must_use]
    pub fn new(base: [u8; 16], name: &str, overlay: Overlay, ranks: &[(u32, Set)]) -> Self {
        let mut sets: Vec<RankSet> = Vec::new();
        let mut places = alloc::collections::BTreeMap::new();
        let set_of_rank: Vec<u64> = ranks
            .iter()
            .map(|(_, set)| {
                let next = sets.len() as u64;
                *places.entry(set.words()).or_insert_with(|| {
                    sets.push(RankSet::from(set));
                    next
                })
            })
            .collect();
        let numbers: Vec<u64> = ranks.iter().map(|(rank, _)| u64::from(*rank)).collect();
        Self {
            base,
            name: name.as_bytes().to_vec(),
            overlay,
            ranks: Column::pack(&numbers),
            set_of_rank: Column::pack(&set_of_rank),
            sets,
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

    /// PUs of the rank with a local rank; `None` past the last one.
    #[must_use]
    pub fn cpuset_of(&self, local_rank: usize) -> Option<Set> {
        if local_rank >= self.set_of_rank.len() {
            return None;
        }
        let set = self.sets.get(self.set_of_rank.get_u32(local_rank) as usize)?;
        let empty = core::iter::repeat_n(0, set.first_word.to_native() as usize);
        let words = set.words.iter().map(|word| word.to_native());
        Some(Set::from_words(empty.chain(words), false))
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
    validate_ranks(job)?;
    Ok((header, job))
}

/// Checks the overlay of a job against the topology `base`.
///
/// # Errors
///
/// [`ValidationError`] for the first rule that is broken.
pub fn validate(job: &ArchivedJob, base: &ArchivedTopology) -> Result<(), ValidationError> {
    overlay::validate(&job.overlay, base)
}

fn validate_ranks(job: &ArchivedJob) -> Result<(), ValidationError> {
    let is_name =
        core::str::from_utf8(&job.name).is_ok_and(|name| (1..=MAX_NAME).contains(&name.len()));
    ensure(is_name, "job.name", 0, "is UTF-8 of 1 to 64 bytes")?;
    let below = |column: &ArchivedColumn, limit: u64| {
        column.is_sound() && column.iter().all(|value| value < limit)
    };
    ensure(
        job.ranks.len() <= MAX_RANKS && below(&job.ranks, 1 << 32),
        "job.ranks",
        0,
        "is a rank of 32 bits, of 65536 at most",
    )?;
    ensure(
        job.set_of_rank.len() == job.ranks.len() && below(&job.set_of_rank, job.sets.len() as u64),
        "job.set_of_rank",
        0,
        "is a set for each rank",
    )?;
    let fits = |set: &ArchivedRankSet| {
        (set.first_word.to_native() as usize).saturating_add(set.words.len()) <= MAX_SET_WORDS
    };
    ensure(job.sets.iter().all(fits), "job.sets", 0, "has no more words than a set may have")
}
