//! `topobroker calc`: combines locations and prints the result, as `hwloc-calc` does.

mod answer;
mod calc;
mod inputs;

pub(in crate::program) use answer::attribute_of;
pub use calc::Calc;
pub(in crate::program) use calc::{default_local, local_flags};
