//! Latencies of the links between CPUs, from the firmware's matrix of NUMA latencies.
//!
//! The matrix is relative: 10 is the latency of a node's own memory. Where the firmware also says
//! how many nanoseconds that is, the rest follows, if the matrix is regular: all pairs of nodes in
//! a package are as far apart, and all pairs in two packages. Otherwise the latencies stay unknown.

use super::parts::Parts;
use crate::object::Object;
use crate::tables::Distances;
use alloc::vec::Vec;
use topobroker_layout::links::{LinkClass, VertexId};
use topobroker_layout::object_type::ObjectType;

/// A NUMA node of the matrix.
struct Node {
    /// The vertex of its CPUs, and that of their package.
    cpus: VertexId,
    package: VertexId,
    /// Position in the matrix.
    place: usize,
}

/// Adds latencies to the links between CPUs and packages, and between packages.
pub(super) fn add(parts: &mut Parts<'_>) {
    let matrix = parts.topology.distances_with_name("NUMALatency").next();
    let Some(matrix) = matrix else { return };
    let found = matrix.objects().enumerate().map(|(place, node)| node_of(parts, place, node));
    let Some(nodes) = found.collect::<Option<Vec<Node>>>() else { return };
    // Memory of two kinds at the same CPUs differs by more than the way.
    let is_shared =
        |node: &Node| nodes.iter().any(|it| it.cpus == node.cpus && it.place != node.place);
    if nodes.iter().any(is_shared) {
        return;
    }
    let Some(farther) = Farther::of(parts, &matrix) else { return };
    let mut packages: Vec<VertexId> = nodes.iter().map(|node| node.package).collect();
    packages.sort_unstable();
    packages.dedup();
    // From the CPUs of a node to their package: half of what another node there is farther away.
    let mut to_package = Vec::new();
    for package in &packages {
        let own: Vec<&Node> = nodes.iter().filter(|node| node.package == *package).collect();
        let half = match &own[..] {
            [only] if only.cpus == *package => Some(0),
            [_] => None,
            _ => farther.between(&own, &own).map(|between| between / 2),
        };
        to_package.push(half);
        let Some(half) = half else { continue };
        for node in own.into_iter().filter(|node| node.cpus != *package) {
            set(parts, LinkClass::Cpu, node.cpus, *package, half);
        }
    }
    let pairs = || packages.iter().zip(&to_package).enumerate();
    for (at, (package, half)) in pairs() {
        for (_, (other, other_half)) in pairs().skip(at + 1) {
            let of = |package: VertexId| nodes.iter().filter(move |node| node.package == package);
            let (one, two) = (of(*package).collect::<Vec<_>>(), of(*other).collect::<Vec<_>>());
            let between = farther.between(&one, &two).zip(half.zip(*other_half));
            let own = between.and_then(|(all, (half, other))| all.checked_sub(half + other));
            if let Some(own) = own {
                set(parts, LinkClass::Smp, *package, *other, own);
            }
        }
    }
}

fn node_of(parts: &Parts<'_>, place: usize, node: Object<'_>) -> Option<Node> {
    let cpus = node.normal_part();
    let package = match cpus.object_type() {
        ObjectType::Package => cpus,
        _ => cpus.ancestor_with_type(ObjectType::Package)?,
    };
    Some(Node { cpus: parts.known(cpus)?, package: parts.known(package)?, place })
}

/// How many nanoseconds farther away another node's memory is than the own.
struct Farther<'a> {
    matrix: &'a Distances<'a>,
    /// The latency of a node's own memory, in nanoseconds and in the matrix.
    nanoseconds: u32,
    own: u64,
}

impl<'a> Farther<'a> {
    /// `None` if nodes have different latencies of their own, or unknown ones.
    fn of(parts: &Parts<'_>, matrix: &'a Distances<'a>) -> Option<Self> {
        let mut known: Option<(u32, u64)> = None;
        for (place, node) in matrix.objects().enumerate() {
            let vertex = parts.known(node)?;
            let memory =
                parts.links.iter().find(|it| it.class == LinkClass::Mem && it.one == vertex);
            let own = (memory?.latency?, matrix.value(place, place).filter(|own| *own > 0)?);
            if *known.get_or_insert(own) != own {
                return None;
            }
        }
        let (nanoseconds, own) = known?;
        Some(Self { matrix, nanoseconds, own })
    }

    /// Between each of some nodes and each of others, both ways; `None` if pairs differ.
    fn between(&self, some: &[&Node], others: &[&Node]) -> Option<u32> {
        let ways =
            some.iter().flat_map(|one| others.iter().map(move |other| (one.place, other.place)));
        let mut both = ways.filter(|(one, other)| one != other).flat_map(|(a, b)| [(a, b), (b, a)]);
        let (from, to) = both.next()?;
        let value = self.matrix.value(from, to)?;
        if !both.all(|(from, to)| self.matrix.value(from, to) == Some(value)) {
            return None;
        }
        let farther = value.checked_sub(self.own)?.checked_mul(self.nanoseconds.into())?;
        u32::try_from(farther / self.own).ok()
    }
}

/// Sets the latency of the links of a class between two vertices, if they have none.
fn set(parts: &mut Parts<'_>, class: LinkClass, one: VertexId, other: VertexId, latency: u32) {
    let is_it = |ends: (VertexId, VertexId)| ends == (one, other) || ends == (other, one);
    for link in parts.links.iter_mut().filter(|it| it.class == class && is_it((it.one, it.other))) {
        link.latency = link.latency.or(Some(latency));
    }
}
