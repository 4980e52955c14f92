//! Loads the topology of a process: from a published segment, else from XML, else by discovery,
//! which one process does for all.

use super::election::{Election, kept};
use super::status;
use crate::hwloc::{self, CaptureError, HwlocLoadError, Input, LoadOptions, capture};
use crate::publish::{PublishError, PublishOptions, Store, publish, remove, remove_at_exit};
use std::path::PathBuf;
use topobroker_reader::{AdoptError, Adopted, Scope, Source, adopt_keys, adopted};

/// Why a process gets no topology.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// hwloc cannot load a topology.
    #[error(transparent)]
    Load(#[from] HwlocLoadError),
    /// The topology that hwloc loaded cannot be described.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The description cannot be published.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The segment cannot be adopted.
    #[error(transparent)]
    Adopt(#[from] AdoptError),
}

/// PMIx key of a topology as XML of version 2: `PMIX_HWLOC_XML_V2`.
const PMIX_XML: &str = "pmix.hwlocxml2";

/// The topology of this process, from the first source that has one. The order is that of
/// `PMIx_Load_topology`:
///
/// 1. the topology that the process has adopted;
/// 2. the segment that its environment, its PMIx server or the node's daemon names;
/// 3. XML from its PMIx server;
/// 4. discovery.
///
/// If several processes come to discovery at once, one discovers and publishes, and the others
/// adopt its segment. They share if they have the same user, cgroup, pid namespace and hwloc
/// settings in the environment, and if these settings do not make hwloc load something other than
/// this machine. The segment stays for ten seconds (`TOPOBROKER_LOAD_KEEPS` has another number), and as
/// long as the process that published it runs. What others have left is removed by the next one that
/// publishes.
///
/// ```
/// let topology = topobroker::node::load()?.topology();
/// println!("{} objects", topology.object_count());
/// # Ok::<(), topobroker::node::LoadError>(())
/// ```
///
/// # Errors
///
/// [`LoadError`] of the last source. A segment that is refused is skipped.
#[doc(alias = "PMIx_Load_topology")]
pub fn load() -> Result<&'static Adopted, LoadError> {
    if let Some(adopted) = adopted() {
        return Ok(adopted);
    }
    if let Ok(adopted) = topobroker_reader::adopt() {
        return Ok(adopted);
    }
    if let Some(text) = topobroker_reader::pmix_value(PMIX_XML)
        && let Ok(adopted) = alone(&Input::XmlText(text), Source::Xml)
    {
        return Ok(adopted);
    }
    if is_hwloc_told_what_to_load() {
        return alone(&Input::ThisMachine, Source::Loaded);
    }
    // If there can be no election, each process discovers for itself.
    let Some(election) = Election::enter() else {
        return alone(&Input::ThisMachine, Source::ThisMachine);
    };
    if let Some(keys) = election.elected()
        && let Ok(adopted) = adopt_keys(keys)
    {
        return Ok(adopted);
    }
    election.sweep();
    let description = capture(&hwloc::load(&Input::ThisMachine, &LoadOptions::default())?)?;
    let options = PublishOptions { private: true, scope: Scope::Cgroup, ..Default::default() };
    let Ok(publication) = publish(&description, &options) else {
        // Without room for a shared segment, this process still needs a topology.
        return adopt_own(&description, Source::ThisMachine);
    };
    let keys = publication.keys().clone();
    // The segment stays for other processes as long as this process lives, and for a while in any
    // case: the next load removes it.
    leave_to_next(publication.outlive());
    election.win(&keys);
    Ok(adopt_keys(keys)?)
}

/// Removes a segment when this process exits, unless it is so young that others may still look for it.
fn leave_to_next(file: PathBuf) {
    remove_at_exit(file, |file| {
        if !status::read(file, 0).is_ok_and(|published| published.is_younger(kept())) {
            let _ = remove(file);
        }
    });
}

/// Loads for this process alone.
fn alone(input: &Input, source: Source) -> Result<&'static Adopted, LoadError> {
    adopt_own(&capture(&hwloc::load(input, &LoadOptions::default())?)?, source)
}

/// Adopts a description for this process alone, as a memfd that is closed once it is mapped.
fn adopt_own(
    description: &topobroker_layout::description::Description,
    source: Source,
) -> Result<&'static Adopted, LoadError> {
    // With `keep` the header names no publisher, so this works without /proc.
    let options = PublishOptions { store: Store::Memfd, keep: true, source, ..Default::default() };
    let publication = publish(description, &options)?;
    Ok(adopt_keys(publication.keys().clone())?)
}

/// Whether the environment makes hwloc load something other than this machine as it is.
fn is_hwloc_told_what_to_load() -> bool {
    const NAMES: [&str; 6] = [
        "HWLOC_XMLFILE",
        "HWLOC_SYNTHETIC",
        "HWLOC_FSROOT",
        "HWLOC_COMPONENTS",
        "HWLOC_CPUID_PATH",
        "HWLOC_DUMPED_HWDATA_DIR",
    ];
    NAMES.into_iter().any(|name| std::env::var_os(name).is_some())
}
