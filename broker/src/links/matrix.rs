//! A table of what is between GPUs and NICs, like that of `nvidia-smi topo -m`, for any vendor.

use crate::table::table;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::{
    Object,
    devices::PathClass,
    links::{LinkClass, Links, VertexId, VertexKind},
};

/// The table, and what its words mean.
#[must_use]
pub fn matrix(links: &Links<'_>) -> String {
    let of_kind = |kind| {
        let all =
            links.vertex_ids().zip(links.vertices()).filter(move |(_, found)| found.kind == kind);
        all.map(|(vertex, _)| vertex)
    };
    let devices: Vec<VertexId> = of_kind(VertexKind::Gpu).chain(of_kind(VertexKind::Nic)).collect();
    let name = |vertex: &VertexId| links.name(*vertex).into_owned();
    let last = ["CPU Affinity", "NUMA Affinity"].map(str::to_owned);
    let head = core::iter::once(String::new()).chain(devices.iter().map(name)).chain(last);
    let mut rows: Vec<Vec<String>> = vec![head.collect()];
    for one in &devices {
        let mut row = vec![name(one)];
        row.extend(devices.iter().map(|other| cell(links, *one, *other)));
        row.extend(affinity(links.object(*one)));
        rows.push(row);
    }
    table(&rows) + LEGEND
}

const LEGEND: &str = "
X    the device itself
LOC  parts of one device
NV#  # NVLinks, to each other or to a switch; XGMI#, XE# likewise; without # if their number is \
unknown
PIX  at most one PCI switch
PXB  several PCI switches, no host bridge
PHB  a host bridge
NODE several host bridges of one NUMA node
SYS  what connects NUMA nodes
";

fn cell(links: &Links<'_>, one: VertexId, other: VertexId) -> String {
    if one == other {
        return "X".to_owned();
    }
    if let Some(text) = of_gpus(links, one, other) {
        return text;
    }
    let ends = links.object(one).zip(links.object(other));
    let class = ends.map(|(one, other)| links.topology().path_class(one, other));
    match class {
        Some(PathClass::Same) => "LOC",
        Some(PathClass::Pix) => "PIX",
        Some(PathClass::Pxb) => "PXB",
        Some(PathClass::Phb) => "PHB",
        Some(PathClass::Node) => "NODE",
        Some(PathClass::Sys) | None => "SYS",
    }
    .to_owned()
}

fn of_gpus(links: &Links<'_>, one: VertexId, other: VertexId) -> Option<String> {
    let (class, count) = links_of_gpus(links, one, other)?;
    let count = count.filter(|_| class != LinkClass::Loc);
    Some(format!("{}{}", word(class)?, count.map(|it| it.to_string()).unwrap_or_default()))
}

/// The class and the number of the links of GPUs between two vertices, directly or by a switch; the
/// number is `None` if it is not known. `None` if there are no such links.
#[must_use]
pub fn links_of_gpus(
    links: &Links<'_>,
    one: VertexId,
    other: VertexId,
) -> Option<(LinkClass, Option<u32>)> {
    let between = |one: VertexId, other: VertexId| {
        let mut all = links.links().iter();
        all.find(|link| {
            [(link.one, link.other), (link.other, link.one)].contains(&(one, other))
                && word(link.class).is_some()
        })
    };
    let is_switch =
        |vertex: &VertexId| links.vertex(*vertex).is_some_and(|it| it.kind == VertexKind::NvSwitch);
    let switches = || links.vertex_ids().filter(is_switch);
    let direct = between(one, other).map(|link| (link.class, link.links.map(u32::from)));
    direct.or_else(|| {
        let by_all =
            switches().filter_map(|switch| between(one, switch).zip(between(switch, other)));
        let counts: Vec<Option<u32>> =
            by_all.map(|(near, far)| near.links.min(far.links).map(u32::from)).collect();
        (!counts.is_empty()).then(|| (LinkClass::NvLink, counts.into_iter().sum()))
    })
}

fn word(class: LinkClass) -> Option<&'static str> {
    match class {
        LinkClass::Loc => Some("LOC"),
        LinkClass::NvLink => Some("NV"),
        LinkClass::Xgmi => Some("XGMI"),
        LinkClass::XeLink => Some("XE"),
        _ => None,
    }
}

/// The PUs and NUMA nodes that a device is local to, by OS index.
fn affinity(device: Option<Object<'_>>) -> [String; 2] {
    let local = device.map(Object::non_io_ancestor);
    let text = |set: Option<Set>| set.unwrap_or_default().to_text(Format::List);
    [text(local.and_then(Object::cpuset)), text(device.map(Object::local_nodeset))]
}
