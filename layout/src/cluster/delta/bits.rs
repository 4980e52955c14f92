//! Numbers of a few bits each, one behind the other.

use alloc::vec::Vec;

/// Reads numbers from bytes. Past the end, bits are 0.
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next number of `count` bits, at most 64. The lowest bit comes first.
    pub(super) fn take(&mut self, count: u32) -> u64 {
        let mut value = 0;
        for bit in 0..count.min(64) {
            let byte = self.bytes.get(self.at / 8).copied().unwrap_or(0);
            value |= u64::from(byte >> (self.at % 8) & 1) << bit;
            self.at += 1;
        }
        value
    }
}

/// Writes numbers of a few bits each.
#[derive(Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    used: usize,
}

impl BitWriter {
    /// Appends the low `count` bits of a number.
    pub(super) fn push(&mut self, value: u64, count: u32) {
        for bit in 0..count.min(64) {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= u8::from(value >> bit & 1 == 1) << (self.used % 8);
            }
            self.used += 1;
        }
    }

    /// The bytes, filled up to whole ones.
    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Number of bits that hold all numbers up to `most`.
pub(super) fn bits_of(most: u64) -> u32 {
    u64::BITS - most.leading_zeros()
}
