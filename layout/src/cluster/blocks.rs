//! Parts of a cluster that are read piece by piece: records and texts in blocks, each with a
//! checksum of its own. So a process checks and reads the block that it needs, however large the
//! part is.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Least number of bytes of a block, its checksum included.
pub const BLOCK: usize = 1024;

/// Most bytes of a record. A table with longer ones has no records.
const MOST_RECORD: u32 = 1 << 20;

/// Number of bytes of the checksum at the start of each block.
const CHECK: usize = 8;

/// The bytes of a cluster's file: mapped, or read from it.
pub trait ClusterBytes<'a> {
    /// `len` bytes from the offset `at`; `None` if there are not that many.
    fn bytes(&self, at: u64, len: usize) -> Option<Cow<'a, [u8]>>;
}

impl<'a> ClusterBytes<'a> for &'a [u8] {
    fn bytes(&self, at: u64, len: usize) -> Option<Cow<'a, [u8]>> {
        let at = usize::try_from(at).ok()?;
        self.get(at..at.checked_add(len)?).map(Cow::Borrowed)
    }
}

/// Records of one length, of which each block has as many as fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Records {
    /// Offset of the first block.
    pub at: u64,
    /// Number of bytes of a record.
    pub record: u32,
    /// Number of records.
    pub count: u32,
    /// Number of records of a block. Looked up often, and a division to compute.
    per_block: u32,
}

impl Records {
    /// Records that are at an offset.
    #[must_use]
    pub fn new(at: u64, record: u32, count: u32) -> Self {
        let (record, count) = if record > MOST_RECORD { (0, 0) } else { (record, count) };
        let per_block = (block_len(record as usize) - CHECK) / (record as usize).max(1);
        Self { at, record, count, per_block: u32::try_from(per_block).unwrap_or(u32::MAX) }
    }

    /// Whether there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Packs records, of which each has `record` bytes, into blocks at the offset `at`.
    #[must_use]
    pub fn pack(at: u64, record: u32, records: &[u8]) -> (Self, Vec<u8>) {
        let length = (record as usize).max(1);
        let count = u32::try_from(records.len() / length).unwrap_or(u32::MAX);
        let table = Self::new(at, record, count);
        let mut blocks = Blocks { at, block: table.block_len(), bytes: Vec::new() };
        records.chunks(table.per_block as usize * length).for_each(|block| blocks.push(block));
        (table, blocks.finish())
    }

    /// Number of bytes of all blocks.
    #[must_use]
    pub fn byte_len(&self) -> u64 {
        let (record, count) = (self.record as usize, self.count as usize);
        if record == 0 || count == 0 {
            return 0;
        }
        let full = (count - 1) / (self.per_block as usize).max(1);
        let last = count - full * self.per_block as usize;
        (full * self.block_len() + CHECK + last * record) as u64
    }

    /// Whether all blocks are within a file of so many bytes. Then no sum of offsets overflows.
    #[must_use]
    pub fn are_within(&self, len: u64) -> bool {
        self.at.checked_add(self.byte_len()).is_some_and(|end| end <= len)
    }

    /// A record, read with its block, whose checksum is checked.
    pub fn read<'a>(&self, file: &impl ClusterBytes<'a>, index: u32) -> Option<Cow<'a, [u8]>> {
        let (block, start) = self.place_of(index)?;
        let bytes = read_block(file, self.at, self.byte_len(), block, self.block_len())?;
        part(bytes, start, self.record as usize)
    }

    /// A record of a file in memory. [`Records::are_within`] and [`Records::are_sound`] must have
    /// checked its blocks.
    #[must_use]
    #[inline]
    pub fn get<'a>(&self, file: &'a [u8], index: u32) -> Option<&'a [u8]> {
        let (block, start) = self.place_of(index)?;
        let at = usize::try_from(self.at).ok()? + block * self.block_len() + start;
        file.get(at..at + self.record as usize)
    }

    /// Whether all blocks are those that were written.
    #[must_use]
    pub fn are_sound(&self, file: &[u8]) -> bool {
        are_sound(&file, self.at, self.byte_len(), self.block_len())
    }

    /// The block of a record, and where the record starts in it.
    #[inline]
    fn place_of(&self, index: u32) -> Option<(usize, usize)> {
        let block = index.checked_div(self.per_block)?;
        let start = CHECK + ((index - block * self.per_block) * self.record) as usize;
        (index < self.count).then_some((block as usize, start))
    }

    #[inline]
    fn block_len(&self) -> usize {
        block_len(self.record as usize)
    }
}

/// Texts in blocks. Each has its length in two bytes in front, and none is in two blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Texts {
    /// Offset of the first block.
    pub at: u64,
    /// Number of bytes of all blocks.
    pub len: u32,
    /// Number of bytes of a block.
    pub block: u32,
}

