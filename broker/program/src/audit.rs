//! `topobroker audit`: reports the hwloc topologies that the processes of a command make, and their
//! cost.

use super::preload::{GUARD_VARIABLE, PRELOAD, preload};
use super::run::finish;
use super::signals::Signals;
use crate::audit_notes::{Audit as Report, FOLDER_VARIABLE};
use anyhow::Context;
use clap::Args;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Run a command and report which hwloc topologies its processes load, and their price
///
/// Reports each hwloc topology that they load, import, adopt or copy: which library called, how
/// long it took, how much heap it kept, what sharing would save, and whether the hwloc guard would
/// serve it
#[derive(Debug, Args)]
pub(super) struct Audit {
    /// Report as JSON
    #[arg(long)]
    json: bool,
    /// Let the hwloc guard serve loads too, if there are slots, for example under `topobroker run
    /// --guard`
    #[arg(long)]
    guard: bool,
    /// Write the report into this file instead of to standard error
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Audit {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut signals = Signals::catch().context("signals")?;
        let folder = tempfile::tempdir().context("a folder for the notes")?;
        let (program, arguments) = self.command.split_first().context("no command")?;
        let mut command = Command::new(program);
        command.args(arguments).env(FOLDER_VARIABLE, folder.path()).env(PRELOAD, preload()?);
        if !self.guard {
            command.env(GUARD_VARIABLE, "0");
        }
        let code = finish(command, &mut signals)?;
        let report = Report::read(folder.path()).context("the notes")?;
        let text = match self.json {
            true => report.to_json()?,
            false => report.to_text(),
        };
        match &self.output {
            Some(file) => {
                std::fs::write(file, text).with_context(|| file.display().to_string())?;
            }
            None => {
                std::io::stderr().write_all(text.as_bytes()).context("standard error")?;
            }
        }
        Ok(code)
    }
}
