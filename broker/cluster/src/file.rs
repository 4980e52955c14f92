//! Writes the file of a cluster, part by part.

use super::classes::{Class, Classes};
use super::error::ClusterError;
use super::fabric::{FabricGraph, HostPorts, pack};
use std::collections::HashMap;
use topobroker::publish::{now, random};
use topobroker_layout::RULES;
use topobroker_layout::cluster::blocks::{Records, Texts};
use topobroker_layout::cluster::delta::fit;
use topobroker_layout::cluster::directory::{Directory, Groups, MAX_PORTS};
use topobroker_layout::cluster::head::{HEAD_LEN, Head, Part};
use topobroker_layout::cluster::nodes::{ClassRow, NodeRow, places_of};
use topobroker_layout::column::Column;
use topobroker_layout::encode::AlignedVec;
use topobroker_layout::header::{
    Header, Kind, MAX_CLUSTER_LEN, VERSION_MAJOR, VERSION_MINOR, mark_ready, segment_len,
};
use topobroker_layout::packed_texts::pack_texts;
use topobroker_reader::Source;
use topobroker_reader::cluster::{Cluster, GroupKind};

/// A node with its place.
pub(super) struct Placed {
    pub(super) name: String,
    pub(super) input: String,
    pub(super) boot: [u8; 16],
    pub(super) group: u32,
    /// Its place in a group whose nodes have an order of their own.
    pub(super) place: u32,
    pub(super) ports: HostPorts,
    /// The NVLink domain that all of its GPUs are in.
    pub(super) nvlink_domain: Option<String>,
}

/// A group.
pub(super) struct Group {
    pub(super) parent: u32,
    pub(super) kind: GroupKind,
    pub(super) name: String,
    pub(super) speed: u32,
    pub(super) sizes: String,
}

/// Classes start at a multiple of this, because each is mapped by itself.
const PAGE: usize = 4096;

/// The bytes of a cluster. `order` has the numbers of the nodes as they are numbered in the file.
pub(super) fn write(
    order: &[usize],
    nodes: &[Placed],
    classes: Classes,
    groups: &[Group],
    missing: &[String],
    fabric: &FabricGraph,
) -> Result<AlignedVec, ClusterError> {
    let mut rank = vec![0; nodes.len()];
    for (position, node) in order.iter().enumerate() {
        if let Some(rank) = rank.get_mut(*node) {
            *rank = position;
        }
    }
    let classes = classes.finish(&rank);
    let mut file = File(AlignedVec::new());
    file.0.resize(HEAD_LEN, 0);
    let mut rows = vec![NodeRow { name: 0, class: 0, member: 0, group: 0 }; nodes.len()];
    let mut class_rows = Vec::new();
    for (class, number) in classes.iter().zip(0_u16..) {
        for (node, member) in class.nodes().zip(0..) {
            let row = rank.get(node).and_then(|rank| rows.get_mut(*rank));
            row.into_iter().for_each(|row| (row.class, row.member) = (number, member));
        }
        class_rows.extend(file.class(class, nodes)?.to_bytes());
    }
    let ordered: Vec<&Placed> = order.iter().filter_map(|at| nodes.get(*at)).collect();
    let names: Vec<&str> = ordered.iter().map(|node| node.name.as_str()).collect();
    let (groups, numbers) = preordered(groups, &ordered);
    let (names_part, name_places) = file.texts(&names);
    for ((row, place), node) in rows.iter_mut().zip(name_places).zip(&ordered) {
        row.name = place;
        row.group = numbers.get(node.group as usize).copied().unwrap_or(0);
    }
    let rows: Vec<u8> = rows.iter().flat_map(NodeRow::to_bytes).collect();
    let places = places_of(names.iter().copied()).into_iter().flat_map(u32::to_le_bytes);
    let boots = match ordered.iter().any(|node| node.boot != [0; 16]) {
        true => ordered.iter().flat_map(|node| node.boot).collect(),
        false => Vec::new(),
    };
    let matching = fabric.matching(nodes.iter().map(|node| (node.name.as_str(), &node.ports)));
    let mut ports: HashMap<usize, u64> = HashMap::new();
    for node in matching.nodes.values() {
        let count = ports.entry(*node).or_default();
        *count += 1;
        if *count > MAX_PORTS {
            let [found, limit] = [*count, MAX_PORTS].map(|it| usize::try_from(it).unwrap_or(0));
            return Err(ClusterError::TooMany { what: "ports of a node", found, limit });
        }
    }
    let fabric = pack(fabric, nodes.len(), |port| {
        let rank = rank.get(*matching.nodes.get(&port)?)?;
        u32::try_from(*rank).ok()
    });
    let (missing_end, missing) = pack_texts(missing.iter().map(String::as_str));
    let directory = Directory { groups: Groups { missing_end, missing, ..groups }, fabric };
    let head = Head {
        names: names_part,
        nodes: file.records(NodeRow::LEN, &rows),
        places: file.records(4, &places.collect::<Vec<_>>()),
        boots: file.records(16, &boots),
        classes: file.records(ClassRow::LEN, &class_rows),
        directory: file.part(&directory.to_bytes()?, 16),
    };
    let File(mut file) = file;
    if file.len() as u64 > MAX_CLUSTER_LEN {
        return Err(too_long("bytes of the cluster", file.len()));
    }
    let header = header(file.len())?;
    let page = head.to_page(&header);
    file.iter_mut().zip(page).for_each(|(byte, new)| *byte = new);
    // The header says that this was done.
    let failed = |source| ClusterError::Cluster { input: "the new cluster".to_owned(), source };
    let opened = Cluster::open(&file).map_err(failed)?;
    opened.groups().map_err(failed)?;
    opened.fabric().map_err(failed)?;
    Ok(file)
}

