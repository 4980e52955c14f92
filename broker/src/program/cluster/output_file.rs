//! The file of a cluster that a command writes.

use crate::cluster::{ClusterBuilder, ClusterError, write_file};
use clap::Args;
use std::path::PathBuf;

/// The file that is written.
#[derive(Debug, Args)]
pub(super) struct OutputFile {
    /// The file to write
    pub(super) output: PathBuf,
    /// Replace the output if it exists
    #[arg(long)]
    force: bool,
    /// Let every user read the file. By default only its owner may, because it has serial numbers
    /// and addresses of all nodes
    #[arg(long)]
    public: bool,
}

impl OutputFile {
    /// Refuses a file that exists and is not to be replaced, before anything is read.
    pub(super) fn check(&self) -> Result<(), ClusterError> {
        if !self.force && self.output.symlink_metadata().is_ok() {
            return Err(ClusterError::Exists { file: self.output.clone() });
        }
        Ok(())
    }

    pub(super) fn write(&self, cluster: ClusterBuilder) -> Result<(), ClusterError> {
        let mode = if self.public { 0o444 } else { 0o400 };
        write_file(&self.output, &cluster.finish()?, mode, self.force)
    }
}
