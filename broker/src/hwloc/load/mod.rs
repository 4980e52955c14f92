//! Loading a topology: this machine, an XML file, a synthetic description, a saved file system.

mod error;
mod fsroot;
mod synthetic;
mod xml;
mod xml_tree;

pub use error::HwlocLoadError;

use crate::child::locking;
use crate::hwloc::topology::HwlocTopology;
use crate::linux::Root;
use hwlocality_sys as sys;
use std::ffi::{CString, c_int};
use std::io;
use std::path::{Path, PathBuf};
use std::ptr;
use topobroker_layout::header::Source;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::type_filter::TypeFilter;
use topobroker_slots::LoadKey;

/// Where a topology is loaded from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// This machine.
    ThisMachine,
    /// An hwloc XML file of version 1 or 2; `-` is standard input.
    Xml(PathBuf),
    /// hwloc XML of version 1 or 2.
    XmlText(String),
    /// A synthetic description, such as `Package:2 Core:4 PU:2`.
    Synthetic(String),
    /// The root of a saved Linux file system with `/sys` and `/proc`. hwloc takes it from the
    /// environment, so `HWLOC_FSROOT` must be set to it before this process starts.
    Fsroot(PathBuf),
}

impl Input {
    /// Whether it is XML, which hwloc may crash with.
    pub(super) fn is_xml(&self) -> bool {
        matches!(self, Self::Xml(_) | Self::XmlText(_))
    }

    /// How a topology that is loaded from here was made.
    #[must_use]
    pub fn source(&self) -> Source {
        match self {
            Self::ThisMachine => Source::ThisMachine,
            Self::Xml(_) | Self::XmlText(_) => Source::Xml,
            Self::Synthetic(_) => Source::Synthetic,
            Self::Fsroot(_) => Source::Fsroot,
        }
    }
}

/// How a topology is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadOptions {
    /// Sum of `HWLOC_TOPOLOGY_FLAG_*`.
    pub flags: u64,
    /// Filters that differ from "keep everything", in the order in which they are set.
    pub filters: Vec<(ObjectType, TypeFilter)>,
}

impl Default for LoadOptions {
    /// Sets no filters. An imported topology has the support bits of the machine that it describes.
    fn default() -> Self {
        Self { flags: sys::HWLOC_TOPOLOGY_FLAG_IMPORT_SUPPORT, filters: Vec::new() }
    }
}

impl Input {
    /// A short name of the input, for messages.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::ThisMachine => "this machine".to_owned(),
            Self::XmlText(_) => "the XML text".to_owned(),
            Self::Xml(path) | Self::Fsroot(path) => path.display().to_string(),
            Self::Synthetic(text) => text.clone(),
        }
    }
}

/// Loads a topology. Counterpart: `hwloc_topology_load` and the calls that prepare it.
///
/// hwloc may crash with XML that was damaged or made for that: [`import`](super::import) reads
/// files of others.
///
/// # Errors
///
/// [`HwlocLoadError`] naming the input and the reason.
#[doc(alias = "hwloc_topology_load")]
pub fn load(
    input: &Input,
    options: &LoadOptions,
) -> Result<HwlocTopology<'static>, HwlocLoadError> {
    let mut prepared = prepare(input, options)?;
    prepared.load()?;
    Ok(prepared.topology)
}

/// A topology that hwloc has not loaded yet, and what it is loaded from.
pub(super) struct Prepared<'i> {
    input: &'i Input,
    xml: Option<xml::Checked>,
    pub(super) topology: HwlocTopology<'static>,
}

/// Reads and checks an input, and makes everything ready for hwloc.
///
/// # Errors
///
/// [`HwlocLoadError`].
pub(super) fn prepare<'i>(
    input: &'i Input,
    options: &LoadOptions,
) -> Result<Prepared<'i>, HwlocLoadError> {
    let xml = match input {
        Input::Xml(path) => Some(xml::read(path)?),
        Input::Fsroot(path) => {
            check_fsroot(path)?;
            None
        }
        Input::XmlText(text) => Some(xml::checked(text.clone().into_bytes(), "the XML text")?),
        Input::ThisMachine | Input::Synthetic(_) => None,
    };
    let topology = new_topology().map_err(|()| failed(input, "make a topology"))?;
    configure(&topology, options).map_err(|()| failed(input, "take the type filters"))?;
    Ok(Prepared { input, xml, topology })
}

