//! The IP subnets that network interfaces are directly in, by the kernel's table of routes.

use super::root::Root;
use std::collections::BTreeSet;
use std::net::Ipv4Addr;

/// The most interfaces that are looked at above one: VLANs, bonds, bridges.
const MOST_ABOVE: usize = 64;

/// Maximum length of the table, in bytes: of a hundred thousand routes.
const MOST_BYTES: u64 = 1 << 24;

/// The IPv4 subnets of interfaces: pairs of name and subnet, such as `10.1.0.0/16`.
pub(super) struct Routes(Vec<(String, String)>);

impl Routes {
    pub(super) fn of(root: &Root) -> Self {
        let table = root.text_up_to("proc/net/route", MOST_BYTES).ok().flatten();
        let table = table.unwrap_or_default();
        Self(table.lines().skip(1).filter_map(subnet).collect())
    }

    /// The subnets of an interface and of those above it, with commas between them. `None` if there
    /// are none.
    pub(super) fn subnets(&self, name: &str, root: &Root) -> Option<String> {
        let mut names = vec![name.to_owned()];
        let mut next = 0;
        while let Some(lower) = names.get(next).filter(|_| names.len() < MOST_ABOVE) {
            let files = root.names(&format!("sys/class/net/{lower}"));
            let above = files.iter().filter_map(|file| file.strip_prefix("upper_"));
            let above: Vec<String> = above.map(str::to_owned).collect();
            names.extend(above.into_iter().filter(|it| !names.contains(it)).collect::<Vec<_>>());
            next += 1;
        }
        let own = self.0.iter().filter(|(interface, _)| names.contains(interface));
        let subnets: BTreeSet<&str> = own.map(|(_, subnet)| subnet.as_str()).collect();
        (!subnets.is_empty()).then(|| subnets.into_iter().collect::<Vec<_>>().join(","))
    }
}

/// The interface and the subnet of a line of the table, unless it goes over a gateway, is of one
/// host, or of addresses that hosts give themselves.
fn subnet(line: &str) -> Option<(String, String)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let address = |place: usize| {
        let bits = u32::from_str_radix(words.get(place)?, 16).ok()?;
        // The kernel prints the bytes as they are in memory.
        Some(Ipv4Addr::from(bits.swap_bytes()))
    };
    let (network, gateway, mask) = (address(1)?, address(2)?, address(7)?);
    let bits = mask.to_bits().leading_ones();
    let is_subnet = gateway.is_unspecified() && (1..32).contains(&bits);
    let name = (*words.first()?).to_owned();
    (is_subnet && !network.is_link_local()).then(|| (name, format!("{network}/{bits}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subnets_are_those_without_a_gateway() {
        let of = |line: &str| subnet(line).map(|(name, subnet)| format!("{name} {subnet}"));
        for (words, expected) in [
            ("0000010A 00000000 0001 0 0 0 0000FFFF", Some("ens1 10.1.0.0/16")),
            ("0000010A 0100000A 0003 0 0 0 0000FFFF", None),
            ("00000000 00000000 0001 0 0 0 00000000", None),
            ("0100010A 00000000 0005 0 0 0 FFFFFFFF", None),
            ("0000FEA9 00000000 0001 0 0 0 0000FFFF", None),
            ("x 00000000 0001 0 0 0 0000FFFF", None),
        ] {
            assert_eq!(of(&format!("ens1 {words} 0 0 0")).as_deref(), expected, "{words}");
        }
        assert_eq!(of("ens1"), None);
    }
}
