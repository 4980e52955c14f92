//! Reads the texts with which PMIx gives a process its PUs.

use super::cpu_list::{CpuList, Numbering};
use super::error::SourceError;
use super::text::{Text, known};
use crate::topology::Topology;
use topobroker_layout::set::{Format, Set};

/// The PUs of `PMIX_CPU_LIST`, which the job may use: logical indexes, in the order of the list.
///
/// # Errors
///
/// The errors of [`CpuList::parse`].
pub fn pmix_cpu_list<'a>(topology: Topology<'a>, text: &str) -> Result<CpuList<'a>, SourceError> {
    CpuList::read(topology, Text::new("PMIX_CPU_LIST", text), Numbering::Logical)
}

/// The PUs of `PMIX_CPUSET`, to which this process is bound: an hwloc list of OS indexes.
/// `PMIx_server_generate_cpuset_string` writes `hwloc:` in front of it, which is optional here.
///
/// ```
/// use topobroker_reader::jobs::pmix_cpuset;
/// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
/// assert_eq!(pmix_cpuset(topology, "hwloc:0-1")?, pmix_cpuset(topology, "0,1")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`SourceError`] if it is malformed or empty, or has a PU that the topology lacks.
pub fn pmix_cpuset(topology: Topology<'_>, text: &str) -> Result<Set, SourceError> {
    let text = Text::new("PMIX_CPUSET", text);
    let list = text.strip("hwloc:").unwrap_or(text);
    let set = Set::parse(list.rest, Format::List).map_err(|error| {
        let rest = list.rest.get(error.position..).unwrap_or_default();
        list.at(rest).malformed("no index", "a list of OS indexes such as 0-1,4")
    })?;
    known(topology, text, set)
}
