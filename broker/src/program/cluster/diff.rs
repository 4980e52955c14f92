//! `topobroker cluster diff`: what differs between two clusters.

use super::opened::Opened;
use crate::format::xml;
use crate::program::output;
use clap::Args;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Print what differs between two clusters: - is a node that only the first has, + one that only
/// the second has, ~ one that differs. The exit status is 1 if anything differs
#[derive(Debug, Args)]
pub(super) struct Diff {
    /// File of a cluster
    one: PathBuf,
    /// File of another cluster
    other: PathBuf,
    /// Also print the lines of XML that differ
    #[arg(long)]
    lines: bool,
}

impl Diff {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (left, right) = (Opened::read(&self.one)?, Opened::read(&self.other)?);
        let (one, other) = (left.cluster(&self.one)?, right.cluster(&self.other)?);
        let mut text = String::new();
        for node in one.nodes() {
            let Some(counterpart) = other.node_by_name(node.name()) else {
                let _ = writeln!(text, "- {}", node.name());
                continue;
            };
            let before = xml::export(node.open()?.archive().topology());
            let after = xml::export(counterpart.open()?.archive().topology());
            if before == after {
                continue;
            }
            let (before, after): (Vec<&str>, Vec<&str>) =
                (before.lines().collect(), after.lines().collect());
            let pairs = || before.iter().zip(&after).filter(|(before, after)| before != after);
            let is_structure = before.len() != after.len();
            let what = match is_structure {
                true => format!("{} lines of XML instead of {}", after.len(), before.len()),
                false => format!("{} lines of XML differ", pairs().count()),
            };
            let _ = writeln!(text, "~ {}: {what}", node.name());
            if self.lines && !is_structure {
                for (before, after) in pairs() {
                    let _ = writeln!(text, "  - {}\n  + {}", before.trim(), after.trim());
                }
            }
        }
        for node in other.nodes().filter(|node| one.node_by_name(node.name()).is_none()) {
            let _ = writeln!(text, "+ {}", node.name());
        }
        let status = if text.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        output::print(&text)?;
        Ok(status)
    }
}
