//! Binary search over numbered rows that are not a slice.

use core::ops::Range;

/// The first of `rows` for which `before` is false, or the end of `rows`. `rows` must be
/// partitioned, as for [`slice::partition_point`].
pub(crate) fn partition_point(rows: Range<u32>, before: impl Fn(u32) -> bool) -> u32 {
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
