//! Writes hwloc XML of version 2 without hwloc. Any hwloc 2 can load it.

use crate::object::{Info, Object};
use crate::tables::{Distances, Initiator, MemoryAttribute};
use crate::topology::Topology;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write};
use topobroker_layout::attributes::{Associativity, Attributes, Bridge, Pci};
use topobroker_layout::object_type::ObjectType;

/// Number of predefined memory attributes. hwloc exports these only if they have values.
const PREDEFINED_ATTRIBUTES: usize = 8;

/// Most numbers in one XML element of a matrix.
const NUMBERS_PER_ELEMENT: usize = 10;

/// Exports a topology as the XML that hwloc writes. Counterpart: `hwloc_topology_export_xmlbuffer`.
///
/// ```
/// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
/// use topobroker_reader::text::xml::export;
/// assert!(export(topology).contains("<object type=\"Core\""));
/// ```
#[doc(alias = "hwloc_topology_export_xmlbuffer")]
#[must_use]
pub fn export(topology: Topology<'_>) -> String {
    let mut xml = Xml::default();
    xml.text.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    xml.text.push_str("<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n");
    xml.open("topology").attribute("version", "2.0");
    object(&mut xml, topology.root());
    let (mixed, alike): (Vec<_>, Vec<_>) =
        topology.distances().partition(|matrix| matrix.is_heterogeneous());
    alike.into_iter().chain(mixed).for_each(|matrix| distances(&mut xml, matrix));
    support(&mut xml, topology);
    topology.memory_attributes().for_each(|attribute| memory_attribute(&mut xml, attribute));
    for kind in topology.cpu_kinds() {
        xml.open("cpukind").attribute("cpuset", kind.cpuset());
        if let Some(efficiency) = kind.forced_efficiency() {
            xml.attribute("forced_efficiency", efficiency);
        }
        kind.infos().for_each(|info| self::info(&mut xml, info));
        xml.close("cpukind");
    }
    xml.close("topology");
    xml.text
}

fn object(xml: &mut Xml, object: Object<'_>) {
    let topology = object.topology();
    xml.open("object").attribute("type", object.object_type().name());
    if let Some(os_index) = object.os_index() {
        xml.attribute("os_index", os_index);
    }
    let is_root = object.parent().is_none();
    if let Some(cpuset) = object.cpuset() {
        xml.attribute("cpuset", cpuset);
        xml.attribute("complete_cpuset", object.complete_cpuset().unwrap_or_default());
        if is_root {
            xml.attribute("allowed_cpuset", topology.allowed_cpuset());
        }
        xml.attribute("nodeset", object.nodeset().unwrap_or_default());
        xml.attribute("complete_nodeset", object.complete_nodeset().unwrap_or_default());
        if is_root {
            xml.attribute("allowed_nodeset", topology.allowed_nodeset());
        }
    }
    xml.attribute("gp_index", object.gp_index());
    if let Some(name) = object.name() {
        xml.attribute("name", printable(name));
    }
    if let Some(subtype) = object.subtype() {
        xml.attribute("subtype", printable(subtype));
    }
    attributes(xml, object.attributes());
    for page in object.page_types() {
        xml.open("page_type").attribute("size", page.size).attribute("count", page.count);
        xml.close("page_type");
    }
    object.infos().for_each(|info| self::info(xml, info));
    let children = object.memory_children().chain(object.children());
    children
        .chain(object.io_children())
        .chain(object.misc_children())
        .for_each(|child| self::object(xml, child));
    xml.close("object");
}

fn attributes(xml: &mut Xml, attributes: Attributes) {
    match attributes {
        Attributes::NumaNode { local_memory } if local_memory != 0 => {
            xml.attribute("local_memory", local_memory);
        }
        Attributes::Cache(cache) => {
            xml.attribute("cache_size", cache.size)
                .attribute("depth", cache.depth)
                .attribute("cache_linesize", cache.linesize)
                .attribute("cache_associativity", Associativity::raw(cache.associativity))
                .attribute("cache_type", cache.kind.raw());
        }
        Attributes::Group(group) => {
            xml.attribute("kind", group.kind).attribute("subkind", group.subkind);
            if group.dont_merge {
                xml.attribute("dont_merge", 1);
            }
        }
        Attributes::Bridge(bridge) => self::bridge(xml, &bridge),
        Attributes::Pci(pci) => self::pci(xml, &pci),
        Attributes::OsDevice { kind } => {
            xml.attribute("osdev_type", kind.raw().cast_signed());
        }
        _ => {}
    }
}

fn bridge(xml: &mut Xml, bridge: &Bridge) {
    let upstream = u32::from(bridge.upstream.is_some());
    let downstream = bridge.downstream_type.cast_signed();
    xml.attribute("bridge_type", format_args!("{upstream}-{downstream}"));
    xml.attribute("depth", bridge.depth);
    if bridge.downstream_type == 1 {
        let (domain, first, last) =
            (bridge.downstream_domain, bridge.secondary_bus, bridge.subordinate_bus);
        xml.attribute("bridge_pci", format_args!("{domain:04x}:[{first:02x}-{last:02x}]"));
    }
    if let Some(pci) = &bridge.upstream {
        self::pci(xml, pci);
    }
}

fn pci(xml: &mut Xml, pci: &Pci) {
    xml.attribute("pci_busid", pci.bus_id());
    let Pci { class_id, vendor_id, device_id, subvendor_id, subdevice_id, revision, .. } = pci;
    xml.attribute(
        "pci_type",
        format_args!(
            "{class_id:04x} [{vendor_id:04x}:{device_id:04x}] \
             [{subvendor_id:04x}:{subdevice_id:04x}] {revision:02x}"
        ),
    );
    xml.attribute("pci_link_speed", format_args!("{:.6}", pci.linkspeed));
}

