//! `topobroker audit`: reports the hwloc topologies that the processes of a command make, and their
//! cost.

use super::run::finish;
use super::signals::Signals;
use crate::audit::{Audit as Report, FOLDER_VARIABLE};
use anyhow::{Context, bail};
use clap::Args;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Run a command and report each hwloc topology that its processes load, import, adopt or copy:
/// which library called, how long it took, how much heap it kept, and what sharing would save
#[derive(Debug, Args)]
pub(super) struct Audit {
    /// Report as JSON
    #[arg(long)]
    json: bool,
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
        let code = finish(command, &mut signals)?;
        let report = Report::read(folder.path()).context("the notes")?;
        let text = match self.json {
            true => serde_json::to_string_pretty(&report.to_json())? + "\n",
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

const PRELOAD: &str = "LD_PRELOAD";

/// Value for `LD_PRELOAD`: the audit library, then the libraries that are preloaded already.
fn preload() -> anyhow::Result<OsString> {
    let mut libraries = library()?.into_os_string();
    if let Some(others) = std::env::var_os(PRELOAD).filter(|others| !others.is_empty()) {
        libraries.push(":");
        libraries.push(others);
    }
    Ok(libraries)
}

/// Environment variable that names the file of the audit library.
const LIBRARY: &str = "TOPOBROKER_AUDIT_LIBRARY";

/// Finds the audit library: the file that the environment names, else the library that is installed
/// with this program, else the library that was built beside it.
fn library() -> anyhow::Result<PathBuf> {
    if let Some(told) = std::env::var_os(LIBRARY).filter(|told| !told.is_empty()) {
        let told = PathBuf::from(told);
        return told.canonicalize().with_context(|| format!("{LIBRARY}={}", told.display()));
    }
    let program = std::env::current_exe().context("the path of this program")?;
    let folder = program.parent().context("the folder of this program")?;
    let places = [
        folder.join("../lib/topobroker/libtopobroker-audit.so"),
        folder.join("libtopobroker_audit.so"),
    ];
    match places.iter().find(|place| place.is_file()) {
        Some(place) => Ok(place.canonicalize()?),
        None => bail!(
            "{}: there is no audit library, which `cargo install` does not bring; scripts/install installs it, or \
             build it in a checkout with `cargo build --release -p topobroker-audit` and name it in {LIBRARY}",
            places.map(|place| place.display().to_string()).join(", ")
        ),
    }
}
