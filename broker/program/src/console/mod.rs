//! A topology as text, as `lstopo-no-graphics --of console` prints it.

mod collapse;
mod console;
mod object;
mod pci_class;
mod style;
mod tables;

pub use console::print;
pub use pci_class::pci_class_name;
pub use style::{Contents, Indexes, Style};
