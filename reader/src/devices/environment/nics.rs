//! Environment variables from which libraries read which NICs a process is to use.

use crate::devices::{NetworkId, NicChoice, PortState};
use crate::jobs::Job;
use crate::object::Object;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use topobroker_layout::attributes::OsDeviceKind;

/// A library that can be given which NICs to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Library {
    /// UCX: `UCX_NET_DEVICES`.
    Ucx,
    /// NCCL and RCCL: `NCCL_IB_HCA`, or `NCCL_SOCKET_IFNAME` of network interfaces.
    Nccl,
    /// MPICH 4.3 and later over libfabric: the number of the first NIC. Earlier ones take none.
    Mpich,
    /// libfabric itself, for MPICH up to 4.2 and others that use it: the devices that its provider
    /// finds.
    Libfabric,
    /// Open MPI 4 with its own support of OpenFabrics devices.
    OpenMpi,
}

impl Library {
    /// Those whose variables a rank is given.
    pub const OF_RANKS: [Self; 3] = [Self::Ucx, Self::Nccl, Self::Mpich];
}

/// Names and values of the variables that make a library use the NICs `given`, the best
/// first. `all` are those that the library finds.
#[must_use]
pub fn of_nics<'a>(
    library: Library,
    given: &[Object<'a>],
    all: &[Object<'a>],
) -> Vec<(&'static str, String)> {
    let Some(first) = given.first() else { return Vec::new() };
    let is_fabric = first.os_device_kind() == Some(OsDeviceKind::OpenFabrics);
    let list: Vec<String> = given.iter().map(|nic| named(*nic)).collect();
    let list = list.join(",");
    match library {
        Library::Ucx => vec![("UCX_NET_DEVICES", list)],
        // The equals sign means whole names: without it, mlx5_1 is also mlx5_10.
        Library::Nccl if is_fabric => vec![("NCCL_IB_HCA", format!("={list}"))],
        Library::Nccl => vec![("NCCL_SOCKET_IFNAME", format!("={list}"))],
        Library::OpenMpi if is_fabric => vec![("OMPI_MCA_btl_openib_if_include", list)],
        Library::OpenMpi => vec![("OMPI_MCA_btl_tcp_if_include", list)],
        Library::Mpich => {
            // It numbers the NICs of one provider of libfabric.
            let provider = |nic: &Object<'_>| NetworkId::of(*nic).map(provider);
            let mut alike = numbered_by_mpich(all);
            alike.retain(|nic| provider(nic) == provider(first));
            let number = alike.iter().position(|nic| nic == first);
            let variable = number.map(|number| ("MPIR_CVAR_CH4_OFI_PREF_NIC", number.to_string()));
            variable.into_iter().collect()
        }
        Library::Libfabric => {
            let names: Vec<&str> = given.iter().filter_map(|nic| nic.name()).collect();
            let own = names.first().copied().unwrap_or_default();
            // Verbs devices are named by the beginnings of their names.
            let begins = |nic: &&Object<'a>| nic.name().is_some_and(|name| name.starts_with(own));
            match NetworkId::of(*first).map(provider) {
                Some("verbs") if all.iter().filter(begins).count() < 2 => {
                    vec![("FI_VERBS_DEVICE_NAME", own.to_owned())]
                }
                // hwloc before 2.13 knows only the interfaces of Slingshot.
                Some("cxi") if own.starts_with("cxi") => {
                    vec![("FI_CXI_DEVICE_NAME", names.join(","))]
                }
                Some("efa") => vec![("FI_EFA_IFACE", names.join(","))],
                Some("tcp") => vec![("FI_TCP_IFACE", own.to_owned())],
                _ => Vec::new(),
            }
        }
    }
}

/// Names and values of the variables that make libraries use the NICs that a rank of a job was
/// given: UCX, NCCL and MPICH.
#[must_use]
pub fn of_nics_of_rank(job: Job<'_>, rank: u32) -> Vec<(&'static str, String)> {
    let given: Vec<Object<'_>> = job.nics(rank).collect();
    // A rank may have NICs of unknown state.
    let all = |choice| job.topology().nics(choice).collect::<Vec<_>>();
    let active = all(NicChoice::Active);
    let all = match given.iter().all(|nic| active.contains(nic)) {
        true => active,
        false => all(NicChoice::ActiveOrUnknown),
    };
    Library::OF_RANKS.into_iter().flat_map(|library| of_nics(library, &given, &all)).collect()
}

/// NICs in the order in which MPICH numbers them.
#[must_use]
pub fn numbered_by_mpich<'a>(nics: &[Object<'a>]) -> Vec<Object<'a>> {
    let mut nics = nics.to_vec();
    nics.sort_by_key(|nic| nic.name());
    nics
}

/// The provider by which libfabric knows a network.
fn provider(network: NetworkId) -> &'static str {
    match network {
        NetworkId::InfiniBand(_) | NetworkId::Roce(_) => "verbs",
        NetworkId::Slingshot => "cxi",
        NetworkId::OmniPath(_) => "psm2",
        NetworkId::Efa => "efa",
        _ => "tcp",
    }
}

/// The name of a NIC with its first active port, otherwise its first one that may be active, such
/// as `mlx5_0:1`. An interface has no ports, and is the one for IP of a Slingshot NIC.
fn named(nic: Object<'_>) -> String {
    let nic = nic.interface().unwrap_or(nic);
    let name = nic.name().unwrap_or_default();
    let with = |state: Option<PortState>| nic.ports().find(|port| port.state() == state);
    let port = with(Some(PortState::Active)).or_else(|| with(None)).or_else(|| nic.ports().next());
    port.map_or(name.to_owned(), |port| format!("{name}:{}", port.number))
}
