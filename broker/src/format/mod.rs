//! A topology as text: synthetic description, XML.

pub mod synthetic;
pub mod xml;
