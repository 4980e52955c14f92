//! `topobroker export`: hwloc XML from an archive alone.

use super::input::Input;
use crate::xml;
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker_layout::build;
use topobroker_reader::Topology;

/// Write a topology as hwloc XML, version 2
#[derive(Debug, Args)]
pub(super) struct Export {
    #[command(flatten)]
    input: Input,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Export {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let xml = match self.input.input {
            None => xml::export(topobroker_reader::adopt()?.topology()),
            Some(_) => {
                let archive = build::to_bytes(&self.input.capture()?.0)?;
                xml::export(Topology::from_archive(&archive)?)
            }
        };
        match self.output {
            None => super::print(&xml),
            Some(file) => {
                std::fs::write(&file, xml)
                    .with_context(|| format!("{}: cannot be written", file.display()))?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}
