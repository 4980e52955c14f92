//! For code that knows only hwloc.

use crate::call::{Failure, Given, call};
use crate::pointers::Text;
use crate::status::tb_status;
use crate::topology::tb_topology;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use topobroker::format::xml;
use topobroker::node::hwloc_topology;

/// Stores an hwloc_topology_t for this process: adopted from the hwloc segment that environment or PMIx
/// server name, else loaded, once. Every caller gets the same; it may be read by any thread, and must be
/// neither changed nor destroyed. hwloc's functions of memory attributes change it, and crash on one that was
/// adopted (2.9.0): ask tb_memory_value instead, or a hwloc_topology_dup.
#[unsafe(no_mangle)]
pub extern "C" fn tb_hwloc_topology(topology: Option<&mut MaybeUninit<*mut c_void>>) -> tb_status {
    call(|| {
        let topology = topology.given("topology")?;
        topology.write(hwloc_topology()?.as_raw());
        Ok(())
    })
}

/// Writes a topology, or what a view shows, as hwloc XML of version 2 into a file, which is replaced.
/// Counterpart: hwloc_topology_export_xml.
#[unsafe(no_mangle)]
pub extern "C" fn tb_export_xml(topology: Option<&tb_topology>, file: Text<'_>) -> tb_status {
    call(|| {
        let (topology, file) = (topology.given("topology")?.get(), file.get("file")?);
        std::fs::write(file, xml::export(topology)).map_err(|error| {
            Failure::new(tb_status::TB_ERR_PUBLISH, format!("{file}: cannot be written: {error}"))
        })
    })
}
