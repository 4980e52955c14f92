//! Regular levels: all objects have the same number of PUs, so an object is found by division.

/// Index of the block of `size` PUs that `pu` is in.
#[inline]
pub(crate) fn block_of(pu: u32, size: u32) -> u32 {
    if size.is_power_of_two() { pu >> size.trailing_zeros() } else { pu / size }
}
