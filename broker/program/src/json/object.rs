//! Sets and objects.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use topobroker_layout::set::{self, Format};
use topobroker_reader::{self as reader, AttributeValue, ChildKind, Info, ObjectType, PageType};

/// A set of PUs or NUMA nodes by index of the operating system.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Set {
    /// As hwloc writes it: `0x0000000f`.
    mask: String,
    /// As `taskset -c` takes it: `0-3`.
    list: String,
}

impl From<&set::Set> for Set {
    fn from(set: &set::Set) -> Self {
        Self { mask: set.to_text(Format::Hwloc), list: set.to_text(Format::List) }
    }
}

impl From<set::Set> for Set {
    fn from(set: set::Set) -> Self {
        Self::from(&set)
    }
}

/// What an object is, its indexes and its PUs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ShortObject {
    /// hwloc's name of the type.
    r#type: String,
    logical_index: u32,
    os_index: Option<u32>,
    cpuset: Option<Set>,
}

/// An object with all that is known of it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Object<'a> {
    #[serde(flatten)]
    short: ShortObject,
    gp_index: u64,
    depth: i32,
    subtype: Option<&'a str>,
    name: Option<&'a str>,
    complete_cpuset: Option<Set>,
    nodeset: Option<Set>,
    complete_nodeset: Option<Set>,
    /// In bytes, of all NUMA nodes below.
    total_memory: u64,
    #[cfg_attr(test, schemars(with = "super::schema::Attributes"))]
    attributes: Attributes<'a>,
    infos: Vec<Pair<'a>>,
    facts: Vec<Pair<'a>>,
}

/// An object with all below it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Tree<'a> {
    #[serde(flatten)]
    object: Object<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<Self>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    memory_children: Vec<Self>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    io_children: Vec<Self>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    misc_children: Vec<Self>,
}

/// A name and a value. Names may be there twice.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Pair<'a> {
    name: &'a str,
    value: &'a str,
}

/// Memory pages of one size.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Pages {
    /// In bytes.
    size: u64,
    count: u64,
}

/// Attributes by their names in hwloc.
#[derive(Debug)]
struct Attributes<'a>(reader::Object<'a>);

impl From<reader::Object<'_>> for ShortObject {
    fn from(object: reader::Object<'_>) -> Self {
        Self {
            r#type: object.type_name(true).to_string(),
            logical_index: object.logical_index(),
            os_index: object.os_index(),
            cpuset: object.cpuset().map(Set::from),
        }
    }
}

impl<'a> From<reader::Object<'a>> for Object<'a> {
    fn from(object: reader::Object<'a>) -> Self {
        Self {
            short: object.into(),
            gp_index: object.gp_index(),
            depth: object.depth().raw(),
            subtype: object.subtype(),
            name: object.name(),
            complete_cpuset: object.complete_cpuset().map(Set::from),
            nodeset: object.nodeset().map(Set::from),
            complete_nodeset: object.complete_nodeset().map(Set::from),
            total_memory: object.total_memory(),
            attributes: Attributes(object),
            infos: object.infos().map(Pair::from).collect(),
            facts: object.facts().map(Pair::from).collect(),
        }
    }
}

impl<'a> From<reader::Object<'a>> for Tree<'a> {
    fn from(object: reader::Object<'a>) -> Self {
        let below = |kind| object.children_of_kind(kind).map(Self::from).collect();
        Self {
            object: object.into(),
            children: below(ChildKind::Normal),
            memory_children: below(ChildKind::Memory),
            io_children: below(ChildKind::Io),
            misc_children: below(ChildKind::Misc),
        }
    }
}

impl<'a> From<Info<'a>> for Pair<'a> {
    fn from(info: Info<'a>) -> Self {
        Self { name: info.name, value: info.value }
    }
}

impl From<PageType> for Pages {
    fn from(pages: PageType) -> Self {
        Self { size: pages.size, count: pages.count }
    }
}

impl Serialize for Attributes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut result = Ok(());
        self.0.attributes().each(&mut |name, value| {
            if result.is_ok() {
                result = map.serialize_entry(name, &Attribute(value));
            }
        });
        result?;
        if self.0.object_type() == ObjectType::NUMANode {
            let pages: Vec<Pages> = self.0.page_types().map(Pages::from).collect();
            map.serialize_entry("page_types", &pages)?;
        }
        map.end()
    }
}

struct Attribute(AttributeValue);

impl Serialize for Attribute {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            AttributeValue::Number(number) => number.serialize(serializer),
            AttributeValue::Signed(number) => number.serialize(serializer),
            AttributeValue::PciId(id) => serializer.collect_str(&format_args!("{id:04x}")),
            AttributeValue::BusId(bus_id) => serializer.collect_str(&bus_id),
            AttributeValue::Real(number) => number.serialize(serializer),
            AttributeValue::Flag(flag) => flag.serialize(serializer),
            AttributeValue::Text(text) => text.serialize(serializer),
            _ => serializer.serialize_none(),
        }
    }
}