fn too_long(what: &'static str, found: usize) -> ClusterError {
    let limit = usize::try_from(MAX_CLUSTER_LEN).unwrap_or(usize::MAX);
    ClusterError::TooMany { what, found, limit }
}

fn header(size: usize) -> Result<Header, ClusterError> {
    Ok(Header {
        kind: Kind::Cluster,
        segment_id: random()?,
        created: now(),
        size: size as u64,
        ..plain_header()
    })
}

/// A header that says nothing of who published when, so that it is the same for the same archive.
fn plain_header() -> Header {
    Header {
        version: (VERSION_MAJOR, VERSION_MINOR),
        source: Source::Loaded,
        certificate: RULES,
        hwloc_version: topobroker::hwloc::api_version(),
        ..Header::default()
    }
}

/// The groups, each before those in it, with their nodes as runs; and their new numbers.
fn preordered(groups: &[Group], nodes: &[&Placed]) -> (Groups, Vec<u32>) {
    let mut children = vec![Vec::new(); groups.len()];
    for (group, number) in groups.iter().zip(0_u32..).skip(1) {
        if let Some(children) = children.get_mut(group.parent as usize) {
            children.push(number);
        }
    }
    let name = |number: u32| groups.get(number as usize).map_or("", |group| &group.name);
    // Slurm joins blocks that follow each other.
    let has_order = |number: u32| {
        groups.get(number as usize).is_some_and(|group| group.kind == GroupKind::Block)
    };
    for children in &mut children {
        // Blocks come last, so that the order is one also among other groups.
        let by_name = |one: &u32, other: &u32| super::natural::natural(name(*one), name(*other));
        children.sort_by(|one, other| match (has_order(*one), has_order(*other)) {
            (true, true) => one.cmp(other),
            (false, false) => by_name(one, other),
            (first, second) => first.cmp(&second),
        });
    }
    let mut of_group = vec![Vec::new(); groups.len()];
    for (node, number) in nodes.iter().zip(0_u64..) {
        if let Some(nodes) = of_group.get_mut(node.group as usize) {
            nodes.push(number);
        }
    }
    for (group, own) in groups.iter().zip(&mut of_group) {
        if matches!(group.kind, GroupKind::Ring | GroupKind::Torus) {
            own.sort_by_key(|node| {
                usize::try_from(*node).ok().and_then(|at| nodes.get(at)).map(|it| it.place)
            });
        }
    }
    let mut numbers = vec![0; groups.len()];
    let (mut rows, mut members, mut ends) = (Vec::new(), Vec::<u64>::new(), Vec::new());
    // A group is pushed twice: to begin it, and behind all in it to end it.
    let mut open = vec![(0_u32, None)];
    while let Some((group, begun)) = open.pop() {
        if let Some(row) = begun {
            let end: &mut (u64, u64) = match ends.get_mut::<usize>(row) {
                Some(end) => end,
                None => continue,
            };
            *end = (members.len() as u64, rows.len() as u64);
            continue;
        }
        let row = rows.len();
        if let Some(number) = numbers.get_mut(group as usize) {
            *number = u32::try_from(row).unwrap_or(u32::MAX);
        }
        rows.push((group, members.len() as u64));
        ends.push((0, 0));
        members.extend(of_group.get(group as usize).into_iter().flatten());
        open.push((group, Some(row)));
        let children = children.get(group as usize).into_iter().flatten();
        open.extend(children.rev().map(|child| (*child, None)));
    }
    let column = |value: &dyn Fn(&Group) -> u64| {
        let groups = rows.iter().filter_map(|(group, _)| groups.get(*group as usize));
        Column::pack(&groups.map(value).collect::<Vec<_>>())
    };
    let of_parent = |group: &Group| numbers.get(group.parent as usize).copied().unwrap_or(0);
    let (name_end, names) = pack_texts(rows.iter().map(|(group, _)| name(*group)));
    let own_sizes = |number: u32| groups.get(number as usize).map_or("", |group| &group.sizes);
    let (sizes_end, sizes) = pack_texts(rows.iter().map(|(group, _)| own_sizes(*group)));
    let firsts: Vec<u64> = rows.iter().map(|(_, first)| *first).collect();
    let packed = Groups {
        parent: column(&|group| of_parent(group).into()),
        end: Column::pack(&ends.iter().map(|(_, groups)| *groups).collect::<Vec<_>>()),
        kind: column(&|group| group.kind.raw().into()),
        speed: column(&|group| group.speed.into()),
        name_end,
        names,
        sizes_end,
        sizes,
        member_first: Column::pack(&firsts),
        member_end: Column::pack(&ends.iter().map(|(members, _)| *members).collect::<Vec<_>>()),
        members: Column::pack(&members),
        ..Groups::default()
    };
    (packed, numbers)
}

