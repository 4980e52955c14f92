//! Which NICs a site lets jobs use, as its administrators and users write it.

use crate::name_pattern::is_like;
use std::collections::BTreeMap;
use topobroker_reader::{
    Object, ObjectType, Topology,
    devices::{LinkState, Network, NetworkId, NicChoice},
};

/// The facts of a topology in which the words of its site are.
pub(super) const NETWORK: &str = "SiteNetwork";
pub(super) const NIC: &str = "SiteNic";
pub(super) const NO_NIC: &str = "SiteNoNic";

/// Which NICs jobs may use. By default those that the site of the topology says, otherwise all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NicFilter {
    network: Option<String>,
    only: Option<NicList>,
    without: Option<NicList>,
    /// Networks that come before all others.
    first: Vec<NetworkId>,
    /// Names of NICs, each with that of the NIC that replaces it.
    instead: BTreeMap<String, String>,
}

/// A text is not a list of NICs.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[error("{text:?}: {reason}; expected names such as mlx5_0:1,mlx5_1, =mlx5_1, ^mlx5_2 or mlx5_an*")]
pub struct NicListError {
    /// The text.
    pub text: String,
    /// What is wrong.
    pub reason: &'static str,
}

/// Names of NICs as UCX and NCCL write them: `=mlx5_0:1,mlx5_1` (whole names), `mlx5` (what begins
/// with it, as NCCL has it), `mlx5_an*` (a pattern, as UCX has it), `^...` (all others).
#[derive(Debug, Clone, PartialEq, Eq)]
struct NicList {
    is_inverted: bool,
    is_exact: bool,
    /// Each with its port, if it has one.
    names: Vec<(String, Option<u8>)>,
}

impl NicFilter {
    /// A filter by the words of a network (`infiniband`, `roce`, `ethernet`, `slingshot`, `efa`,
    /// `omni-path`, a subnet such as `fe80:0000:0000:0001` or `10.1.0.0/16`, or the whole name that
    /// [`NetworkId`] prints), by NICs to use, and by NICs to leave out.
    ///
    /// # Errors
    ///
    /// [`NicListError`].
    pub fn new(
        network: Option<&str>,
        only: Option<&str>,
        without: Option<&str>,
    ) -> Result<Self, NicListError> {
        let list = |text: Option<&str>| text.map(NicList::parse).transpose();
        let (only, without) = (list(only)?, list(without)?);
        let network = network.map(str::to_owned);
        Ok(Self { network, only, without, ..Self::default() })
    }

    /// Lets networks that reach all nodes of a cluster come before all others.
    #[must_use]
    pub fn preferring(self, first: Vec<NetworkId>) -> Self {
        Self { first, ..self }
    }

    /// Gives ranks the NIC on the rail that their NIC has on other nodes: `instead` has the names
    /// of NICs, each with that of the NIC on its rail here.
    #[must_use]
    pub fn on_rails(self, instead: BTreeMap<String, String>) -> Self {
        Self { instead, ..self }
    }

    /// The NIC that ranks have in place of another one.
    pub(crate) fn on_rail<'a>(&self, nics: &[Object<'a>], nic: Object<'a>) -> Object<'a> {
        let other = self.instead.get(nic.device_name().as_ref());
        let other = other.and_then(|name| nics.iter().find(|it| it.device_name() == *name));
        other.copied().unwrap_or(nic)
    }

    /// The networks with the NICs that the filter leaves, the best first. A filter
    /// that says nothing is that of the site which published the topology
    /// ([`add_site`](super::add_site)).
    #[must_use]
    pub fn networks<'a>(&self, topology: Topology<'a>, choice: NicChoice) -> Vec<Network<'a>> {
        // What a user says takes the place of all that the site says.
        let is_site = self.network.is_none() && self.only.is_none() && self.without.is_none();
        let of_site = |fact| topology.root().fact(fact).filter(|_| is_site);
        let list = |own: &Option<NicList>, fact| {
            own.clone().or_else(|| of_site(fact).and_then(|text| NicList::parse(text).ok()))
        };
        let network = self.network.as_deref().or_else(|| of_site(NETWORK));
        let (only, without) = (list(&self.only, NIC), list(&self.without, NO_NIC));
        let may_be_used = |nic: Object<'a>| {
            only.as_ref().is_none_or(|list| list.has(nic))
                && !without.as_ref().is_some_and(|list| list.names_it(nic))
        };
        let mut networks = topology.networks_with(choice, |nic| {
            let is_wanted = |id: NetworkId| {
                network.is_none_or(|wanted| {
                    is_named(id, wanted) || nic.ip_subnets().any(|it| it == wanted.trim())
                })
            };
            may_be_used(nic) && NetworkId::of(nic).is_some_and(is_wanted)
        });
        // Stable: within both groups the order stays.
        networks.sort_by_key(|network| !self.first.contains(&network.id));
        networks
    }

    /// Why no network is left; `None` if there is one.
    #[must_use]
    pub fn why_none(&self, topology: Topology<'_>, choice: NicChoice) -> Option<String> {
        if self.network(topology, choice).is_some() {
            return None;
        }
        let others: Vec<String> =
            topology.network_shares(choice).map(|network| network.id.to_string()).collect();
        if !others.is_empty() {
            let others = others.join(", ");
            return Some(format!(
                "the node has {others}; --network, --nic and --no-nic leave none"
            ));
        }
        let all = topology.objects_with_type(ObjectType::OSDevice);
        let adapters = all.filter(|it| NetworkId::of(*it).is_some());
        let adapters: Vec<Object<'_>> =
            adapters.filter(|it| it.pci_device_above().is_some()).collect();
        let in_state = |state| {
            let all = adapters.iter().filter(|it| it.link_state() == state);
            all.map(|it| it.device_name()).collect::<Vec<_>>().join(", ")
        };
        let (down, unknown) = (in_state(LinkState::Inactive), in_state(LinkState::Unknown));
        Some(match (down.as_str(), unknown.as_str()) {
            ("", "") => "the node has no NIC".to_owned(),
            ("", unknown) => format!("the state of these is unknown: {unknown}"),
            (down, "") => format!("these are not active: {down}"),
            (down, unknown) => {
                format!("these are not active: {down}; the state of these is unknown: {unknown}")
            }
        })
    }

    /// The network that a job uses; `None` if none is left.
    #[must_use]
    pub fn network<'a>(&self, topology: Topology<'a>, choice: NicChoice) -> Option<Network<'a>> {
        self.networks(topology, choice).into_iter().next()
    }
}

