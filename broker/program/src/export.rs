//! `topobroker export`: writes hwloc XML from an archive, without hwloc.

use super::output;
use super::subject::Subject;
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker::hwloc::{HwlocTopology, Input, LoadOptions, export_synthetic, export_v1, load};
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
    /// Replace FILE if it exists
    #[arg(short, long)]
    force: bool,
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
        output::write(self.output.as_deref(), xml.as_bytes(), self.force)
    }

    fn text(&self, topology: Topology<'_>) -> anyhow::Result<String> {
        match self.of {
            Of::Xml => Ok(xml::export(topology)),
            Of::XmlV1 => xml_v1(topology).context("--of xml-v1"),
            Of::Synthetic => Ok(synthetic::export(topology).context("--of synthetic")? + "\n"),
        }
    }
}

/// The XML of version 1, which hwloc itself writes.
pub(super) fn xml_v1(topology: Topology<'_>) -> anyhow::Result<String> {
    Ok(String::from_utf8(export_v1(&loaded(topology)?)?)?)
}

/// A synthetic description with flags, which hwloc itself writes.
pub(super) fn synthetic_with(topology: Topology<'_>, flags: u64) -> anyhow::Result<String> {
    Ok(export_synthetic(&loaded(topology)?, flags)? + "\n")
}

/// The topology as hwloc has it.
fn loaded(topology: Topology<'_>) -> anyhow::Result<HwlocTopology<'static>> {
    Ok(load(&Input::XmlText(xml::export(topology)), &LoadOptions::default())?)
}