/// hwloc has failed at this step.
fn failed(input: &Input, step: &'static str) -> HwlocLoadError {
    HwlocLoadError::Hwloc { input: input.name(), step, source: io::Error::last_os_error() }
}

impl Prepared<'_> {
    /// Has hwloc load it.
    ///
    /// # Errors
    ///
    /// [`HwlocLoadError`].
    pub(super) fn load(&mut self) -> Result<(), HwlocLoadError> {
        let Self { input, xml, topology } = self;
        let input = *input;
        let newer = || xml.as_ref().and_then(|xml| xml.refused(&input.name()));
        match (input, &xml) {
            (Input::Synthetic(text), _) => set_synthetic(topology, text)?,
            (_, Some(xml)) => {
                let set = set_xml(topology, &xml.content);
                set.map_err(|()| newer().unwrap_or_else(|| failed(input, "take the XML")))?;
            }
            _ => {}
        }
        // SAFETY: `topology` is initialised and not loaded yet.
        match unsafe { sys::hwloc_topology_load(topology.raw) } {
            0 => {
                let is_discovered = is_discovered(input);
                let saved = if is_discovered { None } else { saved(input) };
                topology.note_source(is_discovered, saved);
                Ok(())
            }
            _ if let Some(newer) = newer() => Err(newer),
            // hwloc sometimes reports only EINVAL or no error number, for example for XML without
            // NUMA nodes.
            _ if matches!(io::Error::last_os_error().raw_os_error(), Some(0 | EINVAL)) => {
                Err(HwlocLoadError::Unexplained { input: input.name() })
            }
            _ => Err(failed(input, "load the topology")),
        }
    }
}

/// Keeps hwloc's plugins loaded. hwloc loads them for the first topology of a process and unloads
/// them with the last one: who loads many topologies, one after the other, loads the plugins only
/// once while this lives.
#[must_use]
pub struct Plugins {
    _topology: Option<HwlocTopology<'static>>,
}

impl Plugins {
    /// Loads the plugins, if there are any.
    pub fn hold() -> Self {
        Self { _topology: new_topology().ok() }
    }
}

/// Environment variables by which hwloc reads something other than this machine.
const SOURCES: [&str; 5] = [
    "HWLOC_XMLFILE",
    "HWLOC_SYNTHETIC",
    "HWLOC_FSROOT",
    "HWLOC_CPUID_PATH",
    "HWLOC_DUMPED_HWDATA_DIR",
];

/// Whether the environment makes hwloc read something other than this machine.
#[must_use]
pub fn reads_other_source() -> bool {
    SOURCES.into_iter().any(|name| std::env::var_os(name).is_some())
}

/// Whether the environment makes hwloc load this machine by other means than usually.
#[must_use]
pub(crate) fn loads_by_other_means() -> bool {
    reads_other_source() || std::env::var_os("HWLOC_COMPONENTS").is_some()
}

/// Whether hwloc discovers this machine, and does not read a description from its environment.
fn is_discovered(input: &Input) -> bool {
    cfg!(target_os = "linux") && *input == Input::ThisMachine && !loads_by_other_means()
}

/// The saved file system that hwloc reads.
fn saved(input: &Input) -> Option<Root> {
    let others = || ["HWLOC_XMLFILE", "HWLOC_SYNTHETIC"].map(std::env::var_os);
    match input {
        Input::Fsroot(root) => Some(Root::saved(root)),
        Input::ThisMachine if others().iter().all(Option::is_none) => {
            std::env::var_os("HWLOC_FSROOT").filter(|root| !root.is_empty()).map(Root::saved)
        }
        _ => None,
    }
}

