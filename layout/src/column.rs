//! A column: one field of many objects, packed as narrow as its values allow.

use rkyv::{Archive, Serialize};

/// Integers stored as `base + delta`, every delta in the same 0, 1, 2, 4 or 8 little-endian bytes.
///
/// A column whose values are all alike takes no bytes at all, which is how a field that is constant
/// on a level (a cache size, a page size) is held once.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
pub struct Column {
    base: u64,
    count: u32,
    width: u32,
    bytes: Vec<u8>,
}

impl Column {
    /// Packs `values` in as few bytes as their spread needs.
    ///
    /// ```
    /// use topobroker_layout::column::Column;
    /// assert_eq!(Column::pack(&[7, 7, 7]).byte_len(), 0);
    /// assert_eq!(Column::pack(&[1000, 1255]).byte_len(), 2);
    /// ```
    #[must_use]
    pub fn pack(values: &[u64]) -> Self {
        let least = values.iter().copied().min().unwrap_or(0);
        // So that no sum of a narrow delta and the base passes 64 bits, whatever the delta.
        let base = if least > u64::MAX - u64::from(u32::MAX) { 0 } else { least };
        let spread = values.iter().copied().max().unwrap_or(0) - base;
        let width: u32 = match spread {
            0 => 0,
            1..=0xff => 1,
            0x100..=0xffff => 2,
            0x1_0000..=0xffff_ffff => 4,
            _ => 8,
        };
        let mut bytes = Vec::with_capacity(values.len() * width as usize);
        for value in values {
            let delta = (value - base).to_le_bytes();
            bytes.extend(delta.iter().take(width as usize));
        }
        let count = u32::try_from(values.len()).unwrap_or(u32::MAX);
        Self { base, count, width, bytes }
    }

    /// Bytes that the packed values take, without the fixed part.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }
}

impl ArchivedColumn {
    /// Number of values.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.count.to_native() as usize
    }

    /// Whether there are no values.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count.to_native() == 0
    }

    /// The value at `index`; 0 past the end, which no index of a validated archive reaches.
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        self.delta(index).wrapping_add(self.base.to_native())
    }

    /// The value at `index` as an object number, a table row or another 32-bit quantity.
    ///
    /// Values that need more than 32 bits are cut; validation bounds every column read this way.
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

    /// The largest value, 0 of an empty column.
    #[must_use]
    pub fn max(&self) -> u64 {
        let bytes = self.bytes.as_slice();
        let delta = match self.width.to_native() {
            1 => bytes.iter().copied().max().map_or(0, u64::from),
            2 => bytes.as_chunks().0.iter().map(|&b| u16::from_le_bytes(b)).max().map_or(0, u64::from),
            4 => bytes.as_chunks().0.iter().map(|&b| u32::from_le_bytes(b)).max().map_or(0, u64::from),
            8 => bytes.as_chunks().0.iter().map(|&b| u64::from_le_bytes(b)).max().unwrap_or(0),
            _ => 0,
        };
        if self.is_empty() { 0 } else { self.base.to_native().saturating_add(delta) }
    }

    /// Whether the packing is sound: a known width, as many bytes as values, no sum past 64 bits.
    #[must_use]
    pub(crate) fn is_sound(&self) -> bool {
        let width = self.width.to_native();
        matches!(width, 0 | 1 | 2 | 4 | 8)
            && self.len().checked_mul(width as usize) == Some(self.bytes.len())
            && match width {
                8 => self.iter().all(|value| value >= self.base.to_native()),
                _ => self.base.to_native().checked_add(u64::from(u32::MAX)).is_some(),
            }
    }

    #[inline]
    fn delta(&self, index: usize) -> u64 {
        let bytes = self.bytes.as_slice();
        match self.width.to_native() {
            0 => 0,
            1 => bytes.get(index).map_or(0, |&byte| u64::from(byte)),
            2 => bytes.as_chunks().0.get(index).map_or(0, |&b| u64::from(u16::from_le_bytes(b))),
            4 => bytes.as_chunks().0.get(index).map_or(0, |&b| u64::from(u32::from_le_bytes(b))),
            _ => bytes.as_chunks().0.get(index).map_or(0, |&b| u64::from_le_bytes(b)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn archived(column: &Column) -> rkyv::util::AlignedVec {
        rkyv::to_bytes::<rkyv::rancor::Error>(column).unwrap()
    }

    proptest! {
        #[test]
        fn a_column_gives_back_what_was_packed(values: Vec<u64>, shift in 0u32..64) {
            let values: Vec<u64> = values.iter().map(|v| v >> shift).collect();
            let bytes = archived(&Column::pack(&values));
            let column = rkyv::access::<ArchivedColumn, rkyv::rancor::Error>(&bytes).unwrap();
            prop_assert!(column.is_sound());
            prop_assert_eq!(column.iter().collect::<Vec<_>>(), values.clone());
            prop_assert_eq!(column.max(), values.iter().copied().max().unwrap_or(0));
        }
    }

    #[test]
    fn a_column_past_its_end_reads_as_its_base_without_panicking() {
        let bytes = archived(&Column::pack(&[3, 4]));
        let column = rkyv::access::<ArchivedColumn, rkyv::rancor::Error>(&bytes).unwrap();
        assert_eq!(column.get(99), 3);
    }
}
