//! One object with all that is known of it, and the tree.

use super::json::{infos, set_or_null, short};
use serde_json::{Map, Value, json};
use topobroker_reader::{AttributeValue, ChildKind, Object, ObjectType};

/// An object with all that is known of it.
pub(crate) fn object(object: Object<'_>) -> Value {
    let mut value = short(object);
    if let Some(fields) = value.as_object_mut() {
        let mut add = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        add("gp_index", object.gp_index().into());
        add("depth", object.depth().raw().into());
        add("subtype", object.subtype().into());
        add("name", object.name().into());
        add("complete_cpuset", set_or_null(object.complete_cpuset()));
        add("nodeset", set_or_null(object.nodeset()));
        add("complete_nodeset", set_or_null(object.complete_nodeset()));
        add("total_memory", object.total_memory().into());
        add("attributes", attributes(object));
        add("infos", infos(object.infos()));
        add("facts", infos(object.facts()));
    }
    value
}

/// An object with all below it.
pub(crate) fn tree(root: Object<'_>) -> Value {
    let mut value = object(root);
    if let Some(fields) = value.as_object_mut() {
        for (name, kind) in [
            ("children", ChildKind::Normal),
            ("memory_children", ChildKind::Memory),
            ("io_children", ChildKind::Io),
            ("misc_children", ChildKind::Misc),
        ] {
            let below: Vec<Value> = root.children_of_kind(kind).map(tree).collect();
            if !below.is_empty() {
                fields.insert(name.to_owned(), below.into());
            }
        }
    }
    value
}

/// Attributes by their names in hwloc.
fn attributes(object: Object<'_>) -> Value {
    let mut found = Map::new();
    object.attributes().each(&mut |name, value| {
        found.insert(name.to_owned(), attribute(value));
    });
    if object.object_type() == ObjectType::NUMANode {
        let pages = object.page_types();
        let pages = pages.map(|page| json!({ "size": page.size, "count": page.count }));
        found.insert("page_types".to_owned(), pages.collect());
    }
    found.into()
}

fn attribute(value: AttributeValue) -> Value {
    match value {
        AttributeValue::Number(number) => number.into(),
        AttributeValue::PciId(id) => format!("{id:04x}").into(),
        AttributeValue::BusId(bus_id) => bus_id.to_string().into(),
        AttributeValue::Real(number) => number.into(),
        AttributeValue::Flag(flag) => flag.into(),
        AttributeValue::Text(text) => text.into(),
        _ => Value::Null,
    }
}
