//! The file of a cluster that a command writes.

use crate::output;
use anyhow::bail;
use clap::Args;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use topobroker_cluster::{ClusterBuilder, ClusterError, is_written_in_place};

/// The file that is written.
#[derive(Debug, Args)]
pub(super) struct OutputFile {
    /// The file to write; `-` is standard output
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
        let is_there = self.output.symlink_metadata().is_ok();
        let is_stream = output::is_standard(&self.output) || is_written_in_place(&self.output);
        if !self.force && is_there && !is_stream {
            return Err(ClusterError::Exists { file: self.output.clone() });
        }
        Ok(())
    }

    /// Refuses an output that is one of the files that are read.
    pub(super) fn check_inputs<'p>(
        &self,
        mut inputs: impl Iterator<Item = &'p Path>,
    ) -> anyhow::Result<()> {
        let id = |path: &Path| path.metadata().ok().map(|it| (it.dev(), it.ino()));
        let Some(output) = id(&self.output) else { return Ok(()) };
        match inputs.find(|input| id(input) == Some(output)) {
            None => Ok(()),
            Some(input) => bail!(
                "{}: is also an input, {}; name another output",
                self.output.display(),
                input.display()
            ),
        }
    }

    pub(super) fn write(&self, cluster: ClusterBuilder) -> anyhow::Result<()> {
        let mode = if self.public { 0o444 } else { 0o400 };
        output::write_with_mode(Some(&self.output), &cluster.finish()?, mode, self.force)?;
        Ok(())
    }
}
