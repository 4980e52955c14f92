//! `topobroker cluster report`: the report of this node.

use super::this_node::ThisNode;
use crate::output::STANDARD_OUTPUT;
use anyhow::Context;
use clap::Args;
use std::io::{IsTerminal, Write, stdin, stdout};
use std::process::ExitCode;
use topobroker_cluster::gather::Known;
use topobroker_layout::header::MAX_SEGMENT_LEN;
use topobroker_process::bytes_within;

/// Print the report of this node when a cluster is gathered. Standard input has the classes
/// that are known already; if this node is of one of them, only what differs is printed
#[derive(Debug, Args)]
pub(super) struct Report {
    #[command(flatten)]
    node: ThisNode,
    /// Only the class, 16 bytes, with name and boot
    #[arg(long)]
    hash: bool,
}

impl Report {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let report = self.node.report()?;
        let sent = if self.hash {
            report.hash_only()
        } else {
            let known = match stdin().is_terminal() {
                true => Vec::new(),
                false => bytes_within(MAX_SEGMENT_LEN, stdin()).context("standard input")?,
            };
            report.against(&Known::read("standard input", &known)?)
        };
        let mut out = stdout().lock();
        out.write_all(&sent).and_then(|()| out.flush()).context(STANDARD_OUTPUT)?;
        Ok(ExitCode::SUCCESS)
    }
}
