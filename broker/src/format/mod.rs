//! A topology as text: synthetic description, XML.

pub mod cluster;
pub mod synthetic;
pub mod xml;
