//! A topology as text: console output, synthetic description, XML.

pub mod cluster;
pub mod console;
pub mod synthetic;
pub mod xml;
