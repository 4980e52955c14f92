//! A query to topobroker and to hwloc.

use topobroker_reader::Object;
use topobroker_rival::queries::RivalObject;

/// A query to topobroker (`ours`) and the same query to hwloc (`theirs`).
pub(crate) struct Case<'a> {
    pub(crate) name: &'static str,
    /// Number of operations in one run of either.
    pub(crate) operations: usize,
    pub(crate) ours: Box<dyn FnMut() -> u64 + 'a>,
    pub(crate) theirs: Box<dyn FnMut() -> u64 + 'a>,
}

pub(crate) fn case<'a>(
    name: &'static str,
    operations: usize,
    ours: impl FnMut() -> u64 + 'a,
    theirs: impl FnMut() -> u64 + 'a,
) -> Case<'a> {
    Case { name, operations, ours: Box::new(ours), theirs: Box::new(theirs) }
}

/// A number that stands for our object, so that the compiler cannot leave the query out. Like the
/// address in `other`, it costs nothing to get.
pub(crate) fn own(object: Option<Object<'_>>) -> u64 {
    object.map_or(0, |object| u64::from(object.id()))
}

pub(crate) fn other(object: Option<RivalObject<'_>>) -> u64 {
    object.map_or(0, |object| object.address() as u64)
}
