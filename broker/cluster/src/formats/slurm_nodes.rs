//! The nodes of a cluster for Slurm: `NodeName` lines for `slurm.conf`, and `gres.conf`.

use crate::fold;
use std::collections::BTreeMap;
use std::fmt::Write;
use topobroker::links::links_of_gpus;
use topobroker_layout::attributes::vendor;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::{
    BusId, Object, ObjectType, Topology,
    cluster::{Cluster, ClusterOpenError},
    links::SwitchModel,
};

/// What Slurm reads about nodes: equal for nodes that share a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct NodeLine {
    sockets: usize,
    cores: usize,
    threads: usize,
    /// PUs that are in no such line, because cores of a node have different numbers of them.
    pus_left: usize,
    /// The block or leaf switch; empty if none is named.
    unit: String,
    /// Number of GPUs of each type; the type is empty if it is not known.
    gpus: Vec<(String, usize)>,
    /// The lines of `gres.conf` behind the names of the nodes.
    gres: Vec<String>,
}

/// Nodes for Slurm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeNames {
    /// `NodeName` lines for `slurm.conf`, one for nodes that are alike.
    pub text: String,
    /// What Slurm's lines cannot express, a line each.
    pub notes: Vec<String>,
}

/// `NodeName` lines: sockets, cores, threads, the memory in MiB that the smallest node has, if it
/// is known, and GPUs. Nodes without PUs have no line. Nodes that are in `units`, as
/// [`topology_units`](super::topology_units) has them, have a `Topology=`. Counterpart: `slurmd -C`.
///
/// # Errors
///
/// [`ClusterOpenError`] if a class is damaged.
pub fn node_names(
    cluster: &Cluster<'_>,
    units: &BTreeMap<&str, String>,
) -> Result<NodeNames, ClusterOpenError> {
    let (mut text, mut notes) = (String::new(), Vec::new());
    let shapes = shapes(cluster, units)?;
    if shapes.keys().any(|shape| !shape.gpus.is_empty() && shape.threads > 0) {
        text += "GresTypes=gpu\n";
    }
    for (shape, (names, memory)) in shapes {
        let NodeLine { sockets, cores, threads, pus_left, unit, gpus, .. } = shape;
        let cpus = sockets * cores * threads;
        let names = fold(names.iter().map(String::as_str));
        if cpus == 0 {
            notes.push(format!("{names}: there are no PUs, so there is no line"));
            continue;
        }
        if pus_left > 0 {
            notes.push(format!(
                "{names}: {} PUs: Slurm knows only sockets and cores that are alike, so \
                 {pus_left} PUs are left out",
                cpus + pus_left,
            ));
        }
        let _ = write!(
            text,
            "NodeName={names} CPUs={cpus} Boards=1 SocketsPerBoard={sockets} \
             CoresPerSocket={cores} ThreadsPerCore={threads}",
        );
        if memory > 0 {
            let _ = write!(text, " RealMemory={}", memory >> 20);
        }
        let gpus = gpus.iter().map(|(kind, count)| match kind.as_str() {
            "" => format!("gpu:{count}"),
            kind => format!("gpu:{kind}:{count}"),
        });
        let gpus: Vec<String> = gpus.collect();
        let gres =
            if gpus.is_empty() { String::new() } else { format!(" Gres={}", gpus.join(",")) };
        let unit = if unit.is_empty() { unit } else { format!(" Topology={unit}") };
        let _ = writeln!(text, "{gres}{unit}");
    }
    Ok(NodeNames { text, notes })
}

/// `gres.conf`: the GPUs of each node with their files, the cores near them and the links between
/// them. Nodes without GPUs have no line.
///
/// # Errors
///
/// [`ClusterOpenError`] if a class is damaged.
pub fn gres_conf(cluster: &Cluster<'_>) -> Result<String, ClusterOpenError> {
    let mut text = String::new();
    for (shape, (names, _)) in shapes(cluster, &BTreeMap::new())? {
        let names = fold(names.iter().map(String::as_str));
        shape.gres.iter().for_each(|line| _ = writeln!(text, "NodeName={names} {line}"));
    }
    Ok(text)
}

/// The names of the nodes of each shape, and the least memory of one, in bytes.
fn shapes(
    cluster: &Cluster<'_>,
    units: &BTreeMap<&str, String>,
) -> Result<BTreeMap<NodeLine, (Vec<String>, u64)>, ClusterOpenError> {
    let mut shapes: BTreeMap<NodeLine, (Vec<String>, u64)> = BTreeMap::new();
    for node in cluster.nodes() {
        let opened = node.open()?;
        let archive = opened.archive();
        let topology = archive.topology();
        let memory = topology.root().total_memory();
        let unit = units.get(node.name()).cloned().unwrap_or_default();
        let shape = NodeLine { unit, ..shape(topology) };
        let (names, least) = shapes.entry(shape).or_insert((Vec::new(), memory));
        names.push(node.name().to_owned());
        *least = memory.min(*least);
    }
    Ok(shapes)
}

