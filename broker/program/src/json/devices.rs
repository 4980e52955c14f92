//! Devices, ports, networks, and paths over links.

use serde::Serialize;
use std::borrow::Cow;

/// A device.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Device<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) other_names: Vec<&'a str>,
    pub(crate) r#type: &'static str,
    pub(crate) bus_id: Option<String>,
    /// OS indexes of the NUMA nodes that it is local to; null if it is local to all of several.
    pub(crate) numa_os_indexes: Option<Vec<u32>>,
    /// The same by logical index.
    pub(crate) numa_logical_indexes: Option<Vec<u32>>,
    pub(crate) ports: Vec<DevicePort<'a>>,
    pub(crate) rate_mbps: Option<u64>,
    pub(crate) max_link_speed: Option<&'a str>,
    pub(crate) max_link_width: Option<&'a str>,
    pub(crate) uuid: Option<&'a str>,
    pub(crate) mig_instances: Vec<&'a str>,
    pub(crate) nvlink_domain: Option<&'a str>,
    /// With --near or --rank.
    #[serde(flatten)]
    pub(crate) near: Option<Near>,
}

/// How far a device is from a process.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Near {
    pub(crate) nearness: &'static str,
    pub(crate) pmix_distance: Option<u16>,
    pub(crate) pmix_greatest_distance: Option<u16>,
    pub(crate) latency: Option<u64>,
    pub(crate) pci_hops: u32,
    /// In GB/s.
    pub(crate) linkspeed: Option<f32>,
}

/// A port of a device, and its state.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct DevicePort<'a> {
    pub(crate) port: u8,
    pub(crate) state: &'a str,
}

/// A port of an OpenFabrics device.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Port<'a> {
    pub(crate) device: Option<&'a str>,
    pub(crate) port: u8,
    pub(crate) node_type: Option<&'a str>,
    pub(crate) state: Option<&'a str>,
    pub(crate) physical_state: Option<&'a str>,
    pub(crate) link_layer: Option<&'static str>,
    pub(crate) rate: Option<&'a str>,
    pub(crate) rate_mbps: Option<u64>,
    pub(crate) lid: Option<u16>,
    pub(crate) sm_lid: Option<u16>,
    pub(crate) gid: Option<String>,
    pub(crate) subnet: Option<String>,
    pub(crate) pkeys: Vec<String>,
}

/// A port, or an interface of a network without ports.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(crate) enum AnyPort<'a> {
    Port(Port<'a>),
    Interface(Interface<'a>),
}

/// A network interface.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Interface<'a> {
    pub(crate) device: Option<&'a str>,
    pub(crate) state: Option<&'a str>,
    pub(crate) rate_mbps: Option<u64>,
    pub(crate) address: Option<&'a str>,
}

/// NICs that reach each other.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FoundNetwork<'a> {
    pub(crate) network: String,
    pub(crate) kind: &'static str,
    pub(crate) subnet: Option<String>,
    /// Of all its NICs together; 0 if it is unknown.
    pub(crate) rate_mbps: u64,
    /// How many nodes of the cluster it reaches; null without a cluster.
    pub(crate) nodes: Option<u32>,
    pub(crate) nics: Vec<Nic<'a>>,
}

/// A NIC of a network.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Nic<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) interface: Option<&'a str>,
    pub(crate) rate_mbps: Option<u64>,
    pub(crate) ip_subnets: Vec<&'a str>,
    pub(crate) ports: Vec<NicPort>,
}

/// A port of a NIC.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NicPort {
    pub(crate) port: u8,
    pub(crate) active: bool,
    pub(crate) rate_mbps: Option<u64>,
}

/// A path over links. What is not known, and all of a path that is not there, is null.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LinkPath<'a> {
    pub(crate) from: Cow<'a, str>,
    pub(crate) to: Cow<'a, str>,
    /// In MB/s.
    pub(crate) bandwidth: Option<u32>,
    pub(crate) has_unknown_bandwidth: Option<bool>,
    /// In nanoseconds.
    pub(crate) latency: Option<u32>,
    pub(crate) hops: Option<u16>,
    /// Its vertices from its beginning to its end.
    pub(crate) way: Vec<Cow<'a, str>>,
}
