//! `topobroker manual` and `completions`: write the manual pages and the shell completions of the
//! program, from the texts of `--help`.

use anyhow::Context;
use clap::{Args, Command};
use clap_complete::Shell;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write a manual page for the program and each of its commands
#[derive(Debug, Args)]
#[command(hide = true)]
pub(super) struct Manual {
    /// Folder for the pages
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
    /// Folder for the files
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
