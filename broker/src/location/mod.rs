//! Objects as users name them on a command line, such as `core:2-3` or `package:0.pu:all`.

mod error;
mod level;
mod location;
mod range;

pub use error::LocationError;
pub use level::{Level, NoSuchLevel};
pub use location::{Combine, Location, Reading};