/// Loads this machine as a program does that has said to hwloc what is in `key`.
///
/// # Errors
///
/// [`HwlocLoadError`] naming the step that fails.
pub(crate) fn load_as(key: &LoadKey) -> Result<HwlocTopology<'static>, HwlocLoadError> {
    let failed = |step| failed(&Input::ThisMachine, step);
    let topology = new_topology().map_err(|()| failed("make a topology"))?;
    // SAFETY: `topology` is initialised and not loaded yet.
    ok(unsafe { sys::hwloc_topology_set_flags(topology.raw, key.flags) })
        .map_err(|()| HwlocLoadError::Flags { found: key.flags })?;
    for (object_type, filter) in (0..).zip(key.filters) {
        // SAFETY: `topology` is initialised and not loaded yet; hwloc refuses unknown filters.
        ok(unsafe {
            sys::hwloc_topology_set_type_filter(topology.raw, object_type, filter.into())
        })
        .map_err(|()| failed("take the type filters"))?;
    }
    if key.without_gl {
        const EXCLUDE: std::ffi::c_ulong = sys::HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST;
        // SAFETY: `topology` is initialised and not loaded yet; the name ends with a zero.
        ok(unsafe { sys::hwloc_topology_set_components(topology.raw, EXCLUDE, c"gl".as_ptr()) })
            .map_err(|()| failed("leave out the component gl"))?;
    }
    // SAFETY: `topology` is initialised and not loaded yet.
    ok(unsafe { sys::hwloc_topology_load(topology.raw) }).map_err(|()| failed("load"))?;
    Ok(topology)
}

/// Whether this hwloc knows the flags of a key. No program of an older one can ask for it.
///
/// # Errors
///
/// If hwloc cannot make a topology.
pub(crate) fn takes_flags_of(key: &LoadKey) -> Result<bool, HwlocLoadError> {
    let topology = new_topology().map_err(|()| failed(&Input::ThisMachine, "make a topology"))?;
    // SAFETY: `topology` is initialised and not loaded yet.
    Ok(unsafe { sys::hwloc_topology_set_flags(topology.raw, key.flags) } == 0)
}

const EINVAL: i32 = rustix::io::Errno::INVAL.raw_os_error();

fn new_topology() -> Result<HwlocTopology<'static>, ()> {
    let mut raw = ptr::null_mut();
    // SAFETY: `raw` is an output, and there are no other arguments.
    match locking(|| unsafe { sys::hwloc_topology_init(&raw mut raw) }) {
        0 => Ok(HwlocTopology::owned(raw)),
        _ => Err(()),
    }
}

fn ok(error: c_int) -> Result<(), ()> {
    if error == 0 { Ok(()) } else { Err(()) }
}

fn configure(topology: &HwlocTopology<'_>, options: &LoadOptions) -> Result<(), ()> {
    let all = TypeFilter::All.raw().into();
    // SAFETY: `topology` is initialised and not loaded yet.
    ok(unsafe { sys::hwloc_topology_set_flags(topology.raw, options.flags) })?;
    // SAFETY: `topology` is initialised and not loaded yet.
    ok(unsafe { sys::hwloc_topology_set_all_types_filter(topology.raw, all) })?;
    for (object_type, filter) in &options.filters {
        let object_type = object_type.raw().into();
        // SAFETY: `topology` is initialised and not loaded yet; hwloc refuses unknown types.
        ok(unsafe {
            sys::hwloc_topology_set_type_filter(topology.raw, object_type, filter.raw().into())
        })?;
    }
    Ok(())
}

fn set_synthetic(topology: &HwlocTopology<'_>, text: &str) -> Result<(), HwlocLoadError> {
    let synthetic = |(word, position, reason)| HwlocLoadError::Synthetic {
        input: text.to_owned(),
        word,
        position,
        reason,
    };
    if let Some(word) = synthetic::exceeds(text) {
        return Err(synthetic(word));
    }
    let refused = || synthetic(synthetic::blame(text));
    let Ok(raw) = CString::new(text) else {
        return Err(refused());
    };
    // SAFETY: `topology` is initialised and not loaded yet; the string is zero-terminated.
    ok(unsafe { sys::hwloc_topology_set_synthetic(topology.raw, raw.as_ptr()) })
        .map_err(|()| refused())
}

fn set_xml(topology: &HwlocTopology<'_>, content: &[u8]) -> Result<(), ()> {
    let length = c_int::try_from(content.len()).map_err(|_| ())?;
    // SAFETY: `topology` is initialised and not loaded yet. `content` has `length` bytes, the last
    // of which is the zero that hwloc requires; hwloc reads them before this returns.
    ok(unsafe { sys::hwloc_topology_set_xmlbuffer(topology.raw, content.as_ptr().cast(), length) })
}

fn check_fsroot(path: &Path) -> Result<(), HwlocLoadError> {
    fsroot::check(path)?;
    let input = path.display().to_string();
    let found = std::env::var_os("HWLOC_FSROOT").unwrap_or_default();
    if found == path {
        Ok(())
    } else {
        Err(HwlocLoadError::Fsroot { input, found: found.to_string_lossy().into_owned() })
    }
}
