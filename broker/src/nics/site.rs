//! What an administrator says about the NICs that jobs use, once for a node: it is published with
//! the topology.

use super::filter::{NETWORK, NIC, NO_NIC, NicFilter};
use topobroker_layout::description::Description;

/// The variables by which a user says the same for one job, and the facts of the topology.
const VARIABLES: [(&str, &str); 3] =
    [("TOPOBROKER_NETWORK", NETWORK), ("TOPOBROKER_NIC", NIC), ("TOPOBROKER_NO_NIC", NO_NIC)];

/// A text does not say which NICs jobs use.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[error(
    "line {line} is {found:?}: {reason}; expected TOPOBROKER_NETWORK=..., TOPOBROKER_NIC=..., \
     TOPOBROKER_NO_NIC=..., a comment or nothing"
)]
pub struct SiteError {
    /// Number of the line, from 1.
    pub line: usize,
    /// The line.
    pub found: String,
    /// What is wrong.
    pub reason: &'static str,
}

/// Adds to a topology which NICs its jobs use, as a text says: lines such as
/// `TOPOBROKER_NETWORK=infiniband`, in the words of [`NicFilter::new`]. Jobs for which a user says
/// otherwise do as the user says.
///
/// # Errors
///
/// [`SiteError`] of the first wrong line. Nothing is added then.
pub fn add_site(description: &mut Description, text: &str) -> Result<(), SiteError> {
    let mut facts: Vec<(String, String)> = Vec::new();
    for (line, found) in (1..).zip(text.lines().map(str::trim)) {
        let wrong = |reason| SiteError { line, found: found.to_owned(), reason };
        if found.is_empty() || found.starts_with('#') {
            continue;
        }
        let (variable, value) = found.split_once('=').ok_or_else(|| wrong("no equals sign"))?;
        let known = VARIABLES.iter().find(|(name, _)| *name == variable);
        let (_, fact) = known.ok_or_else(|| wrong("another name"))?;
        if facts.iter().any(|(name, _)| name == fact) {
            return Err(wrong("named before"));
        }
        if value.trim().is_empty() {
            return Err(wrong("no value"));
        }
        if *fact != NETWORK {
            NicFilter::new(None, Some(value), None).map_err(|error| wrong(error.reason))?;
        }
        facts.push(((*fact).to_owned(), value.to_owned()));
    }
    if let Some(root) = description.objects.first_mut() {
        root.facts.extend(facts);
    }
    Ok(())
}
