//! Topologies for code that knows only hwloc.

use crate::call::{Given, call};
use crate::failure::Failure;
use crate::pointers::Text;
use crate::status::tb_status;
use crate::topology::tb_topology;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use topobroker::format::xml;
use topobroker::node::hwloc_topology;

/// Stores the hwloc_topology_t of this process. The first call adopts the hwloc segment that the
/// environment or the PMIx server names. If there is none, or it cannot be adopted, hwloc loads a
/// topology. Every later call stores the same pointer. Any thread may read the topology; nobody may
/// change or destroy it. hwloc's functions of memory attributes write into their topology, and
/// crash if it was adopted (2.9.0). Use tb_memory_value instead, or call them on a duplicate
/// (hwloc_topology_dup).
#[unsafe(no_mangle)]
pub extern "C" fn tb_hwloc_topology(topology: Option<&mut MaybeUninit<*mut c_void>>) -> tb_status {
    call(|| {
        let topology = topology.given("topology")?;
        topology.write(hwloc_topology()?.as_raw());
        Ok(())
    })
}

/// Writes a topology, or the visible part in a view, as hwloc XML of version 2 into a file. An
/// existing file is replaced. Counterpart: hwloc_topology_export_xml.
#[unsafe(no_mangle)]
pub extern "C" fn tb_export_xml(topology: Option<&tb_topology>, file: Text<'_>) -> tb_status {
    call(|| {
        let (topology, file) = (topology.given("topology")?.get(), file.get("file")?);
        std::fs::write(file, xml::export(topology)).map_err(|error| {
            Failure::new(tb_status::TB_ERR_PUBLISH, format!("{file}: cannot be written: {error}"))
        })
    })
}
