//! Documents and sets.

use serde::Serialize;
use serde_json::{Value, json};
use topobroker_layout::set::{Format, Set};
use topobroker_reader::{Info, Object};

/// The text of a document.
pub(crate) fn text(document: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}

/// A set in hwloc's format of masks, and as a list of indexes.
pub(crate) fn set(set: &Set) -> Value {
    json!({ "mask": set.to_text(Format::Hwloc), "list": set.to_text(Format::List) })
}

/// [`set`], or null if there is none.
pub(crate) fn set_or_null(found: Option<Set>) -> Value {
    found.as_ref().map_or(Value::Null, set)
}

/// What an object is, its indexes and its PUs.
pub(crate) fn short(object: Object<'_>) -> Value {
    json!({
        "type": object.type_name(true),
        "logical_index": object.logical_index(),
        "os_index": object.os_index(),
        "cpuset": set_or_null(object.cpuset()),
    })
}

/// Names and values; of names that are there twice, the last value.
pub(super) fn infos<'a>(infos: impl Iterator<Item = Info<'a>>) -> Value {
    infos.map(|info| (info.name.to_owned(), Value::from(info.value))).collect()
}
