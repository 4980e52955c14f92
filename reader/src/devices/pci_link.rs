//! The link of a PCI device or of the upstream side of a bridge.

use crate::object::Object;
use topobroker_layout::attributes::{Attributes, Pci};

/// The greatest speed of a PCI link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PciLink {
    /// What a lane transfers, in tenths of GT/s: 160 in the fourth generation.
    pub speed: u16,
    /// Number of lanes, 1 to 32.
    pub lanes: u8,
}

/// What a lane transfers in each generation, in tenths of GT/s.
const GENERATIONS: [u16; 6] = [25, 50, 80, 160, 320, 640];

impl PciLink {
    /// The generation of PCI, from 1; `None` if no generation has this speed.
    #[must_use]
    pub fn generation(self) -> Option<usize> {
        GENERATIONS.iter().position(|speed| *speed == self.speed).map(|place| place + 1)
    }

    /// What the link carries in MB/s of data in one direction.
    #[must_use]
    pub fn mbytes_per_second(self) -> u32 {
        let (speed, lanes) = (u64::from(self.speed), u64::from(self.lanes));
        // 8 of 10 bits are data in the first two generations, 128 of 130 later: so many of 10,000.
        let data = if speed <= 50 { 8000 } else { 9846 };
        u32::try_from(speed * 100 * lanes * data / (8 * 10_000)).unwrap_or(u32::MAX)
    }
}

impl<'a> Object<'a> {
    /// The greatest speed of the link of a PCI device or of the upstream side of a bridge. `None`
    /// of other objects, and if the publisher did not find it out.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// for nic in topology.nics(topobroker_reader::devices::NicChoice::Active) {
    ///     let link = nic.pci_device_above().and_then(|pci| pci.pci_link());
    ///     println!("{:?} MB/s", link.map(|link| link.mbytes_per_second()));
    /// }
    /// ```
    #[must_use]
    pub fn pci_link(self) -> Option<PciLink> {
        let lanes = self.fact("MaxLinkWidth")?.parse().ok().filter(|it| (1..=32).contains(it))?;
        // Such as `16.0 GT/s PCIe`.
        let number = self.fact("MaxLinkSpeed")?.split(' ').next()?;
        let (whole, tenths) = number.split_once('.').unwrap_or((number, "0"));
        let (whole, tenths) = (whole.parse::<u16>().ok()?, tenths.parse::<u8>().ok()?);
        let speed = whole.checked_mul(10)?.checked_add(tenths.into())?;
        (speed > 0).then_some(PciLink { speed, lanes })
    }

    /// The attributes of a PCI device, or of the upstream side of a bridge.
    #[must_use]
    pub fn pci_attributes(self) -> Option<Pci> {
        match self.attributes() {
            Attributes::Pci(pci) => Some(pci),
            Attributes::Bridge(bridge) => bridge.upstream,
            _ => None,
        }
    }
}
