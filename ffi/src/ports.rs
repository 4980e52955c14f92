//! Ports of OpenFabrics devices, and other facts that hwloc does not keep.

use crate::answer::answer;
use crate::given::Found;
use crate::object::{none_named, object, tb_obj, text_of};
use crate::pointers::{Out, Text};
use crate::status::tb_status;
use crate::structs::Structs;
use crate::topology::tb_topology;
use core::ffi::c_char;
use topobroker_reader::devices::{LinkLayer, Port, PortState};

/// State of a port. Counterpart: enum ibv_port_state.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_port_state {
    /// Neither hwloc nor the publisher found it out.
    TB_PORT_UNKNOWN = 0,
    /// There is no link.
    TB_PORT_DOWN = 1,
    /// There is a link, but no subnet manager has configured it.
    TB_PORT_INIT = 2,
    /// Configured, but not active.
    TB_PORT_ARMED = 3,
    /// Ready for messages.
    TB_PORT_ACTIVE = 4,
    /// Was active, and has lost its link for a moment.
    TB_PORT_ACTIVE_DEFER = 5,
}

/// What is below a port. Counterpart: link_layer of struct ibv_port_attr.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_link_layer {
    /// Neither hwloc nor the publisher found it out.
    TB_LINK_LAYER_UNKNOWN = 0,
    /// InfiniBand.
    TB_LINK_LAYER_INFINIBAND = 1,
    /// Ethernet: RoCE or iWARP.
    TB_LINK_LAYER_ETHERNET = 2,
    /// Another network.
    TB_LINK_LAYER_OTHER = 3,
}

/// A port of an OpenFabrics device. What is unknown is 0. Counterpart: struct ibv_port_attr.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_port {
    /// Prefix of its subnet: the high half of its first global id. 0 if it is no InfiniBand port.
    pub subnet: u64,
    /// GUID: the low half of its first global id.
    pub guid: u64,
    /// Rate in Mb/s.
    pub rate_mbps: u64,
    /// A tb_port_state.
    pub state: i32,
    /// A tb_link_layer.
    pub link_layer: i32,
    /// Local id.
    pub lid: u16,
    /// Local id of the subnet manager.
    pub sm_lid: u16,
    /// Number of the port in the device, from 1.
    pub number: u8,
}

/// Stores up to `capacity` ports of an OpenFabrics device, by ascending number, and the number of
/// all of them in `count` (may be NULL). Other objects have none.
#[unsafe(no_mangle)]
pub extern "C" fn tb_ports(
    topology: Option<&tb_topology>,
    device: tb_obj,
    ports: Structs<'_, tb_port>,
    element_size: usize,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(ports(element_size, capacity, count), |topology| {
        let device = object(topology, device)?;
        device.ports().map(port)
    })
}

/// Stores the value of the first fact of an object with a name, such as MaxLinkSpeed: what its
/// publisher found out without hwloc. TB_ERR_NOT_FOUND if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_fact(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    name: Text<'_>,
    value: Out<'_, *const c_char>,
) -> tb_status {
    answer!(value, |topology, name| {
        let found = object(topology, obj)?.fact(name);
        let found = found.found(|| none_named(obj, "fact", name))?;
        text_of(Some(found))
    })
}

fn port(port: Port<'_>) -> tb_port {
    let gid = port.gid(0).map_or(0, |gid| gid.to_bits());
    let [subnet, guid] = [gid >> 64, gid & u128::from(u64::MAX)];
    let state = match port.state() {
        None => tb_port_state::TB_PORT_UNKNOWN,
        Some(PortState::Down) => tb_port_state::TB_PORT_DOWN,
        Some(PortState::Init) => tb_port_state::TB_PORT_INIT,
        Some(PortState::Armed) => tb_port_state::TB_PORT_ARMED,
        Some(PortState::Active) => tb_port_state::TB_PORT_ACTIVE,
        Some(PortState::ActiveDefer) => tb_port_state::TB_PORT_ACTIVE_DEFER,
    };
    let link_layer = match port.link_layer() {
        None => tb_link_layer::TB_LINK_LAYER_UNKNOWN,
        Some(LinkLayer::InfiniBand) => tb_link_layer::TB_LINK_LAYER_INFINIBAND,
        Some(LinkLayer::Ethernet) => tb_link_layer::TB_LINK_LAYER_ETHERNET,
        Some(LinkLayer::Other) => tb_link_layer::TB_LINK_LAYER_OTHER,
    };
    let has_subnet = matches!(port.link_layer(), None | Some(LinkLayer::InfiniBand));
    tb_port {
        subnet: u64::try_from(subnet).ok().filter(|_| has_subnet).unwrap_or(0),
        guid: u64::try_from(guid).unwrap_or(0),
        rate_mbps: port.rate_mbps().unwrap_or(0),
        state: state as i32,
        link_layer: link_layer as i32,
        lid: port.lid().unwrap_or(0),
        sm_lid: port.sm_lid().unwrap_or(0),
        number: port.number,
    }
}
