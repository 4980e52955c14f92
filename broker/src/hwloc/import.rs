//! Topologies of inputs that this process did not make.

use super::capture::{CaptureError, capture, tree};
use super::load::{HwlocLoadError, Input, LoadOptions, load, prepare};
use super::topology::HwlocTopology;
use crate::aligned::aligned;
use crate::child::{ChildError, LIMIT, in_child};
use crate::description::describe;
use crate::linux::{Root, add_facts};
use std::error::Error;
use std::mem::ManuallyDrop;
use topobroker_layout::OpenError;
use topobroker_layout::description::Description;
use topobroker_layout::encode::to_bytes;
use topobroker_reader::Archive;

/// Why an input cannot be imported. Every message names it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ImportError {
    /// The input is refused, or hwloc cannot load it.
    #[error(transparent)]
    Load(#[from] HwlocLoadError),
    /// What hwloc loaded cannot be described.
    #[error("{input}: the topology cannot be captured")]
    Capture { input: String, source: CaptureError },
    /// The process that reads XML has no answer.
    #[error(transparent)]
    Child(#[from] ChildError),
    /// The process that reads XML has answered with something else than a topology.
    #[error("{input}: hwloc made of it what is no topology")]
    Archive { input: String, source: OpenError },
}

/// Loads a topology and captures it. hwloc reads XML in a child process with few rights and a limit of memory and
/// time ([`crate::child`]), because a file that was damaged, or made for it, ends the process that reads it.
///
/// ```
/// use topobroker::hwloc::{Input, LoadOptions, import};
/// let input = Input::Synthetic("Package:2 Core:4 PU:2".to_owned());
/// assert_eq!(import(&input, &LoadOptions::default())?.objects.len(), 1 + 2 + 8 + 16 + 1);
/// # Ok::<(), topobroker::hwloc::ImportError>(())
/// ```
///
/// # Errors
///
/// [`ImportError`].
pub fn import(input: &Input, options: &LoadOptions) -> Result<Description, ImportError> {
    if !input.is_xml() {
        return capture(&load(input, options)?)
            .map_err(|source| ImportError::Capture { input: input.name(), source });
    }
    import_changed(input, options, |_| Ok(()))
}

/// Imports XML after `change` has changed what hwloc made of it, in the child process too.
///
/// # Errors
///
/// [`ImportError`], also that of `change`.
pub(super) fn import_changed(
    xml: &Input,
    options: &LoadOptions,
    change: impl FnOnce(&mut HwlocTopology<'static>) -> Result<(), Box<dyn Error>>,
) -> Result<Description, ImportError> {
    let input = xml.name();
    let prepared = prepare(xml, options)?;
    let bytes = in_child(&input, LIMIT, || {
        let mut forked = in_fork(prepared);
        forked.load()?;
        change(&mut forked.topology)?;
        let named = |error: &dyn Error| format!("{input}: {error}");
        let description = tree(&forked.topology).map_err(|error| named(&error))?;
        Ok(to_bytes(&description).map_err(|error| named(&error))?.to_vec())
    })?;
    let bytes = aligned(&bytes);
    let archive = Archive::open(&bytes);
    let archive = archive.map_err(|source| ImportError::Archive { input, source })?;
    let mut description = describe(archive.topology());
    if description.is_this_system {
        add_facts(&mut description.objects, &Root::of_this_node());
    }
    Ok(description)
}

/// Keeps what a child process works on from being destroyed, which needs hwloc's one lock: another thread may have
/// held it when the process forked. It is not needed to load what was prepared before.
pub(super) fn in_fork<T>(prepared: T) -> ManuallyDrop<T> {
    ManuallyDrop::new(prepared)
}