fn is_named(id: NetworkId, wanted: &str) -> bool {
    let name = id.to_string();
    let subnet = name.split(' ').nth(1).filter(|_| id.subnet().is_some());
    let number = id.subnet().map(|subnet| format!("{subnet:#018x}"));
    [Some(name.as_str()), Some(id.kind()), subnet, number.as_deref()]
        .into_iter()
        .flatten()
        .any(|known| known.eq_ignore_ascii_case(wanted.trim()))
}

impl NicList {
    fn parse(text: &str) -> Result<Self, NicListError> {
        let wrong = |reason| NicListError { text: text.to_owned(), reason };
        let (is_inverted, rest) = match text.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (is_exact, rest) = match rest.strip_prefix('=') {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let names = rest.split(',').map(|name| match name.trim().split_once(':') {
            None if name.trim().is_empty() => Err(wrong("a name is empty")),
            None => Ok((name.trim().to_owned(), None)),
            Some((name, port)) => {
                let port = port.parse().map_err(|_| wrong("a port is no number"))?;
                Ok((name.to_owned(), Some(port)))
            }
        });
        Ok(Self { is_inverted, is_exact, names: names.collect::<Result<_, _>>()? })
    }

    /// Whether the list lets a NIC be used.
    fn has(&self, nic: Object<'_>) -> bool {
        self.names_it(nic) != self.is_inverted
    }

    /// Whether one of the names is that of a NIC.
    fn names_it(&self, nic: Object<'_>) -> bool {
        let interface = nic.interface().and_then(Object::name);
        self.names.iter().any(|(wanted, port)| {
            // NCCL takes the beginning of a name; a whole name is never another's beginning.
            let is_whole = self.is_exact || port.is_some() || ends_with_digit(wanted);
            let is_beginning = !(is_whole || wanted.contains('*'));
            let is_it = |name: &str| {
                is_like(wanted, name) || (is_beginning && name.starts_with(wanted.as_str()))
            };
            let has_port = port.is_none_or(|port| nic.ports().any(|it| it.number == port));
            has_port && [nic.name(), interface].into_iter().flatten().any(is_it)
        })
    }
}

fn ends_with_digit(name: &str) -> bool {
    name.ends_with(|last: char| last.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_ucx_and_nccl_write_them() {
        let list = NicList::parse("^=mlx5_0:1,mlx5_1").unwrap();
        assert!(list.is_inverted && list.is_exact);
        assert_eq!(list.names, [("mlx5_0".to_owned(), Some(1)), ("mlx5_1".to_owned(), None)]);
        for text in ["", "mlx5_0,,mlx5_1", "mlx5_0:x", "^"] {
            assert!(NicList::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn networks_are_named_by_kind_subnet_or_both() {
        let id = NetworkId::InfiniBand(Some(0xfe80_0000_0000_0001));
        for name in [
            "infiniband",
            "InfiniBand fe80:0000:0000:0001",
            "fe80:0000:0000:0001",
            "0xfe80000000000001",
        ] {
            assert!(is_named(id, name), "{name}");
        }
        assert!(!is_named(id, "roce") && !is_named(NetworkId::Roce(Some(100_000)), "100"));
        assert!(is_named(NetworkId::Roce(Some(100_000)), "RoCE 100 Gb/s"));
    }
}
