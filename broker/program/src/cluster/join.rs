//! `topobroker cluster join`: adds this node to a shared folder.

use super::this_node::ThisNode;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker_cluster::gather::join;

/// Add this node to a folder that all nodes share, for `cluster gather --folder`
#[derive(Debug, Args)]
pub(super) struct Join {
    /// The folder
    folder: PathBuf,
    #[command(flatten)]
    node: ThisNode,
}

impl Join {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        join(&self.folder, &self.node.report()?)?;
        Ok(ExitCode::SUCCESS)
    }
}
