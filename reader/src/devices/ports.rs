//! Ports of OpenFabrics devices.

use crate::object::Object;
use alloc::{format, string::String};
use core::net::Ipv6Addr;
use topobroker_layout::attributes::OsDeviceKind;

/// A port of an OpenFabrics device. What neither hwloc nor the publisher found out is `None`.
/// Counterpart: `struct ibv_port_attr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port<'a> {
    /// The OpenFabrics device.
    pub device: Object<'a>,
    /// Number of the port in the device, from 1.
    pub number: u8,
}

/// State of a port. Counterpart: `enum ibv_port_state`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PortState {
    /// There is no link.
    Down,
    /// There is a link, but no subnet manager has configured it.
    Init,
    /// Configured, but not active.
    Armed,
    /// Ready for messages.
    Active,
    /// Was active, and has lost its link for a moment.
    ActiveDefer,
}

/// What is below a port. Counterpart: `link_layer` of `struct ibv_port_attr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkLayer {
    /// InfiniBand.
    InfiniBand,
    /// Ethernet: RoCE or iWARP.
    Ethernet,
    /// Another network, such as that of Amazon's EFA.
    Other,
}

/// The PCI class of Ethernet controllers.
const ETHERNET_CONTROLLER: u16 = 0x0200;

/// Amazon's PCI vendor: its EFA devices have ports like those of InfiniBand, but no subnet.
pub(super) const AMAZON: u16 = 0x1d0f;

/// A subnet prefix as Linux prints it: `fe80:0000:0000:0000`.
#[must_use]
pub fn prefix_text(prefix: u64) -> String {
    let parts = [48, 32, 16, 0].map(|shift| format!("{:04x}", (prefix >> shift) & 0xffff));
    parts.join(":")
}

impl<'a> Object<'a> {
    /// The ports of an OpenFabrics device, by ascending number. Other objects have none.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// use topobroker_reader::{devices::PortState, ObjectType};
    /// for device in topology.objects_with_type(ObjectType::OSDevice) {
    ///     let active = device.ports().filter(|port| port.state() == Some(PortState::Active));
    ///     println!("{}: {} active ports", device.name().unwrap_or_default(), active.count());
    /// }
    /// ```
    pub fn ports(self) -> impl Iterator<Item = Port<'a>> {
        let next = move |after: Option<u8>| {
            let numbers =
                self.text_names().filter_map(|name| parse(name).map(|(number, _)| number));
            numbers.filter(|number| after.is_none_or(|after| *number > after)).min()
        };
        let is_fabric = self.os_device_kind() == Some(OsDeviceKind::OpenFabrics);
        let first = is_fabric.then(|| next(None)).flatten();
        core::iter::successors(first, move |number| next(Some(*number)))
            .map(move |number| Port { device: self, number })
    }
}

impl<'a> Port<'a> {
    /// State, for example [`PortState::Active`].
    #[must_use]
    pub fn state(self) -> Option<PortState> {
        match self.value("State")?.split(':').next()?.trim() {
            "1" => Some(PortState::Down),
            "2" => Some(PortState::Init),
            "3" => Some(PortState::Armed),
            "4" => Some(PortState::Active),
            "5" => Some(PortState::ActiveDefer),
            _ => None,
        }
    }

    /// Whether the port is known to be active.
    #[must_use]
    pub fn is_active(self) -> bool {
        self.state() == Some(PortState::Active)
    }

