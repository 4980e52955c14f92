//! `topobroker doctor`: what works on this node, and what to do about the rest.

mod doctor;
mod examination;
mod price;

pub(crate) use doctor::Doctor;
