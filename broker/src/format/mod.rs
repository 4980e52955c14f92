//! A topology as text.

pub mod console;
pub mod synthetic;
pub mod xml;
