//! What JSON says of objects, sets and tables, the same in all commands. `docs/json/` describes it.

mod json;
mod object;
mod tables;

pub(crate) use json::{set, set_or_null, short, text};
pub(crate) use object::{object, tree};
pub(crate) use tables::{cpu_kinds, distances, levels, memory_attributes};
