//! Captures a loaded hwloc topology, or an input, as a description that can be published.

use crate::answer::means_itself;
use crate::call::{adopting, call};
use crate::failure::Failure;
use crate::given::Given;
use crate::pointers::{Out, Text, borrow_topology};
use crate::status::tb_status;
use crate::topology::tb_topology;
use std::ffi::c_void;
use std::path::PathBuf;
use topobroker::hwloc::{Input, LoadOptions, capture, import};
use topobroker_layout::description::Description;
use topobroker_reader::Source;

/// A description: everything that hwloc knows of a machine, captured but not yet published. Free it
/// with tb_description_free.
pub struct tb_description {
    pub(super) description: Description,
    pub(super) source: Source,
}

means_itself!(tb_description);

/// Captures a topology that this program has loaded with the hwloc that this library is linked to.
/// `hwloc_topology` is an hwloc_topology_t. It is not changed, and may be destroyed afterwards.
#[unsafe(no_mangle)]
pub extern "C" fn tb_description_from_hwloc(
    hwloc_topology: *mut c_void,
    description: Out<'_, Box<tb_description>>,
) -> tb_status {
    call(|| {
        let out = description.given("description")?;
        let topology = borrow_topology(hwloc_topology).given("hwloc_topology")?;
        let description = capture(&topology)?;
        out.write(Box::new(tb_description { description, source: Source::Loaded }));
        Ok(())
    })
}

/// Loads the topology of this machine with objects of all types, and captures it.
#[unsafe(no_mangle)]
pub extern "C" fn tb_description_from_machine(
    description: Out<'_, Box<tb_description>>,
) -> tb_status {
    call(|| captured(&Input::ThisMachine, Source::ThisMachine, description))
}

/// Loads an hwloc XML file of version 1 or 2, and captures it. hwloc reads it in a child process
/// with few rights (fork), so that a damaged file ends no program.
#[unsafe(no_mangle)]
pub extern "C" fn tb_description_from_xml(
    file: Text<'_>,
    description: Out<'_, Box<tb_description>>,
) -> tb_status {
    call(|| captured(&Input::Xml(PathBuf::from(file.get("file")?)), Source::Xml, description))
}

/// Captures hwloc XML of version 1 or 2 from a text in memory.
#[unsafe(no_mangle)]
pub extern "C" fn tb_description_from_xml_text(
    text: Text<'_>,
    description: Out<'_, Box<tb_description>>,
) -> tb_status {
    call(|| captured(&Input::XmlText(text.get("text")?.to_owned()), Source::Xml, description))
}

/// Captures a machine from a synthetic description, such as "Package:2 Core:4 PU:2".
#[unsafe(no_mangle)]
pub extern "C" fn tb_description_from_synthetic(
    text: Text<'_>,
    description: Out<'_, Box<tb_description>>,
) -> tb_status {
    call(|| {
        let input = Input::Synthetic(text.get("text")?.to_owned());
        captured(&input, Source::Synthetic, description)
    })
}

/// Frees a description. If `description` is NULL, nothing happens.
#[unsafe(no_mangle)]
pub extern "C" fn tb_description_free(description: Option<Box<tb_description>>) {
    drop(description);
}

fn captured(
    input: &Input,
    source: Source,
    description: Out<'_, Box<tb_description>>,
) -> Result<(), Failure> {
    let out = description.given("description")?;
    let description = import(input, &LoadOptions::default())?;
    out.write(Box::new(tb_description { description, source }));
    Ok(())
}

/// Stores the topology of this process, from the first source that has one: the adopted topology;
/// the segment that the environment, the PMIx server or the node's daemon names; XML from the PMIx
/// server; discovery. If several processes come to discovery at once, one of them discovers for
/// all. Counterpart: PMIx_Load_topology.
#[unsafe(no_mangle)]
pub extern "C" fn tb_load(topology: Out<'_, &'static tb_topology>) -> tb_status {
    adopting(|| {
        let topology = topology.given("topology")?;
        topology.write(tb_topology::whole(topobroker::node::load()?));
        Ok(())
    })
}
