//! The hwloc topology for code that knows only hwloc: one per process, from the node's hwloc
//! segment.

use crate::hwloc::{self, AdoptedHwloc, HwlocLoadError, Input, LoadOptions, adopt_shmem};
use crate::publish::legacy::{SHMEM_ADDR, SHMEM_FILE, SHMEM_SIZE};
use std::fs::File;
use topobroker_process::{Gate, Global, open_trusted, trusted_var};
use topobroker_reader::{Keys, pmix_keys};

/// PMIx keys of hwloc's segment: `PMIX_HWLOC_SHMEM_FILE`, `_ADDR`, `_SIZE`.
pub const PMIX_SHMEM_NAMES: [&str; 3] = ["pmix.hwlocfile", "pmix.hwlocaddr", "pmix.hwlocsize"];

static TOPOLOGY: Global<AdoptedHwloc> = Global::new();

/// The hwloc topology of this process. All callers get the same one, and it stays valid until the
/// process ends.
///
/// The first call adopts the hwloc segment that the environment names (`PMIX_HWLOC_SHMEM_FILE`,
/// `_ADDR`, `_SIZE`), or that the process's PMIx server names. If there is none, or it cannot be
/// adopted (another library has adopted it, or its address is taken), hwloc loads a topology once:
/// the XML of `HWLOC_XMLFILE` if that is set, otherwise this machine.
///
/// hwloc's memory-attribute functions write into their topology and crash on an adopted one
/// (2.9.0): call them on a duplicate (`hwloc_topology_dup`), or use the reader.
///
/// ```
/// let topology = topobroker::node::hwloc_topology()?;
/// let raw = topology.as_raw(); // for functions that take an `hwloc_topology_t`
/// # Ok::<(), topobroker::hwloc::HwlocLoadError>(())
/// ```
///
/// # Errors
///
/// [`HwlocLoadError`] if hwloc cannot load a topology either.
pub fn hwloc_topology() -> Result<&'static AdoptedHwloc, HwlocLoadError> {
    static GATE: Gate = Gate::new();
    if let Some(topology) = TOPOLOGY.get() {
        return Ok(topology);
    }
    // Saves work: hwloc can map a segment only once, so a second thread would load a topology.
    let _turn = GATE.enter();
    if let Some(topology) = TOPOLOGY.get() {
        return Ok(topology);
    }
    if let Some(adopted) = keys().and_then(|keys| adopt(&keys)) {
        return Ok(TOPOLOGY.set(adopted));
    }
    let loaded = hwloc::load(&Input::ThisMachine, &LoadOptions { flags: 0, filters: Vec::new() })?;
    Ok(TOPOLOGY.set(AdoptedHwloc::from_loaded(loaded)))
}

fn keys() -> Option<Keys> {
    let named = trusted_var(SHMEM_FILE).zip(trusted_var(SHMEM_ADDR)).zip(trusted_var(SHMEM_SIZE));
    let named = named.and_then(|((file, address), size)| Keys::parse(&file, &address, &size).ok());
    named.or_else(|| pmix_keys(PMIX_SHMEM_NAMES))
}

/// Adopts the hwloc segment that keys name. hwloc does not check its content, so root or this user
/// must own the file, and no other user may write it.
fn adopt(keys: &Keys) -> Option<AdoptedHwloc> {
    let file = File::from(open_trusted(keys.file()?).ok()?);
    if file.metadata().ok()?.len() < keys.size() {
        return None;
    }
    let (address, size) =
        (usize::try_from(keys.address()).ok()?, usize::try_from(keys.size()).ok()?);
    // SAFETY: `open_trusted` has checked that root or this user owns the file and that no other
    // user may write it, so this process trusts all who can change it.
    unsafe { adopt_shmem(&file, address, size) }.ok()
}
