//! Encodes a description as the bytes of an archive.

mod attributes;
mod builder;
mod encode;
mod error;
mod intern;
mod levels;
mod numbering;
mod objects;
mod pus;
mod tables;

pub use encode::to_bytes;
#[cfg(test)]
pub(crate) use encode::topology;
pub use error::EncodeError;
pub use rkyv::util::AlignedVec;
