//! `topobroker devices`: NICs, GPUs and other devices, and how far they are from a process.

use super::job::{cpuset_of_rank, named};
use super::part;
use super::subject::Subject;
use super::{json, output};
use anyhow::{Context, ensure};
use clap::Args;
use std::borrow::Cow;
use std::process::ExitCode;
use topobroker::findings::worded;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::{
    Object, ObjectType, OsDeviceKind, Topology,
    devices::{DeviceDistance, DeviceKinds, Nearness},
};

/// List network interfaces, OpenFabrics devices and GPUs, and how far they are from a process
#[derive(Debug, Args)]
pub(super) struct Devices {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    which: Which,
    /// Print how far the devices are from a process on these PUs (as --view takes them), the
    /// nearest first
    #[arg(long, value_name = "PART")]
    near: Option<String>,
    /// Print how far the devices are from this rank of --job, the nearest first
    #[arg(long, value_name = "RANK", requires = "job", conflicts_with = "near")]
    rank: Option<u32>,
    /// Print PMIx's distances by the rule of PMIx 7: from each PU, and each PCI device once
    #[arg(long)]
    pmix7: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
struct Which {
    /// Only network interfaces and OpenFabrics devices
    #[arg(long)]
    nic: bool,
    /// Only GPUs and co-processors
    #[arg(long)]
    gpu: bool,
    /// Disks and all other devices too
    #[arg(long)]
    all: bool,
}

impl Which {
    fn has(&self, kind: OsDeviceKind) -> bool {
        let is_nic = kind.is_network();
        self.all || (is_nic && !self.gpu) || (is_of_gpus(kind) && !self.nic)
    }
}

/// Whether OS devices of a kind are interfaces to GPUs and co-processors.
fn is_of_gpus(kind: OsDeviceKind) -> bool {
    matches!(kind, OsDeviceKind::Gpu | OsDeviceKind::CoProcessor)
}

impl Devices {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        output::print(&self.output()?)
    }

    fn output(&self) -> anyhow::Result<String> {
        ensure!(
            !self.pmix7 || self.near.is_some() || self.rank.is_some(),
            "--pmix7 is about distances: add --near or --rank"
        );
        let of_rank = match (self.rank, self.subject.job()) {
            (Some(rank), Some(job)) => {
                Some(cpuset_of_rank(named(topobroker_reader::adopt()?, job)?, rank)?)
            }
            _ => None,
        };
        self.subject.answer(None, |topology| {
            let near = match &self.near {
                Some(text) => Some(part::chosen(topology, text).context("--near")?.cpus()),
                None => of_rank,
            };
            let devices = self.devices(topology, near.as_ref());
            if self.json {
                let all: Vec<_> = devices.iter().map(Device::described).collect();
                return json::text(&all);
            }
            Ok(devices
                .iter()
                .map(|device| output::in_line(&device.line()).into_owned() + "\n")
                .collect())
        })
    }

    fn devices<'a>(&self, topology: Topology<'a>, near: Option<&Set>) -> Vec<Device<'a>> {
        let distances = |set| match self.pmix7 {
            true => topology.device_distances_pmix7(set, DeviceKinds::ALL | DeviceKinds::BLOCK),
            false => topology.device_distances(set, DeviceKinds::ALL).collect(),
        };
        let distances: Vec<DeviceDistance<'a>> = near.map(distances).unwrap_or_default();
        let gpus: Vec<Object<'a>> = topology.gpus().collect();
        let all = topology.objects_with_type(ObjectType::OSDevice);
        let kind = |object: Object<'a>| object.os_device_kind().filter(|it| self.which.has(*it));
        // A GPU has one line, whatever interfaces there are to it.
        let is_first = |(object, kind): &(Object<'a>, OsDeviceKind)| {
            let has_gpu = |pci| gpus.iter().any(|gpu| gpu.pci_device_above() == Some(pci));
            let is_display =
                |pci: Object<'a>| pci.pci_attributes().is_some_and(|it| it.is_service_display());
            let pci = object.pci_device_above();
            let is_another = || pci.is_some_and(|pci| !has_gpu(pci) && !is_display(pci));
            !is_of_gpus(*kind) || self.which.all || gpus.contains(object) || is_another()
        };
        let all = all.filter_map(|object| Some((object, kind(object)?))).filter(is_first);
        // GPUs of which hwloc knows no programming interface.
        let bare = gpus.iter().filter(|gpu| gpu.object_type() == ObjectType::PCIDevice);
        let bare = bare.map(|gpu| (*gpu, OsDeviceKind::Gpu));
        let all = all.chain(bare.filter(|(_, kind)| self.which.has(*kind)));
        let device = |(object, kind): (Object<'a>, OsDeviceKind)| {
            let distance = distances.iter().find(|it| it.device == object);
            Device {
                object,
                kind,
                is_gpu: gpus.contains(&object),
                other_names: other_names(object, &gpus),
                path: near.map(|set| topology.device_path(set, object)),
                distance: distance
                    .map(|it| (it.min, it.max))
                    .filter(|(min, _)| *min != DeviceDistance::UNKNOWN),
            }
        };
        let mut devices: Vec<Device<'a>> = all.map(device).collect();
        // The nearest first; of equally near ones in logical order.
        devices.sort_by_key(|device| {
            device.path.map(|it| (it.nearness, it.latency.unwrap_or(u64::MAX), it.pci_hops))
        });
        devices
    }
}

