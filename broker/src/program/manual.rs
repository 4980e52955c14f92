//! `topobroker manual`: the manual pages, from what `--help` says.

use anyhow::Context;
use clap::{Args, CommandFactory};
use std::path::PathBuf;
use std::process::ExitCode;

/// Write a manual page for the program and each of its commands
#[derive(Debug, Args)]
#[command(hide = true)]
pub(super) struct Manual {
    /// Folder that the pages go into
    folder: PathBuf,
}

impl Manual {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let command = super::Program::command();
        clap_mangen::generate_to(command, &self.folder)
            .with_context(|| self.folder.display().to_string())?;
        Ok(ExitCode::SUCCESS)
    }
}
