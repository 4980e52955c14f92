//! The archive of a job: which part of a published topology it has, and the PUs of its ranks.

use crate::archive::{ArchivedTopology, MAX_SET_WORDS, StoredSets};
use crate::column::Column;
use crate::encode::{AlignedVec, EncodeError, Sets};
use crate::error::{OpenError, ValidationError};
use crate::header::{Header, Kind};
use crate::open::open_frame;
use crate::overlay::{self, Overlay};
use crate::set::Set;
use crate::stored_set::StoredWords;
use crate::validate::{ANY, ROWS_A_BYTE, check_rules, ensure, stored_sets};
use alloc::vec::Vec;
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
    pub sets: StoredSets,
}

impl Job {
    /// A job named `name`. `overlay` is its part of the topology in the segment `base`. `ranks` has
    /// each rank and its PUs, in the order of local ranks; no PUs if the rank is not bound.
    ///
    /// # Errors
    ///
    /// [`EncodeError::SetTooLarge`].
    pub fn new<'s>(
        base: [u8; 16],
        name: &str,
        overlay: Overlay,
        ranks: &'s [(u32, Option<Set>)],
    ) -> Result<Self, EncodeError> {
        let mut sets = Sets::default();
        let row_of = |(_, set): &'s (u32, Option<Set>)| {
            set.as_ref().map_or(NOT_BOUND, |set| u64::from(sets.intern(set)) + 1)
        };
        let set_of_rank: Vec<u64> = ranks.iter().map(row_of).collect();
        let numbers: Vec<u64> = ranks.iter().map(|(rank, _)| u64::from(*rank)).collect();
        Ok(Self {
            base,
            name: name.as_bytes().to_vec(),
            overlay,
            ranks: Column::pack(&numbers),
            set_of_rank: Column::pack(&set_of_rank),
            sets: sets.finish()?,
        })
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
        // Nearly always ranks are a fixed step apart.
        let count = self.ranks.len();
        let (first, last) = (self.ranks.get_u32(0), self.ranks.get_u32(count.checked_sub(1)?));
        let ahead = (rank.wrapping_sub(first) as usize).checked_mul(count - 1)?;
        let guess = ahead.checked_div(last.wrapping_sub(first) as usize).unwrap_or(0);
        let is_it = guess < count && self.ranks.get_u32(guess) == rank;
        if is_it { Some(guess) } else { self.ranks.iter().position(|it| it == u64::from(rank)) }
    }

    /// PUs of the rank with a local rank; `None` if it is not bound, and past the last rank.
    #[must_use]
    #[inline]
    pub fn words_of(&self, local_rank: usize) -> Option<StoredWords<'_>> {
        if local_rank >= self.set_of_rank.len() {
            return None;
        }
        let row = self.set_of_rank.get_u32(local_rank).checked_sub(1)?;
        Some(StoredWords::new(&self.sets, row))
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

/// Checks the overlay of a job against the topology `base`.
///
/// # Errors
///
/// [`ValidationError`] for the first rule that is broken.
pub fn validate(job: &ArchivedJob, base: &ArchivedTopology) -> Result<(), ValidationError> {
    overlay::validate(&job.overlay, base)
}

fn validate_ranks(job: &ArchivedJob, archive_len: usize) -> Result<(), ValidationError> {
    let is_name =
        core::str::from_utf8(&job.name).is_ok_and(|name| (1..=MAX_NAME).contains(&name.len()));
    ensure(is_name, "job.name", 0, "is UTF-8 of 1 to 64 bytes")?;
    let (ranks, sets) = (job.ranks.len(), job.sets.first_word.len());
    ensure(ranks <= MAX_RANKS, "job.ranks", ranks, "has 65536 ranks at most")?;
    check_rules(
        &[
            (&job.ranks, ranks, 1 << 32),
            (&job.set_of_rank, ranks, sets as u64 + 1),
            (&job.sets.first_word, sets, MAX_SET_WORDS as u64),
            (&job.sets.infinite, sets, 1),
            (&job.sets.start, sets + 1, ANY),
            (&job.sets.words, job.sets.words.len(), ANY),
        ],
        "job.ranks job.set_of_rank job.sets.first_word job.sets.infinite job.sets.start job.sets.words",
        archive_len.saturating_mul(ROWS_A_BYTE),
    )?;
    stored_sets(&job.sets, "job.sets.start")
}