/// A file that grows part by part.
struct File(AlignedVec);

impl File {
    fn class(&mut self, class: &Class, nodes: &[Placed]) -> Result<ClassRow, ClusterError> {
        let size = segment_len(class.archive.len());
        let mut id = [0; 16];
        id.copy_from_slice(&xxhash_rust::xxh3::xxh3_128(&class.archive).to_le_bytes());
        let mut segment = vec![0; size];
        let header = Header { segment_id: id, size: size as u64, ..plain_header() };
        if header.write(&class.archive, &mut segment).is_err() {
            return Err(too_long("bytes of a class", size));
        }
        mark_ready(&mut segment);
        let names: Vec<&str> =
            class.nodes().filter_map(|node| nodes.get(node)).map(|it| it.name.as_str()).collect();
        let fitted = fit(&class.columns(), &names);
        let texts: Vec<&str> = fitted.texts.iter().map(String::as_str).collect();
        let [cores, pus, gpus] = class.counts;
        Ok(ClassRow {
            segment: self.part(&segment, PAGE),
            fields: self.part(&fitted.fields, 1),
            rows: self.records(fitted.row_len, &fitted.rows),
            texts: self.texts(&texts).0,
            members: u32::try_from(names.len()).unwrap_or(u32::MAX),
            cores,
            pus,
            gpus,
        })
    }

    fn part(&mut self, bytes: &[u8], alignment: usize) -> Part {
        let at = self.0.len().next_multiple_of(alignment);
        self.0.resize(at, 0);
        self.0.extend_from_slice(bytes);
        Part::of(at as u64, bytes)
    }

    fn records(&mut self, record: u32, records: &[u8]) -> Records {
        let (table, blocks) = Records::pack(self.0.len() as u64, record, records);
        self.0.extend_from_slice(&blocks);
        table
    }

    fn texts(&mut self, texts: &[&str]) -> (Texts, Vec<u32>) {
        let (table, blocks, places) = Texts::pack(self.0.len() as u64, texts);
        self.0.extend_from_slice(&blocks);
        (table, places)
    }
}
