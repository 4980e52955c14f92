//! Where something is bound, or ran last: `bind --get` and `bind --get-last-cpu-location`.

use crate::json;
use anyhow::bail;
use topobroker::binding::{MemoryPolicy, Target, binding, last_location, memory_binding};
use topobroker_layout::set::{Format, Set};
use topobroker_reader::Topology;

/// What is asked of a process or thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Cpus,
    Memory,
    LastLocation,
}

/// Where a process or thread is bound.
pub(super) struct Bound {
    cpuset: Set,
    nodeset: Set,
    policy: Option<&'static str>,
}

impl Bound {
    pub(super) fn of(topology: Topology<'_>, target: Target, asked: Asked) -> anyhow::Result<Self> {
        let of_cpus = |cpuset: Set| {
            let nodeset = topology.nodeset_of(&cpuset);
            Self { cpuset, nodeset, policy: None }
        };
        Ok(match asked {
            Asked::Cpus => of_cpus(binding(target)?),
            Asked::LastLocation => of_cpus(last_location(target)?),
            Asked::Memory if !matches!(target, Target::ThisProcess | Target::ThisThread) => {
                bail!("{target}: only the process itself can ask Linux where its memory is bound")
            }
            Asked::Memory => {
                let (policy, nodes) = memory_binding()?;
                // Without nodes, memory comes from any.
                let all = || topology.root().nodeset().unwrap_or_default();
                let nodeset = if nodes.is_empty() { all() } else { nodes };
                let cpuset = topology.cpuset_of_nodes(&nodeset);
                Self { cpuset, nodeset, policy: Some(policy_name(policy)) }
            }
        })
    }

    /// As hwloc-bind prints it.
    pub(super) fn text(&self, as_nodes: bool, format: Format) -> String {
        let set = if as_nodes { &self.nodeset } else { &self.cpuset };
        let policy = self.policy.map(|policy| format!(" ({policy})")).unwrap_or_default();
        format!("{}{policy}\n", set.to_text(format))
    }

    pub(super) fn document(&self) -> json::Bound {
        json::Bound {
            cpuset: (&self.cpuset).into(),
            nodeset: (&self.nodeset).into(),
            policy: self.policy,
        }
    }
}

/// hwloc's name of a policy. It has one for what Linux does by itself and for the node that first
/// uses memory, which are the same.
fn policy_name(policy: Option<MemoryPolicy>) -> &'static str {
    match policy {
        Some(MemoryPolicy::Default | MemoryPolicy::FirstTouch) => "firsttouch",
        Some(MemoryPolicy::Bind) => "bind",
        Some(MemoryPolicy::Interleave) => "interleave",
        Some(MemoryPolicy::WeightedInterleave) => "weighted",
        _ => "unknown",
    }
}