/// The other names of a GPU: those of the interfaces to the same PCI device that are no GPUs
/// themselves.
fn other_names<'a>(gpu: Object<'a>, gpus: &[Object<'a>]) -> Vec<&'a str> {
    let pci = gpu.pci_device_above().filter(|_| gpus.contains(&gpu));
    let all = pci.into_iter().flat_map(Object::io_children);
    let interfaces = all.filter(|it| it.os_device_kind().is_some_and(is_of_gpus));
    interfaces.filter(|it| !gpus.contains(it)).filter_map(Object::name).collect()
}

/// A device, and how far it is.
struct Device<'a> {
    object: Object<'a>,
    kind: OsDeviceKind,
    is_gpu: bool,
    other_names: Vec<&'a str>,
    path: Option<topobroker_reader::devices::DevicePath>,
    /// PMIx's least and greatest distance.
    distance: Option<(u16, u16)>,
}

impl Device<'_> {
    fn name(&self) -> Cow<'_, str> {
        let name = self.object.device_name();
        if name.is_empty() { "-".into() } else { name }
    }

    fn kind(&self) -> &'static str {
        if self.is_gpu { "gpu" } else { self.kind.name() }
    }

    fn pci(&self) -> Option<Object<'_>> {
        self.object.pci_device_above()
    }

    /// The bus id of the PCI device that this is a part of.
    fn bus_id(&self) -> Option<String> {
        Some(self.object.bus_id()?.to_string())
    }

    /// OS indexes of the NUMA nodes that it is local to; `None` if these are all of several.
    fn nodes(&self) -> Option<Set> {
        let local = self.object.local_nodeset();
        let all: Set =
            self.object.topology().default_numa_nodes().filter_map(Object::os_index).collect();
        (local != all || local.weight() == Some(1)).then_some(local)
    }

    /// The number and the state of each port of an OpenFabrics device.
    fn ports(&self) -> Vec<(u8, &str)> {
        self.object.ports().map(|port| (port.number, worded(port.state()))).collect()
    }

    fn line(&self) -> String {
        let mut parts = vec![self.name().into_owned(), self.kind().to_owned()];
        parts.extend(self.bus_id());
        parts.extend(self.nodes().map(|nodes| format!("NUMA {}", nodes.to_text(Format::List))));
        parts.extend(self.ports().iter().map(|(port, state)| format!("port {port} {state}")));
        let instances = self.object.mig_instances().count();
        parts.extend((instances > 0).then(|| format!("{instances} MIG instances")));
        let others = self.other_names.join(", ");
        parts.extend((!others.is_empty()).then(|| format!("also {others}")));
        let Some(path) = self.path else { return parts.join("  ") };
        parts.push(nearness(path.nearness).to_owned());
        parts.extend(self.distance.map(|(min, max)| match min == max {
            true => format!("distance {min}"),
            false => format!("distance {min} to {max}"),
        }));
        parts.extend(path.latency.map(|it| format!("latency {it}")));
        let plural = if path.pci_hops == 1 { "" } else { "s" };
        parts.push(format!("{} bridge{plural}", path.pci_hops));
        parts.extend(path.linkspeed.map(|it| format!("{it:.1} GB/s")));
        parts.join("  ")
    }

    fn described(&self) -> json::Device<'_> {
        let port = |(port, state)| json::DevicePort { port, state };
        let (pmix_distance, pmix_greatest_distance) = self.distance.unzip();
        let topology = self.object.topology();
        let logical = |node| Some(topology.numa_node_by_os_index(node)?.logical_index());
        json::Device {
            name: self.name(),
            other_names: self.other_names.clone(),
            r#type: self.kind(),
            bus_id: self.bus_id(),
            numa_os_indexes: self.nodes().map(|nodes| nodes.iter().collect()),
            numa_logical_indexes: self
                .nodes()
                .map(|nodes| nodes.iter().filter_map(logical).collect()),
            ports: self.ports().into_iter().map(port).collect(),
            rate_mbps: self.object.link_mbps(),
            max_link_speed: self.pci().and_then(|pci| pci.fact("MaxLinkSpeed")),
            max_link_width: self.pci().and_then(|pci| pci.fact("MaxLinkWidth")),
            uuid: self.object.gpu_uuid(),
            mig_instances: self.object.mig_instances().collect(),
            nvlink_domain: self.object.nvlink_domain(),
            near: self.path.map(|path| json::Near {
                nearness: nearness(path.nearness),
                pmix_distance,
                pmix_greatest_distance,
                latency: path.latency,
                pci_hops: path.pci_hops,
                linkspeed: path.linkspeed,
            }),
        }
    }
}

fn nearness(nearness: Nearness) -> &'static str {
    match nearness {
        Nearness::Near => "near",
        Nearness::Split => "split",
        Nearness::SamePackage => "same package",
        Nearness::Far => "far",
        Nearness::Unknown => "nearness unknown",
    }
}
