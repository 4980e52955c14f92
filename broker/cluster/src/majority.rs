//! What most nodes have.

use std::collections::BTreeMap;

/// The value that more than half have; `None` if there is none.
pub(crate) fn majority<V: Ord>(values: impl IntoIterator<Item = V>) -> Option<V> {
    let (mut counts, mut all) = (BTreeMap::new(), 0);
    for value in values {
        *counts.entry(value).or_insert(0) += 1;
        all += 1;
    }
    counts.into_iter().find(|(_, count)| count * 2 > all).map(|(value, _)| value)
}
