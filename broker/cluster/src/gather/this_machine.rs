//! The report of the node that this process runs on.

use super::report::NodeReport;
use crate::error::ClusterError;
use crate::inputs::imported;
use crate::prepared_node::{PreparedNode, is_of_own_machine};
use topobroker::description::describe;
use topobroker::hwloc::Input;
use topobroker::linux::{LockLimit, Process, Root, locked_memory};
use topobroker_layout::description::Description;
use topobroker_layout::encode::to_bytes;
use topobroker_reader::Adopted;

/// Name of the fact of the root that says how much memory processes of the launcher may lock:
/// bytes, or `unlimited`. It differs between nodes if their daemons were started differently.
pub const MEMLOCK: &str = "MaxLockedMemory";

impl NodeReport {
    /// The report of the adopted topology of this node.
    ///
    /// # Errors
    ///
    /// [`ClusterError`].
    pub fn of_adopted(adopted: &Adopted, name: &str) -> Result<Self, ClusterError> {
        let header = adopted.header();
        let boot = Some(header.boot_id).filter(|_| is_of_own_machine(header.source));
        let node = prepared(describe(adopted.topology()), name, "the adopted topology")?;
        Ok(Self::new(node.with_boot(boot)))
    }

    /// The report of this machine, as hwloc finds it.
    ///
    /// # Errors
    ///
    /// [`ClusterError`].
    pub fn of_this_machine(name: &str) -> Result<Self, ClusterError> {
        let input = "this machine";
        let machine = imported(&Input::ThisMachine, input)?;
        Ok(Self::new(prepared(machine, name, input)?.in_this_boot()?))
    }
}

fn prepared(
    mut machine: Description,
    name: &str,
    input: &str,
) -> Result<PreparedNode, ClusterError> {
    // What a process cannot read of its limits, it does not report.
    let limit = locked_memory(&Root::of_this_node(), Process::Own).ok().flatten();
    if let (Some(limit), Some(root)) = (limit, machine.objects.first_mut()) {
        let text = match limit.soft {
            LockLimit::Unlimited => "unlimited".to_owned(),
            LockLimit::Bytes(bytes) => bytes.to_string(),
        };
        root.facts.push((MEMLOCK.to_owned(), text));
    }
    PreparedNode::of_archive(to_bytes(&machine)?, Some(name), input)
}
