//! The first page of a cluster: the header of the segment, and where each part is.

use super::blocks::{Records, Texts};
use crate::error::{HeaderError, OpenError, ValidationError};
use crate::header::{self, HEADER_LEN, Header, Kind};
use alloc::vec::Vec;

/// Number of bytes of the first page. The parts follow it.
pub const HEAD_LEN: usize = 4096;

/// Number of bytes of the row of a node.
pub const NODE_ROW: u32 = 14;

/// Number of bytes of the row of a class.
pub const CLASS_ROW: u32 = 16 * 8;

/// Where a part is that is read and checked as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Part {
    /// Offset.
    pub at: u64,
    /// Number of bytes.
    pub len: u64,
    /// XXH3-64 of the bytes, with the offset as seed.
    pub check: u64,
}

impl Part {
    /// The part with these bytes at an offset.
    #[must_use]
    pub fn of(at: u64, bytes: &[u8]) -> Self {
        Self { at, len: bytes.len() as u64, check: check_of(at, bytes) }
    }

    /// Whether these bytes are those that were written.
    #[must_use]
    pub fn is_sound(&self, bytes: &[u8]) -> bool {
        bytes.len() as u64 == self.len && check_of(self.at, bytes) == self.check
    }
}

fn check_of(at: u64, bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(bytes, at)
}

/// Where the parts of a cluster are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// Names of the nodes.
    pub names: Texts,
    /// A row for each node, in the order of their numbers.
    pub nodes: Records,
    /// The table of names: numbers of nodes plus one, 0 for a free place.
    pub places: Records,
    /// Boot of each node; without records if no node is known to run.
    pub boots: Records,
    /// A row for each class.
    pub classes: Records,
    /// Groups, switches and links.
    pub directory: Part,
}

impl Head {
    /// The page of a cluster with this head. `header.size` is the size of the whole file. The state
    /// word is set, because the page is written last.
    #[must_use]
    pub fn to_page(&self, header: &Header) -> Vec<u8> {
        let header = Header { kind: Kind::Cluster, ..*header };
        let mut page = Vec::with_capacity(HEAD_LEN);
        page.extend_from_slice(&header.unsealed(header.size));
        let mut put = |numbers: &[u64]| {
            numbers.iter().for_each(|it| page.extend_from_slice(&it.to_le_bytes()));
        };
        put(&[self.names.at, self.names.len.into(), self.names.block.into()]);
        for records in [self.nodes, self.places, self.boots, self.classes] {
            put(&[records.at, records.record.into(), records.count.into()]);
        }
        put(&[self.directory.at, self.directory.len, self.directory.check]);
        page.resize(HEAD_LEN, 0);
        header::seal(&mut page);
        header::mark_ready(&mut page);
        page
    }

    /// Reads the first page of a cluster of `len` bytes.
    ///
    /// # Errors
    ///
    /// [`OpenError`] for the first check that fails.
    pub fn read(page: &[u8], len: u64) -> Result<(Header, Self), OpenError> {
        let header = Header::read(page)?;
        if header.kind != Kind::Cluster {
            let (found, expected) = (header.kind.name(), Kind::Cluster.name());
            return Err(HeaderError::OtherKind { found, expected }.into());
        }
        if header.size != len {
            return Err(HeaderError::Length { found: len, expected: header.size }.into());
        }
        let expected = HEAD_LEN as u64;
        let short = || HeaderError::Length { found: page.len() as u64, expected };
        let page = page.get(..HEAD_LEN).ok_or_else(short)?;
        let found = header::checksum(page);
        if found != header.checksum {
            return Err(OpenError::Checksum { found, expected: header.checksum });
        }
        let (numbers, _) = page.get(HEADER_LEN..).unwrap_or_default().as_chunks::<8>();
        let mut numbers = numbers.iter().map(|it| u64::from_le_bytes(*it));
        let mut next = || numbers.next().unwrap_or(0);
        let small = |number: u64| u32::try_from(number).unwrap_or(0);
        let names = Texts { at: next(), len: small(next()), block: small(next()) };
        let mut records = || Records::new(next(), small(next()), small(next()));
        let [nodes, places, boots, classes] = core::array::from_fn(|_| records());
        let directory = Part { at: next(), len: next(), check: next() };
        let tables = [nodes, places, boots, classes];
        let is_within = tables.iter().all(|table| table.are_within(len)) && names.are_within(len);
        if !is_within {
            let (column, rule) = ("cluster.head", "all tables are within the file");
            return Err(ValidationError { column, row: 0, rule }.into());
        }
        // A table without rows has no bytes of a row either.
        let lengths = [(nodes, NODE_ROW), (places, 4), (boots, 16), (classes, CLASS_ROW)];
        let is_of = |(table, length): &(Records, u32)| table.record == *length || table.is_empty();
        if !lengths.iter().all(is_of) {
            let (column, rule) = ("cluster.head", "each table has rows of its length");
            return Err(ValidationError { column, row: 0, rule }.into());
        }
        let has_places = places.count.is_power_of_two() && places.count / 2 >= nodes.count;
        let has_boots = boots.count == 0 || boots.count == nodes.count;
        if !(has_places && has_boots) {
            let (column, rule) = ("cluster.head", "there are places and boots for all nodes");
            return Err(ValidationError { column, row: 0, rule }.into());
        }
        Ok((header, Self { names, nodes, places, boots, classes, directory }))
    }
}
