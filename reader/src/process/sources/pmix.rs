//! What PMIx tells a process of its PUs.

use super::cpu_list::{CpuList, Numbering};
use super::error::SourceError;
use super::text::{Text, known};
use crate::topology::Topology;
use topobroker_layout::set::{Format, Set};

/// The PUs of `PMIX_CPU_LIST`: those that the job may use, by logical index and in order.
///
/// # Errors
///
/// [`SourceError`] as of [`CpuList::parse`].
pub fn pmix_cpu_list<'a>(topology: Topology<'a>, text: &str) -> Result<CpuList<'a>, SourceError> {
    CpuList::read(topology, Text::new("PMIX_CPU_LIST", text), Numbering::Logical)
}

/// The PUs of `PMIX_CPUSET`: those that this process is bound to, an hwloc list of OS indexes, which
/// `PMIx_server_generate_cpuset_string` puts `hwloc:` in front of.
///
/// ```no_run
/// use topobroker_reader::pmix_cpuset;
/// # let topology = topobroker_reader::adopt()?.topology();
/// assert_eq!(pmix_cpuset(topology, "hwloc:0-1")?, pmix_cpuset(topology, "0,1")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`SourceError`] when it is malformed, empty, or has a PU that the topology has not.
pub fn pmix_cpuset(topology: Topology<'_>, text: &str) -> Result<Set, SourceError> {
    let text = Text::new("PMIX_CPUSET", text);
    let list = text.strip("hwloc:").unwrap_or(text);
    let set = Set::parse(list.rest, Format::List).map_err(|error| {
        let rest = list.rest.get(error.position..).unwrap_or_default();
        list.at(rest).malformed("no index", "a list of OS indexes such as 0-1,4")
    })?;
    known(topology, text, set)
}
