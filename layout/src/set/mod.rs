//! Sets of OS indexes: CPU sets and node sets.

mod combine;
mod ranges;
mod set;
#[cfg(test)]
mod tests;
mod text;

pub use set::Set;
pub use text::{Format, ParseSetError};
