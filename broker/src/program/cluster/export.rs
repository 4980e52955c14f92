//! `topobroker cluster export`: the XML of one node or of all.

use super::opened::{Opened, named};
use crate::format::xml;
use crate::program::output;
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker_reader::ClusterNode;

/// Write a node of a cluster as hwloc XML, version 2, as the node alone is exported
#[derive(Debug, Args)]
pub(super) struct Export {
    /// File of the cluster
    file: PathBuf,
    /// Name of the node
    #[arg(required_unless_present = "nodes")]
    node: Option<String>,
    /// Write all nodes into this folder, as NAME.xml
    #[arg(long, value_name = "FOLDER", conflicts_with = "node")]
    nodes: Option<PathBuf>,
}

impl Export {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let opened = Opened::read(&self.file)?;
        let cluster = opened.cluster(&self.file)?;
        let xml = |node: ClusterNode<'_>| -> anyhow::Result<String> {
            Ok(xml::export(node.open()?.archive().topology()))
        };
        if let Some(name) = &self.node {
            return output::print(&xml(named(&cluster, name)?)?);
        }
        let folder = self.nodes.unwrap_or_default();
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        for node in cluster.nodes() {
            // A name may have characters that lead out of the folder.
            let name = node.name().replace('/', "_");
            let file = folder.join(format!("{name}.xml"));
            std::fs::write(&file, xml(node)?)
                .with_context(|| format!("{}: cannot be written", file.display()))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
