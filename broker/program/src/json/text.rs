//! A document as text.

use serde::Serialize;

/// The text of a document.
pub(crate) fn text(document: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}
