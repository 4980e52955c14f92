//! `topobroker manual` and `completions`: what comes with the program, from what `--help` says.

use anyhow::Context;
use clap::{Args, Command};
use clap_complete::Shell;
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
    pub(super) fn run(&self, program: Command) -> anyhow::Result<ExitCode> {
        clap_mangen::generate_to(program, &self.folder)
            .with_context(|| self.folder.display().to_string())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Write the completions of the program for bash, zsh and fish
#[derive(Debug, Args)]
#[command(hide = true)]
pub(super) struct Completions {
    /// Folder that the files go into
    folder: PathBuf,
}

impl Completions {
    pub(super) fn run(&self, mut program: Command) -> anyhow::Result<ExitCode> {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            clap_complete::generate_to(shell, &mut program, "topobroker", &self.folder)
                .with_context(|| self.folder.display().to_string())?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
