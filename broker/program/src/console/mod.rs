//! A topology as text, as `lstopo-no-graphics --of console` prints it.

mod collapse;
mod console;
mod object;
mod style;
mod tables;

pub use console::print;
pub use style::{Contents, Cpusets, Indexes, Style};
