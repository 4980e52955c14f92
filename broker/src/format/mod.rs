//! A topology as text: synthetic description and XML.

pub mod synthetic;
pub mod xml;
