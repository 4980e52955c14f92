//! `topobroker diff` and `patch`: differences between the files of two nodes, as hwloc-diff and
//! hwloc-patch write and apply them.

use super::cluster::node_xml;
use super::output::{self, say};
use super::text_file::read_text;
use anyhow::{Context, bail};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use topobroker::hwloc::{Compared, Input, compare, patch, reference};
use topobroker_layout::encode;
use topobroker_reader::Archive;
use topobroker_reader::text::xml;

/// Print what differs between two nodes as XML that `patch` applies, as hwloc-diff does
///
/// Exits with 1 if the differences are more than values of objects: such XML cannot express them
#[derive(Debug, Args)]
pub(super) struct Diff {
    /// File of a node: hwloc XML, or a segment
    one: PathBuf,
    /// File of another one
    other: PathBuf,
    /// Write to this file; by default, and with `-`, to standard output
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
        let file_name = || Some(self.one.file_name()?.to_string_lossy().into_owned());
        let name = self.refname.clone().or_else(file_name).unwrap_or_default();
        let (one, other) = (input(&self.one)?, input(&self.other)?);
        let Compared { all, complex, xml } = compare(&one, &other, &name)
            .with_context(|| format!("{}, {}", self.one.display(), self.other.display()))?;
        if complex > 0 {
            bail!(
                "{all} differences, {complex} of them of the structure, which such XML cannot \
                 express; `topobroker cluster diff --lines {} {}` prints them",
                self.one.display(),
                self.other.display()
            );
        }
        say(&format!("{all} differences"));
        // As hwloc-diff prints it.
        let text = if self.output.is_none() { xml + "\n" } else { xml };
        output::write(self.output.as_deref(), text.as_bytes(), self.force)
    }
}

impl Patch {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let (text, reference) = read_text(&self.difference, MOST_TEXT, |text| {
            reference(text).map(|name| (text.to_owned(), name))
        })?;
        let file = match (self.input.to_str(), reference) {
            (Some("refname"), Some(name)) => PathBuf::from(name),
            (Some("refname"), None) => bail!("the differences name no file: name INPUT"),
            _ => self.input.clone(),
        };
        let patched = patch(&input(&file)?, &text, self.reverse);
        let archive = encode::to_bytes(&patched.with_context(|| file.display().to_string())?)?;
        let text = xml::export(Archive::open(&archive)?.topology());
        output::write(self.output.as_deref(), text.as_bytes(), self.force)
    }
}

/// The topology in the file of a node.
fn input(file: &Path) -> anyhow::Result<Input> {
    Ok(Input::XmlText(node_xml(file)?))
}
