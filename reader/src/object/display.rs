//! How an object is shown to a person.

use super::object::Object;
use std::fmt;
use topobroker_layout::set::Format;

impl fmt::Debug for Object<'_> {
    /// Type, logical index and OS indexes of the PUs, as `Core L#3 {6,7}`; of an I/O or Misc object its name, as
    /// `PCI L#0 "mlx5_0"`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_type_name(false, f)?;
        write!(f, " L#{}", self.logical_index())?;
        match (self.cpuset(), self.name()) {
            (Some(pus), _) => write!(f, " {{{}}}", pus.to_text(Format::List)),
            (None, Some(name)) => write!(f, " {name:?}"),
            (None, None) => Ok(()),
        }
    }
}
