//! Loading a topology: this machine, an XML file, a synthetic description, a saved file system.

mod error;
mod fsroot;
mod load;
mod synthetic;
mod xml;

pub use error::HwlocLoadError;
pub use load::{Input, LoadOptions, Plugins, load};
pub(crate) use load::{export_v1, load_as};
