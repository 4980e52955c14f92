//! Topologies of inputs that this process did not make.

use super::capture::{CaptureError, capture, tree};
use super::load::{HwlocLoadError, Input, LoadOptions, Prepared, load, prepare};
use super::topology::HwlocTopology;
use crate::aligned::aligned;
use crate::child::{ChildError, LIMIT, each_in_child, in_child};
use crate::description::describe;
use crate::linux::{Root, add_facts};
use std::error::Error;
use std::mem::ManuallyDrop;
use topobroker_layout::OpenError;
use topobroker_layout::description::Description;
use topobroker_layout::encode::{AlignedVec, EncodeError, to_bytes};
use topobroker_reader::{Archive, Topology};

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
    /// The topology cannot be encoded as an archive.
    #[error("{input}: the topology cannot be archived")]
    Encode { input: String, source: EncodeError },
    /// The process that reads XML has no answer.
    #[error(transparent)]
    Child(#[from] ChildError),
    /// The process that reads XML has answered with an invalid archive.
    #[error("{input}: the archive that was made of it is invalid")]
    Archive { input: String, source: OpenError },
}

/// Loads a topology and captures it. hwloc reads XML in a child process with few rights and a limit
/// of memory and time ([`crate::child`]), because a damaged or hostile file can crash hwloc.
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
    change: impl Fn(&mut HwlocTopology<'static>) -> Result<(), Box<dyn Error>>,
) -> Result<Description, ImportError> {
    let bytes = import_in_child(xml, options, change)?;
    Ok(described(opened(xml, &bytes)?.topology()))
}

/// Loads a topology as [`import`] does, and returns its archive.
///
/// # Errors
///
/// [`ImportError`].
pub fn import_archive(input: &Input, options: &LoadOptions) -> Result<AlignedVec, ImportError> {
    let encoded = |description: &Description| {
        to_bytes(description).map_err(|source| ImportError::Encode { input: input.name(), source })
    };
    if !input.is_xml() {
        return encoded(&import(input, options)?);
    }
    let bytes = import_in_child(input, options, |_| Ok(()))?;
    let archive = opened(input, &bytes)?;
    // What the child has made is complete, but for the facts of this machine.
    match archive.topology().is_this_system() {
        true => encoded(&described(archive.topology())),
        false => Ok(bytes),
    }
}

/// The archive of XML, as a child process makes it, in which `change` changes what hwloc loads.
fn import_in_child(
    xml: &Input,
    options: &LoadOptions,
    change: impl Fn(&mut HwlocTopology<'static>) -> Result<(), Box<dyn Error>>,
) -> Result<AlignedVec, ImportError> {
    let input = xml.name();
    let prepared = prepare(xml, options)?;
    let work = |prepared| archived(&input, &mut in_fork(prepared), &change);
    Ok(aligned(&in_child(input.clone(), prepared, LIMIT, work)?))
}

fn opened<'a>(input: &Input, bytes: &'a AlignedVec) -> Result<Archive<'a>, ImportError> {
    Archive::open(bytes).map_err(|source| ImportError::Archive { input: input.name(), source })
}

/// What an archive has, and the facts of devices if it is of this machine.
fn described(topology: Topology<'_>) -> Description {
    let mut description = describe(topology);
    if description.is_this_system {
        add_facts(&mut description.objects, &Root::of_this_node());
    }
    description
}

/// Imports several XML texts, each with its name, as archives. A child process reads them one after
/// the other; a text that crashes hwloc costs no other one. Devices have no facts: the texts are of
/// other machines.
pub fn import_archives(
    texts: Vec<(String, String)>,
    options: &LoadOptions,
) -> Vec<Result<AlignedVec, ImportError>> {
    let texts = texts.into_iter().map(|(name, text)| (name, Input::XmlText(text)));
    let texts: Vec<(String, Input)> = texts.collect();
    let mut items = Vec::new();
    let mut refused = Vec::new();
    for (name, input) in &texts {
        match prepare(input, options) {
            Ok(prepared) => {
                items.push((name.clone(), (name, prepared)));
                refused.push(None);
            }
            Err(error) => refused.push(Some(error)),
        }
    }
    // They are destroyed, so that the next one takes the same memory.
    let work =
        |(name, mut prepared): (&String, Prepared<'_>)| archived(name, &mut prepared, |_| Ok(()));
    let mut answers = each_in_child(items, LIMIT, work).into_iter();
    let archive = |refused: Option<HwlocLoadError>| match refused {
        Some(error) => Some(Err(error.into())),
        None => answers.next().map(|it| it.map(|bytes| aligned(&bytes)).map_err(ImportError::from)),
    };
    refused.into_iter().filter_map(archive).collect()
}

/// In a child process: the archive of what hwloc loads and `change` changes.
fn archived(
    input: &str,
    prepared: &mut Prepared<'_>,
    change: impl Fn(&mut HwlocTopology<'static>) -> Result<(), Box<dyn Error>>,
) -> Result<Vec<u8>, Box<dyn Error>> {
    prepared.load()?;
    change(&mut prepared.topology)?;
    let named = |error: &dyn Error| format!("{input}: {error}");
    let description = tree(&prepared.topology).map_err(|error| named(&error))?;
    Ok(to_bytes(&description).map_err(|error| named(&error))?.to_vec())
}

/// Keeps what a child process works on from being destroyed, which needs hwloc's one lock: a thread
/// of the program that this library is in, which does not know of `LOCKED`, may have held it when
/// the process forked. What was prepared before is loaded without it.
pub(super) fn in_fork<T>(prepared: T) -> ManuallyDrop<T> {
    ManuallyDrop::new(prepared)
}