    /// State of the link as Linux words it, such as `5: LinkUp`.
    #[must_use]
    pub fn physical_state(self) -> Option<&'a str> {
        self.value("PhysicalState")
    }

    /// What is below the port. If the publisher did not find it out, the addresses of network
    /// interfaces of the same PCI device say it, then the class of that, then the LID of the port.
    #[must_use]
    pub fn link_layer(self) -> Option<LinkLayer> {
        match self.value("LinkLayer") {
            Some("InfiniBand") => return Some(LinkLayer::InfiniBand),
            Some("Ethernet") => return Some(LinkLayer::Ethernet),
            Some(_) => return Some(LinkLayer::Other),
            None => {}
        }
        let pci = self.device.pci_device_above()?;
        if pci.pci_vendor() == Some(AMAZON) {
            return Some(LinkLayer::Other);
        }
        let by_address = self.gid(0).and_then(|gid| {
            let [.., a, b, c, d, e, f, g, h] = gid.octets();
            let guid = [a, b, c, d, e, f, g, h];
            let mut addresses = pci.io_children().filter_map(|it| it.info("Address"));
            addresses.find_map(|address| link_layer_of(address, guid))
        });
        by_address.or_else(|| self.link_layer_by_class(pci)).or_else(|| self.link_layer_by_lid())
    }

    /// An Ethernet controller with an interface that has a MAC address has ports over Ethernet,
    /// though drivers of iWARP have a LID.
    fn link_layer_by_class(self, pci: Object<'a>) -> Option<LinkLayer> {
        let is_ethernet = pci.pci_attributes()?.class_id == ETHERNET_CONTROLLER;
        let mut addresses = pci.io_children().filter_map(|it| it.info("Address"));
        let is_mac = |address| bytes_of_address(address).is_some_and(|(count, _)| count == 6);
        (is_ethernet && addresses.any(is_mac)).then_some(LinkLayer::Ethernet)
    }

    /// The subnet manager gives each active port of InfiniBand a LID; RoCE has none.
    fn link_layer_by_lid(self) -> Option<LinkLayer> {
        match (self.is_active(), self.lid()?) {
            (true, 0) => Some(LinkLayer::Ethernet),
            (_, 1..) => Some(LinkLayer::InfiniBand),
            (false, 0) => None,
        }
    }

    /// The prefix of its subnet: the high half of its first GID. `None` over Ethernet, where
    /// subnets are those of IP. A port of unknown protocol is taken to be of InfiniBand.
    #[must_use]
    pub fn subnet_prefix(self) -> Option<u64> {
        let has_prefix = matches!(self.link_layer(), None | Some(LinkLayer::InfiniBand));
        u64::try_from(self.gid(0).filter(|_| has_prefix)?.to_bits() >> 64).ok()
    }

    /// Rate as Linux words it, such as `56 Gb/sec (4X FDR)`.
    #[must_use]
    pub fn rate(self) -> Option<&'a str> {
        self.value("Rate")
    }

    /// Rate in Mb/s.
    #[must_use]
    pub fn rate_mbps(self) -> Option<u64> {
        let (number, unit) = self.rate()?.split_once(' ')?;
        let (whole, tenths) = number.split_once('.').unwrap_or((number, "0"));
        let tenths = u64::from(tenths.parse::<u8>().ok().filter(|it| *it < 10)?);
        let rate = whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(tenths * 100)?;
        (unit.starts_with("Gb/sec") && rate > 0).then_some(rate)
    }

    /// Local id. Counterpart: `lid`.
    #[must_use]
    pub fn lid(self) -> Option<u16> {
        number(self.value("LID")?)
    }

    /// Local id of the subnet manager. Counterpart: `sm_lid`.
    #[must_use]
    pub fn sm_lid(self) -> Option<u16> {
        number(self.value("SMLID")?)
    }

    /// A global id by its index. Its high 64 bits are the prefix of the subnet. Counterpart:
    /// `ibv_query_gid`.
    #[must_use]
    pub fn gid(self, index: u8) -> Option<Ipv6Addr> {
        let is_it = |name: &str| {
            parse(name).is_some_and(|(number, what)| {
                let found = what.strip_prefix("GID").and_then(|digits| digits.parse().ok());
                number == self.number && found == Some(index)
            })
        };
        gid(self.device.text_with(is_it)?)
    }

    /// The GUID of the port: the low 64 bits of its first global id.
    #[must_use]
    pub fn guid(self) -> Option<u64> {
        u64::try_from(self.gid(0)?.to_bits() & u128::from(u64::MAX)).ok()
    }

    /// Distinct partition keys. Counterpart: `ibv_query_pkey`.
    pub fn pkeys(self) -> impl Iterator<Item = u16> + use<'a> {
        self.value("Pkeys").into_iter().flat_map(|list| list.split(',').filter_map(number))
    }

    fn value(self, what: &str) -> Option<&'a str> {
        self.device.text_with(|name| parse(name) == Some((self.number, what)))
    }
}

