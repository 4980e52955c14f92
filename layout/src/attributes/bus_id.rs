//! Where a PCI device is.

use core::fmt;

/// Domain, bus, device and function of a PCI device. They are ordered as Linux lists devices, and
/// as CUDA and ROCm number GPUs. The text is that of Linux: `0000:03:00.1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BusId {
    /// Domain, `xxxx` of `xxxx:yy:zz.t`.
    pub domain: u32,
    /// Bus, `yy`.
    pub bus: u8,
    /// Device, `zz`.
    pub dev: u8,
    /// Function, `t`.
    pub func: u8,
}

impl BusId {
    /// Behind all devices: where things are sorted, for what is not on PCI.
    pub const LAST: Self = Self { domain: u32::MAX, bus: u8::MAX, dev: u8::MAX, func: u8::MAX };

    /// The bus id with this text. `03:00.1` is in domain 0. Counterpart: what
    /// `hwloc_get_pcidev_by_busidstring` takes.
    ///
    /// ```
    /// use topobroker_layout::attributes::BusId;
    /// let bus_id = BusId { domain: 0, bus: 10, dev: 31, func: 7 };
    /// assert_eq!(BusId::parse("0a:1f.7"), Some(bus_id));
    /// assert_eq!(bus_id.to_string(), "0000:0a:1f.7");
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (place, func) = text.split_once('.')?;
        let mut parts = place.rsplit(':');
        let (dev, bus, domain) = (parts.next()?, parts.next()?, parts.next().unwrap_or("0"));
        let byte = |digits: &str| u8::from_str_radix(digits, 16).ok();
        let domain = u32::from_str_radix(domain, 16).ok()?;
        let whole = parts.next().is_none();
        whole.then_some(Self { domain, bus: byte(bus)?, dev: byte(dev)?, func: byte(func)? })
    }

    /// The bus id in one number, which old XML files have as the OS index.
    #[must_use]
    pub const fn os_index(self) -> u32 {
        let Self { domain, bus, dev, func } = self;
        (domain << 20) | ((bus as u32) << 12) | ((dev as u32) << 4) | func as u32
    }
}

impl fmt::Display for BusId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { domain, bus, dev, func } = self;
        write!(f, "{domain:04x}:{bus:02x}:{dev:02x}.{func:x}")
    }
}

#[cfg(test)]
mod tests {
    use super::BusId;

    #[test]
    fn a_bus_id_may_leave_out_its_domain() {
        let bus_id = |domain| BusId { domain, bus: 10, dev: 31, func: 7 };
        assert_eq!(BusId::parse("0001:0a:1f.7"), Some(bus_id(1)));
        assert_eq!(BusId::parse("0a:1f.7"), Some(bus_id(0)));
        for text in ["", "0a", "1f.7", "0:0:0:0.1", "0a:1f", "0a:100.1", "x:1f.7", ":1f.7"] {
            assert_eq!(BusId::parse(text), None, "{text}");
        }
    }
}
