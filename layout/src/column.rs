//! A column: one field of many rows, packed as narrow as its values allow.

use alloc::vec::Vec;
use core::ops::Range;
use rkyv::{Archive, Serialize};

/// Integers, packed in the shorter of two ways.
///
/// *Plain*: every value is `base + delta`, and all deltas have the same width of 0, 1, 2, 4 or 8
/// little-endian bytes. A column whose values are all equal takes no bytes at all, so a field that
/// is constant on a level (a cache size, a page size) is stored once.
///
/// *Dictionary*: each value is one byte, which picks one of at most 256 deltas. The deltas follow
/// these bytes.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
pub struct Column {
    base_low: u32,
    base_high: u32,
    /// The high 28 bits are the number of values. Bit 3 is set if there is a dictionary. The low 3
    /// bits are the width of a delta: 0 for no bytes, otherwise the binary logarithm of the number
    /// of bytes plus one.
    shape: u32,
    bytes: Vec<u8>,
}

const DICTIONARY: u32 = 8;

impl Column {
    /// Packs `values`, of which there must be fewer than 2^28.
    ///
    /// ```
    /// use topobroker_layout::column::Column;
    /// assert_eq!(Column::pack(&[7, 7, 7]).byte_len(), 0);
    /// assert_eq!(Column::pack(&[1000, 1255]).byte_len(), 2);
    /// assert_eq!(Column::pack(&[0, 70_000, 0, 0, 70_000, 0, 0, 0, 0]).byte_len(), 9 + 2 * 4);
    /// ```
    #[must_use]
    pub fn pack(values: &[u64]) -> Self {
        let least = values.iter().copied().min().unwrap_or(0);
        let most = values.iter().copied().max().unwrap_or(0);
        // Adding a delta to such a base could overflow 64 bits, so the base is 0.
        let wide = least > u64::MAX - u64::from(u32::MAX) || log_width(most - least) == 4;
        let base = if wide { 0 } else { least };
        let log = log_width(most - base);
        let mut shape = (u32::try_from(values.len()).unwrap_or(u32::MAX) << 4) | log;
        let deltas = values.iter().map(|value| value - base);
        let bytes = match dictionary(values, log) {
            Some(entries) => {
                shape |= DICTIONARY;
                let index = |value| entries.binary_search(value).unwrap_or(0).to_le_bytes();
                let mut bytes: Vec<u8> =
                    values.iter().flat_map(|value| index(value).into_iter().take(1)).collect();
                let deltas = entries.iter().map(|entry| entry - base);
                bytes.extend(deltas.flat_map(|delta| narrow(delta, log)));
                bytes
            }
            None => deltas.flat_map(|delta| narrow(delta, log)).collect(),
        };
        let [a, b, c, d, high @ ..] = base.to_le_bytes();
        let base_low = u32::from_le_bytes([a, b, c, d]);
        Self { base_low, base_high: u32::from_le_bytes(high), shape, bytes }
    }

    /// A column without values that reads as `base`.
    #[cfg(test)]
    pub(crate) fn empty_with_base(base: u32) -> Self {
        Self { base_low: base, ..Self::default() }
    }

    /// A column of `rows` values of two bytes each that has only one byte in all.
    #[cfg(test)]
    pub(crate) fn unsound(rows: u32) -> Self {
        Self { base_low: 0, base_high: 0, shape: rows << 4 | 2, bytes: vec![0] }
    }

    /// Number of bytes that the packed values take, without the fixed part of a column.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }
}

