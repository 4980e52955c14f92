//! Queries to topobroker, each with the same query to hwloc.

mod cases;
mod near_cases;
mod pair;

pub use cases::every_query;
pub use pair::{Pair, Sets};

use topobroker_reader::Object;
use topobroker_rival::queries::RivalObject;

/// The same query to topobroker and to hwloc.
pub struct Case<'a> {
    /// What is asked.
    pub name: &'static str,
    /// Number of operations in one run of either.
    pub operations: usize,
    /// Asks topobroker. The result keeps the compiler from removing the query.
    pub ours: Box<dyn FnMut() -> u64 + 'a>,
    /// Asks hwloc.
    pub theirs: Box<dyn FnMut() -> u64 + 'a>,
}

/// A [`Case`] of these two closures.
pub fn case<'a>(
    name: &'static str,
    operations: usize,
    ours: impl FnMut() -> u64 + 'a,
    theirs: impl FnMut() -> u64 + 'a,
) -> Case<'a> {
    Case { name, operations, ours: Box::new(ours), theirs: Box::new(theirs) }
}

/// A number that identifies our object and costs nothing to get.
fn own(object: Option<Object<'_>>) -> u64 {
    object.map_or(0, |object| u64::from(object.id()))
}

/// The same for hwloc's object.
fn other(object: Option<RivalObject<'_>>) -> u64 {
    object.map_or(0, |object| object.address() as u64)
}
