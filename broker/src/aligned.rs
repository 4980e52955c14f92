//! Bytes at an address where an archive can be read.

use topobroker_layout::encode::AlignedVec;

/// A copy of bytes at an address that is a multiple of 16.
pub fn aligned(bytes: &[u8]) -> AlignedVec {
    let mut copy = AlignedVec::with_capacity(bytes.len());
    copy.extend_from_slice(bytes);
    copy
}