/// The parts of the name of a text about a port: `Port1LID` is `LID` of port 1.
fn parse(name: &str) -> Option<(u8, &str)> {
    let rest = name.strip_prefix("Port")?;
    let end = rest.find(|it: char| !it.is_ascii_digit())?;
    let (digits, what) = rest.split_at_checked(end)?;
    Some((digits.parse().ok()?, what))
}

/// A number as Linux writes it, decimal or hexadecimal.
fn number(text: &str) -> Option<u16> {
    match text.strip_prefix("0x") {
        Some(digits) => u16::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// A global id as Linux writes it: eight groups of digits. This is smaller than the parser of the
/// standard library, which knows more forms.
fn gid(text: &str) -> Option<Ipv6Addr> {
    let (mut groups, mut rest) = ([0; 8], text.split(':'));
    for group in &mut groups {
        *group = u16::from_str_radix(rest.next()?, 16).ok()?;
    }
    rest.next().is_none().then(|| Ipv6Addr::from(groups))
}

/// The global id in the address of an interface over InfiniBand (IPoIB), which has 20 bytes.
pub(super) fn gid_in_address(address: &str) -> Option<Ipv6Addr> {
    let (count, bytes) = bytes_of_address(address)?;
    let [_, _, _, _, gid @ ..] = bytes;
    (count == 20).then(|| Ipv6Addr::from(gid))
}

/// The link layer of the port with a GUID, if an address of a network interface is made of it. That
/// of an Ethernet interface is in the GUID with `ff:fe` in its middle and one bit changed; that of
/// an InfiniBand interface has the GUID at its end.
fn link_layer_of(address: &str, guid: [u8; 8]) -> Option<LinkLayer> {
    match bytes_of_address(address)? {
        (6, [a, b, c, d, e, f, ..]) if guid == [a ^ 2, b, c, 0xff, 0xfe, d, e, f] => {
            Some(LinkLayer::Ethernet)
        }
        (20, [.., a, b, c, d, e, f, g, h]) if guid == [a, b, c, d, e, f, g, h] => {
            Some(LinkLayer::InfiniBand)
        }
        _ => None,
    }
}

/// The bytes of an address of an interface, and how many it has.
fn bytes_of_address(address: &str) -> Option<(usize, [u8; 20])> {
    let (mut bytes, mut count) = ([0; 20], 0);
    for part in address.split(':') {
        *bytes.get_mut(count)? = u8::from_str_radix(part, 16).ok()?;
        count += 1;
    }
    Some((count, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_texts_about_ports_have_a_number() {
        assert_eq!(parse("Port1State"), Some((1, "State")));
        assert_eq!(parse("Port12GID0"), Some((12, "GID0")));
        for name in ["Port", "PortState", "Port1", "Port999State", "port1State", "Porté"] {
            assert_eq!(parse(name), None, "{name}");
        }
    }

    #[test]
    fn global_ids_have_eight_groups() {
        let text = "fe80:0000:0000:0000:0002:c903:00a1:b2c3";
        assert_eq!(gid(text), text.parse().ok());
        for text in ["", "fe80::1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:10000"] {
            assert_eq!(gid(text), None, "{text}");
        }
    }

    #[test]
    fn addresses_of_interfaces_show_the_link_layer_of_a_port() {
        let mac = [0x7a, 0xe7, 0xd1, 0xff, 0xfe, 0x24, 0xa7, 0xcd];
        assert_eq!(link_layer_of("78:e7:d1:24:a7:cd", mac), Some(LinkLayer::Ethernet));
        assert_eq!(link_layer_of("78:e7:d1:24:a7:ce", mac), None);
        let guid = [0x78, 0xe7, 0xd1, 0x03, 0x00, 0x24, 0xa7, 0xcd];
        let ipoib = "80:00:00:48:fe:80:00:00:00:00:00:00:78:e7:d1:03:00:24:a7:cd";
        assert_eq!(link_layer_of(ipoib, guid), Some(LinkLayer::InfiniBand));
        for address in ["", "78:e7", "x:y", &"0:".repeat(40)] {
            assert_eq!(link_layer_of(address, guid), None, "{address}");
        }
    }
}
