//! A query on both sides.

use topobroker_benches::rival_queries::RivalObject;
use topobroker_reader::Object;

/// A query in both forms.
pub(crate) struct Case<'a> {
    pub(crate) name: &'static str,
    /// Operations in a run of either.
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

/// What stands for an object that was found, so that nothing is left out: on each side what costs
/// nothing more.
pub(crate) fn own(object: Option<Object<'_>>) -> u64 {
    object.map_or(0, |object| u64::from(object.id()))
}

pub(crate) fn other(object: Option<RivalObject<'_>>) -> u64 {
    object.map_or(0, |object| object.address() as u64)
}
