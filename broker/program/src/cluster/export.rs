//! `topobroker cluster export`: the XML of one node or of all.

use super::opened::{Opened, named};
use crate::output;
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker_cluster::file_name::file_name;
use topobroker_cluster::write_file;
use topobroker_process::with_causes;
use topobroker_reader::cluster::ClusterNode;
use topobroker_reader::text::xml;

/// Write a node of a cluster as hwloc XML, version 2, as the node alone is exported
#[derive(Debug, Args)]
pub(super) struct Export {
    /// File of the cluster
    file: PathBuf,
    /// Name of the node
    #[arg(required_unless_present = "nodes")]
    node: Option<String>,
    /// Write all nodes into this folder, as NAME.xml. A letter that file names cannot have is
    /// written as %2F
    #[arg(long, value_name = "FOLDER", conflicts_with = "node")]
    nodes: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long, requires = "nodes")]
    force: bool,
}

impl Export {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let opened = Opened::read(&self.file)?;
        let cluster = opened.cluster(&self.file)?;
        let xml = |node: ClusterNode<'_>| -> anyhow::Result<String> {
            Ok(xml::export(node.open()?.archive().topology()))
        };
        if let Some(name) = &self.node {
            return output::write(None, xml(named(&cluster, name)?)?.as_bytes(), false);
        }
        let folder = self.nodes.unwrap_or_default();
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let mut status = ExitCode::SUCCESS;
        for node in cluster.nodes() {
            let file = folder.join(file_name(node.name(), "xml"));
            let written =
                xml(node).and_then(|xml| Ok(write_file(&file, xml.as_bytes(), 0o644, self.force)?));
            // Other nodes may be sound.
            if let Err(error) = written {
                output::complain(&format!("{}: {}", node.name(), with_causes(error.as_ref())));
                status = ExitCode::FAILURE;
            }
        }
        Ok(status)
    }
}
