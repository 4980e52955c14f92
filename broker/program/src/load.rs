//! `topobroker load`: the keys of a topology, for a process that has none.

use super::output;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker::node::{keys_for, release};

/// Print the keys of this node's topology, and discover it first if it is not published
///
/// Many processes that ask at once discover it once, and later ones use it for ten seconds, and as
/// long as the process that it was discovered for runs. Then the next publication of this user, or
/// `unpublish --stale`, removes it
#[derive(Debug, Args)]
pub(super) struct Load {
    /// The process that the topology is for; by default the one that started this program
    #[arg(long, value_name = "PID")]
    r#for: Option<u32>,
    /// Print the keys as JSON instead of environment lines
    #[arg(long)]
    json: bool,
    /// Remove a segment that was discovered for this process, which ends now
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    release: Option<PathBuf>,
}

impl Load {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let owner = self.r#for.unwrap_or_else(std::os::unix::process::parent_id);
        if let Some(file) = self.release {
            release(&file, owner);
            return Ok(ExitCode::SUCCESS);
        }
        let keys = keys_for(owner)?;
        let text = if self.json { keys.to_json() + "\n" } else { keys.to_string() };
        output::print(&text)
    }
}
