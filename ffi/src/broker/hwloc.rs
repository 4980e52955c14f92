//! Topologies for code that knows only hwloc.

use crate::answer::answer;
use crate::call::call;
use crate::failure::Failure;
use crate::given::Given;
use crate::object::{object, tb_obj};
use crate::pointers::{Buffer, Out, Text};
use crate::status::tb_status;
use crate::topology::tb_topology;
use std::ffi::c_void;
use topobroker::node::hwloc_topology;
use topobroker_reader::text::{attributes, synthetic, xml};

/// Stores the hwloc_topology_t of this process. The first call adopts the hwloc segment that the
/// environment or the PMIx server names. If there is none, or it cannot be adopted, hwloc loads a
/// topology. Every later call stores the same pointer. Any thread may read the topology; none may
/// change or destroy it. hwloc's functions of memory attributes write into their topology, and
/// crash if it was adopted (2.9.0). Use tb_memory_value instead, or call them on a duplicate
/// (hwloc_topology_dup).
#[unsafe(no_mangle)]
pub extern "C" fn tb_hwloc_topology(topology: Out<'_, *mut c_void>) -> tb_status {
    answer!(topology, || hwloc_topology()?.as_raw())
}

/// Writes a topology, or the visible part in a view, as hwloc XML of version 2, with a zero at its
/// end. `length` (may be NULL) is set to the bytes of the text without the zero, also with
/// TB_ERR_TRUNCATED. Counterpart: hwloc_topology_export_xmlbuffer.
#[unsafe(no_mangle)]
pub extern "C" fn tb_topology_xml(
    topology: Option<&tb_topology>,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    answer!(buffer(size, length), |topology| xml::export(topology))
}

/// Writes a topology as a synthetic description, such as Package:2 Core:4 PU:2, with a zero at its
/// end. TB_ERR_NOT_FOUND if it has none, because it is not symmetric. `length` (may be NULL) is set
/// to the bytes of the text without the zero, also with TB_ERR_TRUNCATED. Counterpart:
/// hwloc_topology_export_synthetic.
#[unsafe(no_mangle)]
pub extern "C" fn tb_topology_synthetic(
    topology: Option<&tb_topology>,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    answer!(buffer(size, length), |topology| synthetic::export(topology)?)
}

/// Writes the attributes of an object with `separator` between them, and a zero at the end: memory
/// or size alone, or all with the infos if `verbose`. `length` (may be NULL) is set to the bytes of
/// the text without the zero, also with TB_ERR_TRUNCATED. Counterpart: hwloc_obj_attr_snprintf.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_attributes_text(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    separator: Text<'_>,
    verbose: bool,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    answer!(buffer(size, length), |topology, separator| {
        attributes(object(topology, obj)?, verbose).join(separator)
    })
}

/// Writes a topology, or the visible part in a view, as hwloc XML of version 2 into a file. An
/// existing file is replaced. Counterpart: hwloc_topology_export_xml.
#[unsafe(no_mangle)]
pub extern "C" fn tb_topology_export_xml(
    topology: Option<&tb_topology>,
    file: Text<'_>,
) -> tb_status {
    call(|| {
        let (topology, file) = (topology.given("topology")?.get(), file.get("file")?);
        std::fs::write(file, xml::export(topology)).map_err(|error| {
            Failure::new(
                tb_status::TB_ERR_PUBLISH,
                format_args!("{file}: cannot be written: {error}"),
            )
        })
    })
}