/// The first of `rows` for which `before` is false, or the end of `rows`. `rows` must be
/// partitioned, as for [`slice::partition_point`].
#[inline]
pub fn partition_point(rows: Range<u32>, before: impl Fn(u32) -> bool) -> u32 {
    let Range { start: mut low, end: mut high } = rows;
    while low < high {
        let middle = low.midpoint(high);
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Binary logarithm of the number of bytes that a delta needs, plus one; 0 if it needs none.
fn log_width(spread: u64) -> u32 {
    match spread {
        0 => 0,
        1..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 3,
        _ => 4,
    }
}

const fn width(log: u32) -> usize {
    if log == 0 { 0 } else { 1 << (log - 1) }
}

fn narrow(delta: u64, log: u32) -> impl Iterator<Item = u8> {
    delta.to_le_bytes().into_iter().take(width(log))
}

/// The distinct values in ascending order, if a dictionary of them is shorter than plain deltas.
fn dictionary(values: &[u64], log: u32) -> Option<Vec<u64>> {
    let width = width(log);
    if width < 2 {
        return None;
    }
    let mut entries = Vec::with_capacity(256);
    // Stops early because most columns that gain nothing from a dictionary soon have too many
    // distinct values.
    for value in values {
        if let Err(place) = entries.binary_search(value) {
            if entries.len() == 256 {
                return None;
            }
            entries.insert(place, *value);
        }
    }
    (values.len() + entries.len() * width < values.len() * width).then_some(entries)
}

impl ArchivedColumn {
    /// Number of values.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        (self.shape.to_native() >> 4) as usize
    }

    /// Whether there are no values.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at `index`. Past the end it is the base, which is 0 if there are no values, or
    /// with a dictionary possibly another value, but never a panic.
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        let log = self.shape.to_native() & 7;
        if self.is_dictionary() {
            let entry = self.bytes.as_slice().get(index).copied().unwrap_or(0);
            return self.base().wrapping_add(delta(self.entries(), usize::from(entry), log));
        }
        self.base().wrapping_add(delta(self.bytes.as_slice(), index, log))
    }

    /// The value at `index` as an object number, a table row or another 32-bit quantity.
    ///
    /// Values of more than 32 bits are truncated, but validation bounds every column that is read
    /// this way.
    #[must_use]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "validation bounds the columns read so")]
    pub fn get_u32(&self, index: usize) -> u32 {
        self.get(index) as u32
    }

    /// All values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u64> + Clone + '_ {
        (0..self.len()).map(|index| self.get(index))
    }

    /// The values as they are stored, and how many little-endian bytes each has, if they are stored
    /// one after the other and as they are.
    #[must_use]
    pub fn as_bytes(&self) -> Option<(&[u8], usize)> {
        let log = self.shape.to_native() & 7;
        let is_stored = !self.is_dictionary() && self.base() == 0 && log > 0;
        is_stored.then(|| (self.bytes.as_slice(), 1 << (log - 1)))
    }

    /// Whether the values ascend. Equal values may follow each other.
    #[must_use]
    #[inline(never)]
    pub fn is_sorted(&self) -> bool {
        // Fast path: with those of `max` and of the limit of texts, validation is up to 6.6 times as
        // fast.
        let bytes = self.bytes.as_slice();
        match self.shape.to_native() & (DICTIONARY | 7) {
            0 => true,
            1 => bytes.is_sorted(),
            2 => bytes.as_chunks().0.iter().map(|&b| u16::from_le_bytes(b)).is_sorted(),
            _ => self.iter().is_sorted(),
        }
    }

    /// Whether every value is below `limit`.
    #[must_use]
    #[inline]
    pub(crate) fn is_below(&self, limit: u64) -> bool {
        self.is_empty() || self.max() < limit
    }

    /// The largest value, 0 for an empty column. It may be larger than all values if a dictionary
    /// has entries that no value picks.
    #[inline(never)]
    fn max(&self) -> u64 {
        let bytes = if self.is_dictionary() { self.entries() } else { self.bytes.as_slice() };
        // Fast path: with those of `is_sorted` and of the limit of texts, validation is up to 6.6
        // times as fast.
        let delta = match self.shape.to_native() & 7 {
            1 => bytes.iter().copied().max().map_or(0, u64::from),
            2 => bytes
                .as_chunks()
                .0
                .iter()
                .map(|&b| u16::from_le_bytes(b))
                .max()
                .map_or(0, u64::from),
            3 => bytes
                .as_chunks()
                .0
                .iter()
                .map(|&b| u32::from_le_bytes(b))
                .max()
                .map_or(0, u64::from),
            4 => bytes.as_chunks().0.iter().map(|&b| u64::from_le_bytes(b)).max().unwrap_or(0),
            _ => 0,
        };
        if self.is_empty() { 0 } else { self.base().saturating_add(delta) }
    }

    /// Whether the packing is sound: the width is known, the bytes have a place for every value, no
    /// sum of the base and a delta overflows 64 bits, and a column without values reads as 0.
    #[must_use]
    #[inline(never)]
    pub(crate) fn is_sound(&self) -> bool {
        let log = self.shape.to_native() & 7;
        let bytes = self.bytes.as_slice();
        let whole = if self.is_dictionary() {
            let entries = self.entries().len() / width(log).max(1);
            let highest = bytes.get(..self.len()).and_then(|indexes| indexes.iter().max());
            log > 0
                && !self.is_empty()
                && bytes.len() >= self.len()
                && self.entries().len() == entries * width(log)
                && highest.is_none_or(|highest| usize::from(*highest) < entries)
        } else {
            self.len() * width(log) == bytes.len()
        };
        let is_base_sound = if log == 4 || self.is_empty() {
            self.base() == 0
        } else {
            self.base().checked_add(u64::from(u32::MAX)).is_some()
        };
        log <= 4 && whole && is_base_sound
    }

    /// What is added to each delta: the least value of a column of 32-bit values.
    #[inline]
    pub(crate) fn base(&self) -> u64 {
        (u64::from(self.base_high.to_native()) << 32) | u64::from(self.base_low.to_native())
    }

    #[inline]
    fn is_dictionary(&self) -> bool {
        self.shape.to_native() & DICTIONARY != 0
    }

    fn entries(&self) -> &[u8] {
        self.bytes.as_slice().get(self.len()..).unwrap_or_default()
    }
}

