//! `topobroker draw` and `topobroker cluster draw`: pictures.

mod draw;
mod file;
#[cfg(feature = "png")]
mod png;

pub(crate) use draw::Draw;
pub(crate) use file::PictureFile;
