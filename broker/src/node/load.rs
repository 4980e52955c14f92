//! Loads the topology of a process: from a published segment, otherwise from XML, otherwise by
//! discovery, which one process does for all.

use super::election::{Election, close_all};
use super::status::{self, PublisherState};
use crate::hwloc::{self, CaptureError, HwlocLoadError, Input, LoadOptions, capture};
use crate::publish::{PublishError, PublishOptions, Store, kept, publish, remove, remove_at_exit};
use std::path::Path;
use topobroker_layout::description::Description;
use topobroker_reader::{AdoptError, Adopted, Keys, Scope, Source, adopt_keys, adopted};

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
/// this machine. The segment stays for ten seconds (`TOPOBROKER_LOAD_KEEPS` has another number),
/// and as long as the process that published it runs. What others have left is removed by the next
/// one that publishes.
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
    match shared(None)? {
        Shared::Published(keys) => Ok(adopt_keys(keys)?),
        Shared::Adopted(adopted) => Ok(adopted),
        // Without room for a shared segment, or an election, this process still needs a topology.
        Shared::Own(description, source) => adopt_own(&description, source),
    }
}

/// The keys of a topology for another process, which is to adopt it: of what is published to this
/// process, otherwise of what the first of many processes discovers. PMIx is not asked for XML, and
/// there must be room for a segment. It stays as long as the process `owner` runs, for which
/// [`release`] is called at its end.
///
/// # Errors
///
/// [`LoadError`].
pub fn keys_for(owner: u32) -> Result<Keys, LoadError> {
    if let Ok(adopted) = topobroker_reader::adopt() {
        return Ok(adopted.keys().clone());
    }
    let (description, source) = match shared(Some(owner))? {
        Shared::Published(keys) => return Ok(keys),
        Shared::Adopted(adopted) => return Ok(adopted.keys().clone()),
        Shared::Own(description, source) => (description, source),
    };
    let options = PublishOptions { source, ..options(Some(owner)) };
    let publication = publish(&description, &options)?;
    let keys = publication.keys().clone();
    publication.outlive();
    Ok(keys)
}

/// Removes a segment that [`keys_for`] has published for the process `owner`, and leaves those of
/// other processes that run. One that is so young that others may still look for it is removed by
/// the next process that loads.
pub fn release(file: &Path, owner: u32) {
    let Ok(published) = status::read(file) else { return };
    let header = published.header.as_ref().ok();
    let is_own = header.is_some_and(|header| header.publisher_pid == owner);
    if is_own || published.publisher == PublisherState::Gone {
        match header.map(|header| header.source) {
            // No other process looks for it.
            Some(Source::Loaded) => _ = remove(file),
            _ => remove_unless_young(file),
        }
    }
    close_all();
}

/// What an election led to.
enum Shared {
    /// This process has published a segment, or another one has.
    Published(Keys),
    /// This process has adopted the segment of another one.
    Adopted(&'static Adopted),
    /// For this process alone: there can be no election or no segment, or the environment
    /// has hwloc load something other than this machine.
    Own(Box<Description>, Source),
}

/// Finds the segment that others have discovered, otherwise discovers for all.
fn shared(owner: Option<u32>) -> Result<Shared, LoadError> {
    if hwloc::loads_by_other_means() {
        return Ok(Shared::Own(discovered()?, Source::Loaded));
    }
    let Some(election) = Election::enter() else {
        return Ok(Shared::Own(discovered()?, Source::ThisMachine));
    };
    if let Some(keys) = election.elected()
        && let Ok(adopted) = adopt_keys(keys)
    {
        return Ok(Shared::Adopted(adopted));
    }
    election.close_others();
    let description = discovered()?;
    let Ok(publication) = publish(&description, &options(owner)) else {
        return Ok(Shared::Own(description, Source::ThisMachine));
    };
    let keys = publication.keys().clone();
    // The segment stays for other processes as long as its owner lives, and for a while in any
    // case: the next load removes it.
    let file = publication.outlive();
    if owner.is_none() {
        remove_at_exit(file, remove_unless_young);
    }
    election.win(&keys);
    Ok(Shared::Published(keys))
}

fn discovered() -> Result<Box<Description>, LoadError> {
    Ok(Box::new(capture(&hwloc::load(&Input::ThisMachine, &LoadOptions::default())?)?))
}

fn options(publisher: Option<u32>) -> PublishOptions {
    PublishOptions { private: true, scope: Scope::Cgroup, publisher, ..Default::default() }
}

fn remove_unless_young(file: &Path) {
    if !status::read(file).is_ok_and(|published| published.is_younger(kept())) {
        let _ = remove(file);
    }
}

/// Loads for this process alone.
fn alone(input: &Input, source: Source) -> Result<&'static Adopted, LoadError> {
    adopt_own(&capture(&hwloc::load(input, &LoadOptions::default())?)?, source)
}

/// Adopts a description for this process alone, as a memfd that is closed once it is mapped.
fn adopt_own(description: &Description, source: Source) -> Result<&'static Adopted, LoadError> {
    // With `keep` the header names no publisher, so this works without /proc.
    let options = PublishOptions { store: Store::Memfd, keep: true, source, ..Default::default() };
    let publication = publish(description, &options)?;
    Ok(adopt_keys(publication.keys().clone())?)
}