#[inline]
fn delta(bytes: &[u8], index: usize, log: u32) -> u64 {
    match log {
        0 => 0,
        1 => bytes.get(index).map_or(0, |&byte| u64::from(byte)),
        2 => bytes.as_chunks().0.get(index).map_or(0, |&b| u64::from(u16::from_le_bytes(b))),
        3 => bytes.as_chunks().0.get(index).map_or(0, |&b| u64::from(u32::from_le_bytes(b))),
        _ => bytes.as_chunks().0.get(index).map_or(0, |&b| u64::from_le_bytes(b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn archived(column: &Column) -> rkyv::util::AlignedVec {
        rkyv::to_bytes::<rkyv::rancor::Error>(column).unwrap()
    }

    fn check(values: &[u64]) -> Result<(), TestCaseError> {
        let bytes = archived(&Column::pack(values));
        let column = rkyv::access::<ArchivedColumn, rkyv::rancor::Error>(&bytes).unwrap();
        prop_assert!(column.is_sound());
        prop_assert_eq!(column.iter().collect::<Vec<_>>(), values);
        prop_assert_eq!(column.max(), values.iter().copied().max().unwrap_or(0));
        Ok(())
    }

    proptest! {
        #[test]
        fn a_column_gives_back_what_was_packed(values: Vec<u64>, shift in 0u32..64) {
            check(&values.iter().map(|value| value >> shift).collect::<Vec<_>>())?;
        }

        #[test]
        fn a_column_of_few_distinct_values_gives_them_back(
            distinct in proptest::collection::vec(any::<u64>(), 1..300),
            picks in proptest::collection::vec(
                any::<proptest::sample::Index>(),
                0..if cfg!(miri) { 300 } else { 2000 },
            ),
            shift in 0u32..64,
        ) {
            check(&picks.iter().map(|pick| pick.get(&distinct) >> shift).collect::<Vec<_>>())?;
        }
    }

    #[test]
    fn a_column_without_values_must_read_as_0() {
        for (base, is_sound) in [(0, true), (1, false), (u32::MAX, false)] {
            let bytes = archived(&Column::empty_with_base(base));
            let column = rkyv::access::<ArchivedColumn, rkyv::rancor::Error>(&bytes).unwrap();
            assert_eq!(column.is_sound(), is_sound, "{base}");
        }
    }

    #[test]
    fn a_column_past_its_end_reads_as_its_base_without_panicking() {
        let bytes = archived(&Column::pack(&[3, 4]));
        let column = rkyv::access::<ArchivedColumn, rkyv::rancor::Error>(&bytes).unwrap();
        assert_eq!(column.get(99), 3);
    }
}
