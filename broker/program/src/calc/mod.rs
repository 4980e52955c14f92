//! `topobroker calc`: combines locations and prints the result, as `hwloc-calc` does.

mod answer;
mod calc;
mod manner;

pub(crate) use answer::attribute_of;
pub use calc::Calc;
pub(crate) use calc::{default_local, keep_one_of_each_core, local_flags};
pub(crate) use manner::{Manner, combined, set_of};
