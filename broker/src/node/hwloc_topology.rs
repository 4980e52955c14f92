//! An hwloc topology for code that knows only hwloc: one a process, from the node's shared segment.

use crate::hwloc::{self, AdoptedHwloc, HwlocLoadError, Input, LoadOptions, adopt_shmem};
use crate::publish::legacy::{SHMEM_ADDR, SHMEM_FILE, SHMEM_SIZE};
use topobroker_reader::internal::{Gate, Global, open_trusted, trusted_var};
use topobroker_reader::{Keys, pmix_keys};

/// PMIx keys of hwloc's segment: `PMIX_HWLOC_SHMEM_FILE`, `_ADDR`, `_SIZE`.
pub const PMIX_SHMEM_NAMES: [&str; 3] = ["pmix.hwlocfile", "pmix.hwlocaddr", "pmix.hwlocsize"];

static TOPOLOGY: Global<AdoptedHwloc> = Global::new();

/// The hwloc topology of this process, the same for every caller, for the rest of its life.
///
/// The first call adopts the hwloc segment that the environment names (`PMIX_HWLOC_SHMEM_FILE`, `_ADDR`,
/// `_SIZE`), or that the process's PMIx server names. Where there is none, or it cannot be adopted
/// (another library has, or its address is taken), hwloc loads a topology, once: the XML of
/// `HWLOC_XMLFILE` if that is set, else this machine.
///
/// hwloc's functions of memory attributes write into the topology that they are asked of, and crash on one
/// that was adopted (2.9.0): ask them of a `hwloc_topology_dup`, or ask the reader.
///
/// ```no_run
/// let topology = topobroker::node::hwloc_topology()?;
/// let raw = topology.as_raw(); // for functions that take an `hwloc_topology_t`
/// # Ok::<(), topobroker::hwloc::HwlocLoadError>(())
/// ```
///
/// # Errors
///
/// [`HwlocLoadError`] when hwloc cannot load a topology either.
pub fn hwloc_topology() -> Result<&'static AdoptedHwloc, HwlocLoadError> {
    static GATE: Gate = Gate::new();
    if let Some(topology) = TOPOLOGY.get() {
        return Ok(topology);
    }
    // Spares work: hwloc adopts an address once, and the second thread would load.
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

/// Adopts what keys name. hwloc believes every byte of it, so its owner must be root or this user, and
/// nobody else may write it.
fn adopt(keys: &Keys) -> Option<AdoptedHwloc> {
    let file = open_trusted(keys.file()?).ok()?;
    if file.metadata().ok()?.len() < keys.size() {
        return None;
    }
    let (address, size) =
        (usize::try_from(keys.address()).ok()?, usize::try_from(keys.size()).ok()?);
    adopt_shmem(&file, address, size).ok()
}
