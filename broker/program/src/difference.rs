//! `topobroker diff` and `patch`: differences between the files of two nodes, as hwloc-diff and
//! hwloc-patch write and apply them.

use super::cluster::node_xml;
use super::output::{self, say};
use super::text_file::read_text;
use anyhow::{Context, bail};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use topobroker::hwloc::{Difference, HwlocTopology, Input, LoadOptions, capture, load};
use topobroker_layout::encode;
use topobroker_reader::Archive;
use topobroker_reader::text::xml;

/// Print what differs between two nodes as XML that `patch` applies, as hwloc-diff does
///
/// Exits with 1 if the differences are more than values of objects: such XML cannot tell them
#[derive(Debug, Args)]
pub(super) struct Diff {
    /// File of a node: hwloc XML, or a segment
    one: PathBuf,
    /// File of another one
    other: PathBuf,
    /// Write to this file instead of standard output, which `-` is
    output: Option<PathBuf>,
    /// Name that the differences have for ONE; by default that of its file
    #[arg(long, value_name = "NAME")]
    refname: Option<String>,
    /// Replace OUTPUT if it exists
    #[arg(long)]
    force: bool,
}

/// Apply differences to a node, and print its XML, as hwloc-patch does
#[derive(Debug, Args)]
pub(super) struct Patch {
    /// File of a node: hwloc XML, or a segment; `refname` is the one that the differences name
    input: PathBuf,
    /// File with the differences; `-` is standard input
    difference: PathBuf,
    /// Write to this file instead of standard output, which `-` is
    output: Option<PathBuf>,
    /// Go back: INPUT is the second of the nodes that were compared
    #[arg(short = 'R', long)]
    reverse: bool,
    /// Replace OUTPUT if it exists
    #[arg(long)]
    force: bool,
}

/// Limit of the size of a file of differences in bytes.
const MOST_TEXT: u64 = 1 << 26;

impl Diff {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let (one, other) = (loaded(&self.one)?, loaded(&self.other)?);
        let difference = Difference::between(&one, &other).context("hwloc cannot compare them")?;
        let (all, complex) = difference.counts();
        if complex > 0 {
            bail!(
                "{all} differences, {complex} of them of the structure, which such XML cannot tell; \
                 `topobroker cluster diff --lines {} {}` prints them",
                self.one.display(),
                self.other.display()
            );
        }
        let file_name = || Some(self.one.file_name()?.to_string_lossy().into_owned());
        let name = self.refname.clone().or_else(file_name).unwrap_or_default();
        let text = difference.xml(&name).context("hwloc cannot write the differences")?;
        say(&format!("{all} differences"));
        // As hwloc-diff prints it.
        let text = if self.output.is_none() { text + "\n" } else { text };
        output::write(self.output.as_deref(), text.as_bytes(), self.force)
    }
}

impl Patch {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let difference = read_text(&self.difference, MOST_TEXT, |text| {
            Difference::read(text).context("is no XML of differences, as `diff` prints it")
        })?;
        let input = match (self.input.to_str(), difference.reference()) {
            (Some("refname"), Some(name)) => PathBuf::from(name),
            (Some("refname"), None) => bail!("the differences name no file: name INPUT"),
            _ => self.input.clone(),
        };
        let mut topology = loaded(&input)?;
        let applied = difference.apply(&mut topology, self.reverse);
        applied.with_context(|| input.display().to_string())?;
        let archive = encode::to_bytes(&capture(&topology)?)?;
        let text = xml::export(Archive::open(&archive)?.topology());
        output::write(self.output.as_deref(), text.as_bytes(), self.force)
    }
}

/// Loads the file of a node whole.
fn loaded(file: &Path) -> anyhow::Result<HwlocTopology<'static>> {
    /// `HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED` and `HWLOC_TOPOLOGY_FLAG_IMPORT_SUPPORT`.
    const FLAGS: u64 = 1 | 8;
    let text = node_xml(file)?;
    let options = LoadOptions { flags: FLAGS, ..LoadOptions::default() };
    load(&Input::XmlText(text), &options).with_context(|| file.display().to_string())
}