fn shape(topology: Topology<'_>) -> NodeLine {
    let count = |kind| topology.objects_with_type(kind).count();
    let pus = count(ObjectType::PU);
    // What slurmd counts. Of a part of a node, packages of which no PU is left are there too.
    let packages = topology.objects_with_type(ObjectType::Package);
    let sockets = packages.filter(|it| it.cpuset_weight() != Some(0)).count().max(1);
    let cores = core_count(topology);
    let mut all: Vec<Object<'_>> = topology.gpus().collect();
    all.sort_by_key(|gpu| gpu.bus_id().unwrap_or(BusId::LAST));
    // Tiles share the device file of their card; partitions of AMD have one each.
    let card = |gpu: &Object<'_>| gpu.bus_id().filter(|_| gpu.pci_vendor() == Some(vendor::INTEL));
    all.dedup_by(|one, other| card(one).is_some() && card(one) == card(other));
    let mut gpus: BTreeMap<String, usize> = BTreeMap::new();
    all.iter().for_each(|gpu| *gpus.entry(kind_of(*gpu)).or_default() += 1);
    NodeLine {
        sockets,
        cores: cores / sockets,
        threads: pus / cores.max(1),
        pus_left: pus.saturating_sub(cores / sockets * sockets * (pus / cores.max(1))),
        unit: String::new(),
        gpus: gpus.into_iter().collect(),
        gres: gres(topology, &all),
    }
}

/// Number of cores of a node. One whose cores are not known has one on each PU.
pub(super) fn core_count(topology: Topology<'_>) -> usize {
    // Of cores of which no PU is left, none counts.
    let count = |kind| {
        let all = topology.objects_with_type(kind);
        all.filter(|it| it.cpuset_weight() != Some(0)).count()
    };
    Some(count(ObjectType::Core))
        .filter(|cores| *cores > 0)
        .unwrap_or_else(|| count(ObjectType::PU))
}

/// The type of a GPU, as Slurm makes it of the name that the driver gives.
fn kind_of(gpu: Object<'_>) -> String {
    let pci = gpu.pci_device_above();
    let os_devices = pci.into_iter().flat_map(Object::io_children);
    // Partitions of one PCI device are of one type, though the driver names the first alone.
    let models = std::iter::once(gpu).chain(os_devices).filter_map(|it| it.info("GPUModel"));
    let model = models.into_iter().find(|it| !it.is_empty());
    let letter = |it: char| match it {
        'A'..='Z' => it.to_ascii_lowercase(),
        'a'..='z' | '0'..='9' | '.' | '-' => it,
        _ => '_',
    };
    model.unwrap_or_default().chars().map(letter).collect()
}

fn gres(topology: Topology<'_>, gpus: &[Object<'_>]) -> Vec<String> {
    let mut line = Vec::new();
    let links = topology.links(SwitchModel::One).ok();
    let vertex = |gpu: Object<'_>| links.as_ref()?.vertex_of(gpu);
    for (place, gpu) in gpus.iter().enumerate() {
        let mut text = "Name=gpu".to_owned();
        let kind = kind_of(*gpu);
        if !kind.is_empty() {
            let _ = write!(text, " Type={kind}");
        }
        let _ = write!(text, " File={}", file(*gpu, place));
        let near = gpu.non_io_ancestor();
        let cores: Set = near.objects_inside(ObjectType::Core).map(Object::logical_index).collect();
        if !cores.is_empty() {
            let _ = write!(text, " Cores={}", cores.to_text(Format::List));
        }
        let between = |other: &Object<'_>| {
            let (one, other) = (vertex(*gpu)?, vertex(*other)?);
            links_of_gpus(links.as_ref()?, one, other)?.1
        };
        let counts = gpus.iter().enumerate().map(|(at, other)| match at == place {
            true => "-1".to_owned(),
            false => between(other).unwrap_or(0).to_string(),
        });
        let counts: Vec<String> = counts.collect();
        if counts.iter().any(|count| count != "-1" && count != "0") {
            let _ = write!(text, " Links={}", counts.join(","));
        }
        line.push(text);
    }
    line
}

/// The device file of a GPU: that of its render node, of which Linux numbers the first 128, or that
/// of NVIDIA's driver. If its number is not known, it is taken to be that of its place by bus id.
fn file(gpu: Object<'_>, place: usize) -> String {
    let pci = gpu.pci_device_above();
    let names = || pci.into_iter().flat_map(Object::io_children).filter_map(Object::name);
    if gpu.pci_vendor() == Some(vendor::NVIDIA) {
        let minor = pci.and_then(|pci| pci.fact("NVIDIAMinor")?.parse().ok());
        return format!("/dev/nvidia{}", minor.unwrap_or(place));
    }
    let first = names().find_map(|name| name.strip_prefix("renderD")?.parse::<usize>().ok());
    let partitions = pci.into_iter().flat_map(Object::gpus_of_pci);
    let partition = partitions.take_while(|it| *it != gpu).count();
    format!("/dev/dri/renderD{}", first.map_or(128 + place, |first| first + partition))
}
