//! The processors of a file for NCCL: the NUMA node that a device is near, and what is known of it.

use super::nccl_read::MOST_LETTERS;
use std::borrow::Cow;
use std::fmt::Write;
use topobroker_layout::set::Set;
use topobroker_reader::{Object, ObjectType, Topology};

/// The first NUMA node that a device is local to. `None` if it is below the whole machine, and so
/// local to all of several.
pub(super) fn node_of<'a>(topology: Topology<'a>, device: Object<'a>) -> Option<Object<'a>> {
    let local = device.local_nodeset();
    if local.weight() != Some(1) && device.non_io_ancestor() == topology.root() {
        return None;
    }
    topology
        .objects_with_type(ObjectType::NUMANode)
        .find(|it| it.os_index().is_some_and(|node| local.contains(node)))
}

/// The OS index of a NUMA node as NCCL has it: -1 for none.
pub(super) fn node_number(node: Option<Object<'_>>) -> i64 {
    node.and_then(Object::os_index).map_or(-1, i64::from)
}

pub(super) fn cpu_attributes(
    text: &mut String,
    topology: Topology<'_>,
    node: Option<Object<'_>>,
    has_affinity: bool,
) {
    let cpuset = node.unwrap_or(topology.root()).cpuset().unwrap_or_default();
    let affinity = words(&cpuset);
    if has_affinity && affinity.len() <= MOST_LETTERS {
        let _ = write!(text, " affinity=\"{affinity}\"");
    }
    let package = node.and_then(|it| it.ancestor_with_type(ObjectType::Package));
    let package = package.or_else(|| topology.objects_with_type(ObjectType::Package).next());
    let info = |name: &str| {
        let package = package.and_then(|it| it.info(name));
        package.or_else(|| topology.root().info(name))
    };
    let arch = topology.root().info("Architecture").map(|arch| match arch {
        "aarch64" => "arm64",
        "ppc64le" => "ppc64",
        arch => arch,
    });
    let family = info("CPUFamilyNumber").map(nccl_family);
    let known = [
        ("arch", arch),
        ("vendor", info("CPUVendor")),
        ("familyid", family.as_deref()),
        ("modelid", info("CPUModelNumber")),
    ];
    for (name, value) in known {
        if let Some(value) = value.filter(|value| value.len() <= MOST_LETTERS) {
            let _ = write!(text, " {name}=\"{}\"", quick_xml::escape::escape(value));
        }
    }
}

/// The family of a processor as NCCL and RCCL compute it from CPUID: they shift the extended family
/// by four bits before they add it, so that 25, which is 15 + 10, is 15 + 160.
fn nccl_family(family: &str) -> Cow<'_, str> {
    const MOST: u32 = 15;
    match family.parse::<u32>() {
        Ok(number @ 16..=270) => (MOST + ((number - MOST) << 4)).to_string().into(),
        _ => family.into(),
    }
}

/// A set as 32-bit words in hexadecimal, the highest first, as in Linux's `cpumap`.
fn words(set: &Set) -> String {
    let count = set.last().map_or(1, |last| last / 32 + 1);
    let word = |word: u32| {
        let bits = (0..32).filter(|bit| set.contains(word * 32 + bit));
        format!("{:08x}", bits.fold(0u32, |all, bit| all | 1 << bit))
    };
    (0..count).rev().map(word).collect::<Vec<_>>().join(",")
}
