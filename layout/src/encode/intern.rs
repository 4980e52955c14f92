//! Tables that hold each string, each set and each row of sets once.

use super::error::EncodeError;
use crate::archive::{INDEX_LIMIT, MAX_SET_WORDS, SetTable, StringTable};
use crate::column::Column;
use crate::set::Set;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

fn next_row(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Distinct strings. Their rows are in the order in which they were first added.
///
/// A string that consists of the last words of another one is not stored again, because hwloc names
/// a PCI device by its vendor and its product, and has the product as an info too.
#[derive(Default)]
pub(super) struct Strings {
    row_of: BTreeMap<String, u32>,
}

impl Strings {
    pub(super) fn intern(&mut self, text: &str) -> u32 {
        if let Some(&row) = self.row_of.get(text) {
            return row;
        }
        let row = next_row(self.row_of.len());
        self.row_of.insert(text.to_owned(), row);
        row
    }

    /// Makes the table. Fails with a string that has a zero inside, because such a string cannot be
    /// stored.
    pub(super) fn finish(&self) -> Result<StringTable, String> {
        if let Some(bad) = self.row_of.keys().find(|text| text.contains('\0')) {
            return Err(bad.clone());
        }
        let mut by_length: Vec<(&str, usize)> = self
            .row_of
            .iter()
            .map(|(text, row)| (text.as_str(), usize::try_from(*row).unwrap_or(usize::MAX)))
            .collect();
        by_length.sort_unstable_by_key(|(text, row)| (core::cmp::Reverse(text.len()), *row));

        let mut bytes: Vec<u8> = Vec::new();
        let mut place_of: BTreeMap<&str, u64> = BTreeMap::new();
        let mut start = vec![0; by_length.len()];
        for (text, row) in by_length {
            let place = place_of.get(text).copied().unwrap_or_else(|| {
                let place = bytes.len() as u64;
                bytes.extend_from_slice(text.as_bytes());
                bytes.push(0);
                for (blank, _) in text.match_indices(' ') {
                    let (before, after) = text.split_at(blank + 1);
                    place_of.entry(after).or_insert(place + before.len() as u64);
                }
                place
            });
            if let Some(start) = start.get_mut(row) {
                *start = place;
            }
        }
        Ok(StringTable { start: Column::pack(&start), bytes })
    }
}

/// Distinct sets, each as its words without the leading zero words.
#[derive(Default)]
pub(super) struct Sets<'d> {
    row_of: BTreeMap<&'d Set, u32>,
    first_word: Vec<u64>,
    start: Vec<u64>,
    infinite: Vec<u64>,
    words: Vec<u64>,
}

impl<'d> Sets<'d> {
    pub(super) fn intern(&mut self, set: &'d Set) -> u32 {
        if let Some(&row) = self.row_of.get(set) {
            return row;
        }
        let row = next_row(self.start.len());
        let leading = set.words().iter().take_while(|word| **word == 0).count();
        self.first_word.push(leading as u64);
        self.start.push(self.words.len() as u64);
        self.infinite.push(u64::from(set.is_infinite()));
        self.words.extend(set.words().iter().skip(leading));
        self.row_of.insert(set, row);
        row
    }

    pub(super) fn finish(&mut self, table: &mut SetTable) -> Result<(), EncodeError> {
        let words = self.row_of.keys().map(|set| set.words().len()).max().unwrap_or(0);
        if words > MAX_SET_WORDS {
            return Err(EncodeError::SetTooLarge {
                found: words * 64 - 1,
                limit: INDEX_LIMIT as usize,
            });
        }
        self.start.push(self.words.len() as u64);
        table.first_word = Column::pack(&self.first_word);
        table.start = Column::pack(&self.start);
        table.infinite = Column::pack(&self.infinite);
        table.words = Column::pack(&self.words);
        Ok(())
    }
}

/// Distinct rows of four sets: cpuset, complete cpuset, nodeset and complete nodeset.
#[derive(Default)]
pub(super) struct DistinctRows {
    row_of: BTreeMap<[u32; 4], u32>,
    columns: [Vec<u64>; 4],
}

impl DistinctRows {
    pub(super) fn intern(&mut self, row: [u32; 4]) -> u32 {
        let next = next_row(self.row_of.len());
        let columns = &mut self.columns;
        *self.row_of.entry(row).or_insert_with(|| {
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(u64::from(value)));
            next
        })
    }

    pub(super) fn finish(self, table: &mut SetTable) {
        let [cpuset, complete_cpuset, nodeset, complete_nodeset] =
            self.columns.map(|column| Column::pack(&column));
        table.cpuset = cpuset;
        table.complete_cpuset = complete_cpuset;
        table.nodeset = nodeset;
        table.complete_nodeset = complete_nodeset;
    }
}
