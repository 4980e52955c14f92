//! The PCI tree: host bridges and switches.

use crate::object::Object;
use topobroker_layout::attributes::{Attributes, Bridge};
use topobroker_layout::object_type::ObjectType;

impl<'a> Object<'a> {
    /// The host bridge that a device or bridge hangs on, or is.
    #[must_use]
    pub fn host_bridge(self) -> Option<Self> {
        self.bridges().find(|it| it.as_bridge().is_some_and(|bridge| bridge.upstream.is_none()))
    }

    /// The PCI switches that a device or bridge hangs on, or is, the lowest first. A switch is the
    /// bridge of its upstream port.
    pub fn pci_switches(self) -> impl Iterator<Item = Self> {
        self.bridges().filter(|it| it.is_pci_switch())
    }

    /// Whether this is the upstream port of a PCI switch: a bridge that other bridges are below,
    /// and that is below a root port or a downstream port.
    #[must_use]
    pub fn is_pci_switch(self) -> bool {
        let is_port = |it: &Self| it.as_bridge().is_some_and(|bridge| bridge.upstream.is_some());
        let is_below_port = self.bridges().filter(is_port).count() % 2 == 0;
        is_port(&self)
            && is_below_port
            && self.io_children().any(|it| it.object_type() == ObjectType::Bridge)
    }

    /// This object, if it is a bridge, and the bridges above.
    fn bridges(self) -> impl Iterator<Item = Self> {
        let above = core::iter::once(self).chain(self.ancestors());
        above.filter(|it| it.object_type() == ObjectType::Bridge)
    }

    fn as_bridge(self) -> Option<Bridge> {
        match self.attributes() {
            Attributes::Bridge(bridge) => Some(bridge),
            _ => None,
        }
    }
}
