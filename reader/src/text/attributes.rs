//! Attributes of objects as texts.

use super::pci_class_name;
use crate::object::Object;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use topobroker_layout::attributes::{Associativity, Attributes, Bridge, Pci};

/// Attributes of an object as texts such as `size=32KB`, and its infos, if `verbose`; otherwise its
/// memory or size alone. Counterpart: `hwloc_obj_attr_snprintf`, which puts a separator between
/// them.
///
/// ```no_run
/// use topobroker_reader::{ObjectType, text::attributes};
/// let topology = topobroker_reader::adopt()?.topology();
/// for cache in topology.objects_with_type(ObjectType::L2Cache) {
///     assert_eq!(attributes(cache, false), ["1024KB"]);
/// }
/// # Ok::<(), topobroker_reader::AdoptError>(())
/// ```
#[doc(alias = "hwloc_obj_attr_snprintf")]
#[must_use]
pub fn attributes(object: Object<'_>, verbose: bool) -> Vec<String> {
    match (verbose, object.attributes()) {
        (false, Attributes::NumaNode { local_memory }) if local_memory > 0 => {
            vec![memory_size(local_memory, false)]
        }
        (false, Attributes::Cache(cache)) => vec![memory_size(cache.size, false)],
        (false, _) => Vec::new(),
        (true, attributes) => verbose_attributes(object, attributes),
    }
}

fn verbose_attributes(object: Object<'_>, attributes: Attributes) -> Vec<String> {
    let mut details = Vec::new();
    let total = object.total_memory();
    if total != 0 {
        if let Attributes::NumaNode { local_memory } = attributes {
            details.push(format!("local={}", memory_size(local_memory, true)));
        }
        details.push(format!("total={}", memory_size(total, true)));
    }
    match attributes {
        Attributes::Cache(cache) => {
            details.push(format!("size={}", memory_size(cache.size, true)));
            details.push(format!("linesize={}", cache.linesize));
            match cache.associativity {
                Some(Associativity::Full) => details.push("fully-associative".to_owned()),
                Some(Associativity::Ways(ways)) => details.push(format!("ways={ways}")),
                None => {}
            }
        }
        Attributes::Pci(pci) => details.extend(pci_attributes(&pci)),
        Attributes::Bridge(bridge) => details.extend(bridge_attributes(&bridge)),
        _ => {}
    }
    details.extend(object.infos().map(|info| {
        let quote = if info.value.contains(' ') { "\"" } else { "" };
        format!("{}={quote}{}{quote}", info.name, info.value)
    }));
    details
}

fn pci_attributes(pci: &Pci) -> Vec<String> {
    let class = pci_class_name(pci.class_id);
    let mut details = vec![
        format!("busid={}", pci.bus_id()),
        format!("id={:04x}:{:04x}", pci.vendor_id, pci.device_id),
        format!("class={:04x}({class})", pci.class_id),
    ];
    if pci.linkspeed != 0.0 {
        details.push(format!("link={:.2}GB/s", pci.linkspeed));
    }
    details
}

fn bridge_attributes(bridge: &Bridge) -> Vec<String> {
    let mut details = bridge.upstream.as_ref().map(pci_attributes).unwrap_or_default();
    let (domain, first, last) =
        (bridge.downstream_domain, bridge.secondary_bus, bridge.subordinate_bus);
    details.push(format!("buses={domain:04x}:[{first:02x}-{last:02x}]"));
    details
}

/// A size with its unit, rounded as in hwloc: the long form is in kilobytes, the short form in a
/// unit that leaves at most five digits.
#[must_use]
pub fn memory_size(bytes: u64, long: bool) -> String {
    let (shift, unit) = match bytes {
        _ if long => (10, "KB"),
        ..0x00a0_0000 => (10, "KB"),
        0x00a0_0000..0x2_8000_0000 => (20, "MB"),
        0x2_8000_0000..0xa00_0000_0000 => (30, "GB"),
        _ => (40, "TB"),
    };
    format!("{}{unit}", ((bytes >> (shift - 1)) + 1) >> 1)
}

#[cfg(test)]
mod tests {
    use super::memory_size;

    #[test]
    fn sizes_are_rounded_and_change_their_unit_at_ten_thousand() {
        for (bytes, text) in [
            (0, "0KB"),
            (32 << 10, "32KB"),
            ((10 << 20) - 1, "10240KB"),
            (10 << 20, "10MB"),
            (10 << 30, "10GB"),
            ((3 << 30) + (512 << 20), "3584MB"),
            (10 << 40, "10TB"),
        ] {
            assert_eq!(memory_size(bytes, false), text);
        }
        assert_eq!(memory_size(1 << 30, true), "1048576KB");
    }
}
