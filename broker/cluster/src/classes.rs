//! Sorts nodes into classes while they are added, and keeps of each only what differs.

use super::fabric::HostPorts;
use super::natural::natural;
use super::own_values::{Own, own_values};
use super::skeleton::skeleton;
use std::collections::{BTreeSet, HashMap};
use topobroker_layout::cluster::delta::Column;
use topobroker_layout::cluster::field::Field;
use topobroker_layout::encode::AlignedVec;
use topobroker_reader::Archive;
use xxhash_rust::xxh3::xxh3_128;

/// A node, as far as it can be prepared alone: its skeleton and its values.
pub(crate) struct Prepared {
    archive: AlignedVec,
    skeleton: Vec<u8>,
    hash: u128,
    pub(super) values: Vec<(Field, Own<Box<str>>)>,
    counts: [u32; 3],
    ports: HostPorts,
    nvlink_domain: Option<String>,
    host_name: Option<String>,
}

/// The nodes of one class.
pub(super) struct Class {
    skeleton: Vec<u8>,
    /// The archive of the node whose name comes first, and its number.
    pub(super) archive: AlignedVec,
    first: usize,
    /// The values of the node that came first, with which others are compared.
    example: Vec<(Field, Own<Box<str>>)>,
    members: Vec<ClassNode>,
    /// Numbers of cores, PUs and GPUs of a node.
    pub(super) counts: [u32; 3],
}

struct ClassNode {
    /// Number of the node, in the order in which nodes were added.
    node: usize,
    /// Where the values differ from those of the example: places and values.
    others: Box<[(u32, Own<Box<str>>)]>,
}

/// All classes, by the hash of their skeletons.
#[derive(Default)]
pub(super) struct Classes {
    all: Vec<Class>,
    by_hash: HashMap<u128, Vec<usize>>,
}

impl Prepared {
    /// Prepares a node from the bytes of its archive.
    pub(super) fn new(bytes: AlignedVec) -> Result<Self, topobroker_layout::OpenError> {
        let archive = Archive::open(&bytes)?;
        let skeleton = skeleton(&archive);
        let topology = archive.topology();
        let owned = |value| match value {
            Own::Number(number) => Own::Number(number),
            Own::Text(text) => Own::Text(Box::from(text)),
        };
        let values = own_values(topology).into_iter().map(|(field, value)| (field, owned(value)));
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let of_type = |object_type| count(topology.objects_with_type(object_type).count());
        let counts = [
            of_type(topobroker_reader::ObjectType::Core),
            of_type(topobroker_reader::ObjectType::PU),
            count(topology.gpus().count()),
        ];
        let (values, ports) = (values.collect(), HostPorts::of(topology));
        let host_name = topology.root().info("HostName").map(str::to_owned);
        let nvlink_domain = topology.nvlink_domain().map(str::to_owned);
        drop(archive);
        let hash = xxh3_128(&skeleton);
        Ok(Self { archive: bytes, skeleton, hash, values, counts, ports, nvlink_domain, host_name })
    }

    /// The hash that nodes of one class have in common.
    pub(super) fn hash(&self) -> u128 {
        self.hash
    }

    /// The archive.
    pub(super) fn archive(&self) -> &AlignedVec {
        &self.archive
    }

    /// What identifies the ports of the node.
    pub(super) fn take_ports(&mut self) -> HostPorts {
        std::mem::take(&mut self.ports)
    }

    /// The NVLink domain that all GPUs of the node are in.
    pub(super) fn take_nvlink_domain(&mut self) -> Option<String> {
        self.nvlink_domain.take()
    }

    /// Number of bytes of the longest text that may differ between nodes.
    pub(super) fn longest_text(&self) -> Option<usize> {
        let texts = self.values.iter().map(|(_, value)| value.text().len());
        texts.max()
    }

    /// The info `HostName` of the root.
    pub(super) fn host_name(&self) -> Option<String> {
        self.host_name.clone()
    }
}

impl Classes {
    /// Adds a node. `name` has the names of the nodes that were added, and of this one.
    pub(super) fn add<'n>(
        &mut self,
        node: usize,
        prepared: Prepared,
        name: impl Fn(usize) -> &'n str,
    ) {
        let Prepared { archive, skeleton, hash, values, counts, .. } = prepared;
        let known = self.by_hash.entry(hash).or_default();
        // A hash is no proof: two nodes are of one class only if all bytes are equal.
        let all = &mut self.all;
        let is_it = |at: &usize| all.get(*at).is_some_and(|class| class.skeleton == skeleton);
        let place = known.iter().copied().find(is_it);
        let Some(class) = place.and_then(|place| all.get_mut(place)) else {
            known.push(all.len());
            let members = vec![ClassNode { node, others: Box::default() }];
            all.push(Class { skeleton, archive, first: node, example: values, members, counts });
            return;
        };
        let pairs = class.example.iter().zip(values).zip(0_u32..);
        let others = pairs.filter(|((example, own), _)| example.1 != own.1);
        let others = others.map(|((_, own), place)| (place, own.1)).collect();
        class.members.push(ClassNode { node, others });
        if natural(name(node), name(class.first)).is_lt() {
            (class.first, class.archive) = (node, archive);
        }
    }

    /// The classes in the order of their first nodes by name, each with its nodes in that order.
    /// `rank` has the position of each node among all names.
    pub(super) fn finish(mut self, rank: &[usize]) -> Vec<Class> {
        let rank = |node: usize| rank.get(node).copied().unwrap_or(usize::MAX);
        for class in &mut self.all {
            class.members.sort_by_key(|member| rank(member.node));
        }
        self.all.sort_by_key(|class| rank(class.first));
        self.all
    }

    /// Number of classes.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}

impl Class {
    /// The nodes, in the order of their names.
    pub(super) fn nodes(&self) -> impl ExactSizeIterator<Item = usize> {
        self.members.iter().map(|member| member.node)
    }

    /// The values that differ between the nodes, by field.
    pub(super) fn columns(&self) -> Vec<(Field, Column<'_>)> {
        let others = self.members.iter().flat_map(|member| member.others.iter());
        let places: BTreeSet<u32> = others.map(|(place, _)| *place).collect();
        let column = |place: u32| {
            let (field, example) = self.example.get(place as usize)?;
            Some((*field, self.column(place, example)))
        };
        places.into_iter().filter_map(column).collect()
    }

    /// The values of all nodes at one place of the list of values.
    fn column<'a>(&'a self, place: u32, example: &'a Own<Box<str>>) -> Column<'a> {
        let values = self.members.iter().map(|member| {
            let at = member.others.binary_search_by_key(&place, |(place, _)| *place);
            at.ok().and_then(|at| member.others.get(at)).map_or(example, |(_, value)| value)
        });
        match example {
            Own::Number(_) => Column::Numbers(values.map(Own::number).collect()),
            Own::Text(_) => Column::Texts(values.map(Own::text).collect()),
        }
    }
}

impl Own<Box<str>> {
    fn number(&self) -> u64 {
        match self {
            Self::Number(number) => *number,
            Self::Text(_) => 0,
        }
    }

    pub(super) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Number(_) => "",
        }
    }
}
