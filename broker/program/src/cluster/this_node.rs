//! The node that a command runs on, and its report.

use crate::input::Input;
use anyhow::Context;
use clap::Args;
use topobroker_cluster::PreparedNode;
use topobroker_cluster::gather::NodeReport;
use topobroker_layout::encode::to_bytes;
use topobroker_reader::{Keys, cluster::Identity};

/// The node that reports about itself.
#[derive(Debug, Args)]
pub(super) struct ThisNode {
    #[command(flatten)]
    input: Input,
    /// Name of the node. By default TOPOBROKER_HOST or SLURMD_NODENAME, if they are set, otherwise
    /// the host name
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
}

impl ThisNode {
    pub(super) fn name(&self) -> String {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let own = || set("TOPOBROKER_HOST").or_else(|| set("SLURMD_NODENAME"));
        let host = || Identity::of_this_process().host;
        self.name.clone().or_else(own).unwrap_or_else(host)
    }

    /// The report of the input; without one, of the adopted topology if there are keys, otherwise
    /// of this machine.
    pub(super) fn report(&self) -> anyhow::Result<NodeReport> {
        let name = &self.name();
        let input = match self.input.input.as_deref() {
            None if Keys::find().is_ok() => {
                return Ok(NodeReport::of_adopted(topobroker_reader::adopt()?, name)?);
            }
            None | Some("machine") => return Ok(NodeReport::of_this_machine(name)?),
            Some(input) => input.to_owned(),
        };
        let (description, _) = self.input.capture()?;
        let archive = to_bytes(&description).with_context(|| input.clone())?;
        // Another machine is not called as this one.
        let name = self.name.as_deref();
        Ok(NodeReport::new(PreparedNode::of_archive(archive, name, &input)?))
    }
}
