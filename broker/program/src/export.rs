//! `topobroker export`: writes hwloc XML from an archive, without hwloc.

use super::output;
use super::subject::Subject;
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker::hwloc::{Input, LoadOptions, export_v1, load};
use topobroker_reader::Topology;
use topobroker_reader::text::{synthetic, xml};

/// Write a topology as XML that any hwloc 2 loads, or as a synthetic description
#[derive(Debug, Args)]
pub(super) struct Export {
    #[command(flatten)]
    subject: Subject,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Format of the output
    #[arg(long, alias = "output-format", value_enum, value_name = "FORMAT", default_value_t)]
    of: Of,
}

/// Formats of the output, as lstopo names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Of {
    /// hwloc XML of version 2
    #[default]
    Xml,
    /// hwloc XML of version 1, for programs with hwloc 1
    XmlV1,
    /// A synthetic description
    Synthetic,
}

impl Export {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let xml = self.subject.answer(None, |topology| self.text(topology))?;
        match &self.output {
            None => output::print(&xml),
            Some(file) => {
                std::fs::write(file, xml)
                    .with_context(|| format!("{}: cannot be written", file.display()))?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }

    fn text(&self, topology: Topology<'_>) -> anyhow::Result<String> {
        match self.of {
            Of::Xml => Ok(xml::export(topology)),
            Of::XmlV1 => {
                let input = Input::XmlText(xml::export(topology));
                let loaded = load(&input, &LoadOptions::default()).context("--of xml-v1")?;
                Ok(String::from_utf8(export_v1(&loaded).context("--of xml-v1")?)?)
            }
            Of::Synthetic => Ok(synthetic::export(topology).context("--of synthetic")? + "\n"),
        }
    }
}
