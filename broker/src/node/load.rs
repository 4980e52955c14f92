//! The whole way to a topology: what is published, else XML, else discovery, once for all.

use super::election::Election;
use super::status;
use crate::hwloc::{self, CaptureError, HwlocLoadError, Input, LoadOptions, capture};
use crate::publish::{PublishError, PublishOptions, SHM_FOLDER, Store, publish};
use std::path::Path;
use topobroker_reader::{AdoptError, Adopted, Scope, Source, adopt_keys, adopted};

/// Why there is no topology.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// hwloc cannot load one.
    #[error(transparent)]
    Load(#[from] HwlocLoadError),
    /// What hwloc loaded cannot be described.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// It cannot be made a segment.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// Nor adopted.
    #[error(transparent)]
    Adopt(#[from] AdoptError),
}

/// PMIx keys with a topology as XML of version 2: `PMIX_HWLOC_XML_V2`.
const PMIX_XML: &str = "pmix.hwlocxml2";

/// The topology of this process, from the first source that has one, in the order of
/// `PMIx_Load_topology`: what the process has adopted; the segment that its environment, its PMIx server or
/// the node's daemon names; XML that its PMIx server has; discovery.
///
/// Of processes that come to discovery at once, with nobody publishing, one discovers and publishes, and
/// the others adopt: those of one user in one cgroup, with the same settings of hwloc in the environment,
/// and only where that has hwloc look at this machine as it is. What is published so is removed when that
/// process ends.
///
/// ```no_run
/// let topology = topobroker::node::load()?.topology();
/// println!("{} objects", topology.object_count());
/// # Ok::<(), topobroker::node::LoadError>(())
/// ```
///
/// # Errors
///
/// [`LoadError`] of the last source. A segment that is refused is passed over.
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
    // Where there can be no election, each discovers for itself.
    let Some(election) = Election::enter() else {
        return alone(&Input::ThisMachine, Source::ThisMachine);
    };
    if let Some(keys) = election.elected()
        && let Ok(adopted) = adopt_keys(keys)
    {
        return Ok(adopted);
    }
    // A winner before that was killed has not told everything that it left.
    status::remove_stale(Path::new(SHM_FOLDER));
    let description = capture(&hwloc::load(&Input::ThisMachine, &LoadOptions::default())?)?;
    let options = PublishOptions { private: true, scope: Scope::Cgroup, ..Default::default() };
    let Ok(publication) = publish(&description, &options) else {
        // No room for others is no reason to have none.
        return adopt_own(&description, Source::ThisMachine);
    };
    let keys = publication.keys().clone();
    election.win(&keys);
    // As long as this process lives, for the others.
    std::mem::forget(publication);
    Ok(adopt_keys(keys)?)
}

/// Loads for this process alone.
fn alone(input: &Input, source: Source) -> Result<&'static Adopted, LoadError> {
    adopt_own(&capture(&hwloc::load(input, &LoadOptions::default())?)?, source)
}

/// Adopts a description that nobody else sees: a memfd that is closed once it is mapped.
fn adopt_own(
    description: &topobroker_layout::description::Description,
    source: Source,
) -> Result<&'static Adopted, LoadError> {
    // To be kept: nobody asks whether its publisher lives, which only /proc tells.
    let options = PublishOptions { store: Store::Memfd, keep: true, source, ..Default::default() };
    let publication = publish(description, &options)?;
    Ok(adopt_keys(publication.keys().clone())?)
}

/// Whether the environment has hwloc load something else than this machine as it is.
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
