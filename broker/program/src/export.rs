//! `topobroker export`: writes hwloc XML from an archive, without hwloc.

use super::output;
use super::subject::Subject;
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker::format::xml;

/// Write a topology as hwloc XML, version 2
#[derive(Debug, Args)]
pub(super) struct Export {
    #[command(flatten)]
    subject: Subject,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Export {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let xml = self.subject.answer(None, |topology| Ok(xml::export(topology)))?;
        match self.output {
            None => output::print(&xml),
            Some(file) => {
                std::fs::write(&file, xml)
                    .with_context(|| format!("{}: cannot be written", file.display()))?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}