fn info(xml: &mut Xml, info: Info<'_>) {
    let (name, value) = (printable(info.name), printable(info.value));
    xml.open("info").attribute("name", name).attribute("value", value);
    xml.close("info");
}

/// Removes characters that hwloc does not export from a string: all except printable ASCII, tabs
/// and line ends.
fn printable(text: &str) -> String {
    text.chars().filter(|letter| matches!(letter, ' '..='~' | '\t' | '\n' | '\r')).collect()
}

fn distances(xml: &mut Xml, matrix: Distances<'_>) {
    let objects: Vec<_> = matrix.objects().collect();
    let Some(first) = objects.first() else { return };
    let by_os_index = matches!(first.object_type(), ObjectType::PU | ObjectType::NUMANode);
    let mixed = matrix.is_heterogeneous();
    let element = if mixed { "distances2hetero" } else { "distances2" };
    xml.open(element);
    if !mixed {
        xml.attribute("type", first.object_type().name());
    }
    xml.attribute("nbobjs", objects.len()).attribute("kind", matrix.kind());
    if let Some(name) = matrix.name() {
        xml.attribute("name", name);
    }
    if !mixed {
        xml.attribute("indexing", if by_os_index { "os" } else { "gp" });
    }
    let indexes = objects.iter().map(|object| match (mixed, by_os_index) {
        (true, _) => format!("{}:{}", object.object_type().name(), object.gp_index()),
        (false, true) => object.os_index().map_or_else(|| "4294967295".into(), |i| i.to_string()),
        (false, false) => object.gp_index().to_string(),
    });
    numbers(xml, "indexes", &indexes.collect::<Vec<_>>());
    let count = objects.len();
    let cells = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
    let values = cells.filter_map(|(from, to)| matrix.value(from, to)).map(|v| v.to_string());
    numbers(xml, "u64values", &values.collect::<Vec<_>>());
    xml.close(element);
}

/// Writes numbers as elements of at most ten each, with the length of the text as an attribute.
fn numbers(xml: &mut Xml, element: &'static str, numbers: &[String]) {
    for chunk in numbers.chunks(NUMBERS_PER_ELEMENT) {
        let text: String = chunk.iter().flat_map(|number| [number.as_str(), " "]).collect();
        xml.open(element).attribute("length", text.len());
        xml.close_with_text(element, &text);
    }
}

fn support(xml: &mut Xml, topology: Topology<'_>) {
    for (name, value) in topology.support() {
        // `misc.imported_support` says that the support bits were imported. hwloc does not export
        // it.
        if value == 0 || name == "misc.imported_support" {
            continue;
        }
        xml.open("support").attribute("name", name);
        if value != 1 {
            xml.attribute("value", value);
        }
        xml.close("support");
    }
    xml.open("support").attribute("name", "custom.exported_support");
    xml.close("support");
}

fn memory_attribute(xml: &mut Xml, attribute: MemoryAttribute<'_>) {
    let mut values = attribute.values().peekable();
    let empty = values.peek().is_none();
    if attribute.is_derived() || (empty && attribute.id() < PREDEFINED_ATTRIBUTES) {
        return;
    }
    xml.open("memattr").attribute("name", attribute.name()).attribute("flags", attribute.flags());
    for value in values {
        xml.open("memattr_value")
            .attribute("target_obj_type", value.target.object_type().name())
            .attribute("target_obj_gp_index", value.target.gp_index())
            .attribute("value", value.value);
        match value.initiator {
            Initiator::None => {}
            Initiator::Cpuset(set) => {
                xml.attribute("initiator_cpuset", set);
            }
            Initiator::Object(object) => {
                xml.attribute("initiator_obj_gp_index", object.gp_index())
                    .attribute("initiator_obj_type", object.object_type().name());
            }
        }
        xml.close("memattr_value");
    }
    xml.close("memattr");
}

/// Writes XML as hwloc formats it: indented by two spaces per level, empty elements as `<.../>`.
#[derive(Default)]
struct Xml {
    text: String,
    depth: usize,
    /// Whether the last start tag is still open: attributes may follow, or the element is empty.
    in_tag: bool,
}

impl Xml {
    fn open(&mut self, element: &str) -> &mut Self {
        self.end_tag();
        let blanks = self.depth * 2;
        self.write(format_args!("{:blanks$}<{element}", ""));
        self.depth += 1;
        self.in_tag = true;
        self
    }

    fn attribute(&mut self, name: &str, value: impl fmt::Display) -> &mut Self {
        self.write(format_args!(" {name}=\""));
        // Writing to a string cannot fail.
        let _ = write!(Escaped(&mut self.text), "{value}");
        self.text.push('"');
        self
    }

    fn close(&mut self, element: &str) {
        self.depth -= 1;
        if self.in_tag {
            self.in_tag = false;
            self.text.push_str("/>\n");
        } else {
            let blanks = self.depth * 2;
            self.write(format_args!("{:blanks$}</{element}>\n", ""));
        }
    }

    /// Closes an element whose content is text, without line breaks.
    fn close_with_text(&mut self, element: &str, text: &str) {
        self.depth -= 1;
        self.in_tag = false;
        self.write(format_args!(">{text}</{element}>\n"));
    }

    fn end_tag(&mut self) {
        if core::mem::take(&mut self.in_tag) {
            self.text.push_str(">\n");
        }
    }

    fn write(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(text);
    }
}

/// Escapes the characters that an attribute value cannot contain.
struct Escaped<'x>(&'x mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for letter in text.chars() {
            match letter {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\n' => self.0.push_str("&#10;"),
                '\r' => self.0.push_str("&#13;"),
                '\t' => self.0.push_str("&#9;"),
                _ => self.0.push(letter),
            }
        }
        Ok(())
    }
}