impl Texts {
    /// Packs texts of less than 64 kB each into blocks at the offset `at`. Also returns the place
    /// of each, by which [`Texts::read`] finds it.
    #[must_use]
    pub fn pack(at: u64, texts: &[&str]) -> (Self, Vec<u8>, Vec<u32>) {
        let longest = texts.iter().map(|text| text.len() + 2).max().unwrap_or(0);
        let mut blocks = Blocks { at, block: block_len(longest), bytes: Vec::new() };
        let (mut block, mut places) = (Vec::new(), Vec::new());
        for text in texts {
            if CHECK + block.len() + 2 + text.len() > blocks.block {
                blocks.push(&block);
                block.clear();
            }
            let place = blocks.next() + CHECK + block.len();
            places.push(u32::try_from(place).unwrap_or(u32::MAX));
            block.extend_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
            block.extend_from_slice(text.as_bytes());
        }
        if !block.is_empty() {
            blocks.push(&block);
        }
        let number = |length| u32::try_from(length).unwrap_or(u32::MAX);
        let block = number(blocks.block);
        let bytes = blocks.finish();
        (Self { at, len: number(bytes.len()), block }, bytes, places)
    }

    /// Whether all blocks are within a file of so many bytes.
    #[must_use]
    pub fn are_within(&self, len: u64) -> bool {
        self.at.checked_add(self.len.into()).is_some_and(|end| end <= len)
    }

    /// The text at a place, read with its block, whose checksum is checked.
    pub fn read<'a>(&self, file: &impl ClusterBytes<'a>, place: u32) -> Option<Cow<'a, str>> {
        let block = place.checked_div(self.block)?;
        let length = self.block as usize;
        let bytes = read_block(file, self.at, self.len.into(), block as usize, length)?;
        let start = (place - block * self.block) as usize;
        let length = u16::from_le_bytes(*bytes.get(start..)?.first_chunk()?);
        match part(bytes, start + 2, length.into())? {
            Cow::Borrowed(bytes) => core::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
        }
    }

    /// The text at a place of a file in memory. [`Texts::are_sound`] must have checked its blocks.
    #[must_use]
    #[inline]
    pub fn get<'a>(&self, file: &'a [u8], place: u32) -> Option<&'a str> {
        let at = usize::try_from(self.at).ok()?.checked_add(place as usize)?;
        let (length, text) = file.get(at..)?.split_first_chunk()?;
        core::str::from_utf8(text.get(..u16::from_le_bytes(*length).into())?).ok()
    }

    /// Whether all blocks are those that were written.
    #[must_use]
    pub fn are_sound(&self, file: &[u8]) -> bool {
        are_sound(&file, self.at, self.len.into(), self.block as usize)
    }
}

/// Number of bytes of the blocks for records or texts of `most` bytes.
#[inline]
fn block_len(most: usize) -> usize {
    if most <= BLOCK - CHECK { BLOCK } else { (most + CHECK).next_power_of_two() }
}

/// Blocks that are being written. All are filled up to one length but the last.
struct Blocks {
    at: u64,
    block: usize,
    bytes: Vec<u8>,
}

impl Blocks {
    /// Offset of the next block in these.
    fn next(&self) -> usize {
        self.bytes.len().next_multiple_of(self.block)
    }

    fn push(&mut self, block: &[u8]) {
        self.bytes.resize(self.next(), 0);
        self.bytes.extend_from_slice(&[0; CHECK]);
        self.bytes.extend_from_slice(block);
    }

    /// All blocks with their checksums.
    fn finish(mut self) -> Vec<u8> {
        let offsets = (self.at..).step_by(self.block);
        for (block, offset) in self.bytes.chunks_mut(self.block).zip(offsets) {
            if let Some((check, rest)) = block.split_first_chunk_mut::<CHECK>() {
                *check = xxh3_64_with_seed(rest, offset).to_le_bytes();
            }
        }
        self.bytes
    }
}

/// One block of those of `len` bytes at `at`, if its checksum is right.
fn read_block<'a>(
    file: &impl ClusterBytes<'a>,
    at: u64,
    len: u64,
    block: usize,
    block_len: usize,
) -> Option<Cow<'a, [u8]>> {
    let first = (block as u64).checked_mul(block_len as u64)?;
    let here = usize::try_from(len.checked_sub(first)?).ok()?.min(block_len);
    let at = at.checked_add(first)?;
    let bytes = file.bytes(at, here)?;
    let (check, block) = bytes.split_first_chunk::<CHECK>()?;
    (xxh3_64_with_seed(block, at) == u64::from_le_bytes(*check)).then_some(bytes)
}

fn are_sound(file: &&[u8], at: u64, len: u64, block_len: usize) -> bool {
    let blocks = usize::try_from(len).map_or(0, |len| len.div_ceil(block_len.max(1)));
    (0..blocks).all(|block| read_block(file, at, len, block, block_len).is_some())
}

/// `len` bytes of bytes that are borrowed or owned.
fn part(bytes: Cow<'_, [u8]>, start: usize, len: usize) -> Option<Cow<'_, [u8]>> {
    let range = start..start.checked_add(len)?;
    match bytes {
        Cow::Borrowed(bytes) => bytes.get(range).map(Cow::Borrowed),
        Cow::Owned(bytes) => bytes.get(range).map(|part| Cow::Owned(part.to_vec())),
    }
}
