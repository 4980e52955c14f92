//! Loading a topology: this machine, an XML file, a synthetic description, a saved file system.

mod error;
mod fsroot;
mod load;
mod synthetic;
mod xml;

pub use error::HwlocLoadError;
pub(crate) use load::load_as;
pub use load::{Input, LoadOptions, Plugins, export_v1, load};
