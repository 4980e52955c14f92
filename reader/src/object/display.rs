//! The text of an object for people.

use super::Object;
use core::fmt;
use topobroker_layout::set::Format;

impl fmt::Debug for Object<'_> {
    /// Writes the type, the logical index and the OS indexes of the PUs, such as `Core L#3 {6,7}`;
    /// for an I/O or Misc object the name instead of the PUs, such as `PCI L#0 "mlx5_0"`.
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
