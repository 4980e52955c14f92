//! Links of memory: what the firmware says of its bandwidth and latency.

use super::parts::Parts;
use crate::tables::Initiator;
use topobroker_layout::links::{LinkClass, LinkOrigin, VertexKind};
use topobroker_layout::object_type::ObjectType;

/// Adds the NUMA nodes, each with a link to its CPUs.
pub(super) fn add(parts: &mut Parts<'_>) {
    let topology = parts.topology;
    for node in topology.objects_with_type(ObjectType::NUMANode) {
        if parts.is_full() {
            break;
        }
        let cpus = parts.cpus(node.normal_part());
        let memory = parts.vertex(VertexKind::Memory, node);
        parts.link(memory, cpus, LinkClass::Mem, LinkOrigin::Reported);
    }
    for (name, value) in [
        ("Latency", Value::Latency),
        ("ReadLatency", Value::Latency),
        ("Bandwidth", Value::Both),
        ("ReadBandwidth", Value::Read),
        ("WriteBandwidth", Value::Write),
    ] {
        let Some(attribute) = topology.memory_attribute(name) else { continue };
        for it in attribute.values() {
            let is_local = match &it.initiator {
                Initiator::None => true,
                Initiator::Cpuset(set) => it.target.intersects(set),
                Initiator::Object(object) => *object == it.target.normal_part(),
            };
            let memory = parts.known(it.target).filter(|_| is_local);
            let mut links = parts.links.iter_mut();
            let link = links.find(|link| link.class == LinkClass::Mem && Some(link.one) == memory);
            let Some(link) = link else { continue };
            // Bandwidths are in MiB/s there.
            let bandwidth = it.value.saturating_mul(1 << 20) / 1_000_000;
            let (nanoseconds, bandwidth) = (known(it.value), known(bandwidth));
            match value {
                Value::Latency => link.latency = nanoseconds,
                Value::Both => (link.forward, link.backward) = (bandwidth, bandwidth),
                Value::Read => link.forward = bandwidth,
                Value::Write => link.backward = bandwidth,
            }
        }
    }
}

/// What an attribute is of a link from memory to CPUs.
#[derive(Clone, Copy)]
enum Value {
    Latency,
    /// The mean of reading and writing.
    Both,
    Read,
    Write,
}

fn known(value: u64) -> Option<u32> {
    u32::try_from(value).ok().filter(|value| *value > 0)
}
