//! `topobroker calc`: combines locations and prints the result, as `hwloc-calc` does.

mod answer;
mod calc;
mod inputs;

pub(crate) use answer::attribute_of;
pub use calc::Calc;
pub(crate) use calc::{default_local, local_flags};
