//! One object with all that is known of it, and the tree.

use super::json::{infos, set_or_null, short};
use serde_json::{Value, json};
use topobroker_reader::{Associativity, Attributes, ChildKind, Object, Pci};

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

fn attributes(object: Object<'_>) -> Value {
    match object.attributes() {
        Attributes::NumaNode { local_memory } => {
            let pages = object.page_types();
            let pages = pages.map(|page| json!({ "size": page.size, "count": page.count }));
            json!({ "local_memory": local_memory, "page_types": pages.collect::<Vec<_>>() })
        }
        Attributes::Cache(cache) => json!({
            "size": cache.size,
            "depth": cache.depth,
            "line_size": cache.linesize,
            "kind": cache.kind.name(),
            "ways": match cache.associativity {
                Some(Associativity::Ways(ways)) => json!(ways),
                Some(Associativity::Full) => json!("full"),
                None => Value::Null,
            },
        }),
        Attributes::Group(group) => json!({ "depth": group.depth }),
        Attributes::Pci(found) => pci(&found),
        Attributes::Bridge(bridge) => json!({
            "upstream": bridge.upstream.as_ref().map(pci),
            "downstream_domain": bridge.downstream_domain,
            "secondary_bus": bridge.secondary_bus,
            "subordinate_bus": bridge.subordinate_bus,
        }),
        Attributes::OsDevice { kind } => json!({ "kind": kind.name() }),
        _ => json!({}),
    }
}

fn pci(found: &Pci) -> Value {
    json!({
        "bus_id": found.bus_id_text(),
        "class": format!("{:04x}", found.class_id),
        "vendor": format!("{:04x}", found.vendor_id),
        "device": format!("{:04x}", found.device_id),
        "subvendor": format!("{:04x}", found.subvendor_id),
        "subdevice": format!("{:04x}", found.subdevice_id),
        "revision": found.revision,
        "linkspeed_gb_per_s": (found.linkspeed > 0.0).then_some(found.linkspeed),
    })
}
