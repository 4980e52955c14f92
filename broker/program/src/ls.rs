//! `topobroker ls`: prints a topology, as `lstopo-no-graphics` does.

use super::filter_options::{FilterOptions, type_name};
use super::set_format::SetFormat;
use super::subject::Subject;
use crate::color;
use crate::console::{self, Contents, Cpusets, Indexes, Style};
use crate::draw::{self, Draw, LstopoOptions, PictureFile};
use crate::export::{synthetic_with, xml_v1};
use crate::flag_names;
use crate::json;
use crate::output;
use anyhow::{Context, ensure};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use topobroker_reader::text::{synthetic, xml};
use topobroker_reader::{Topology, TypeName};

/// Print a topology, as lstopo-no-graphics --of console does
#[derive(Debug, Args)]
pub struct Ls {
    #[command(flatten)]
    subject: Subject,
    /// Print indexes of the operating system only
    #[arg(short, long)]
    physical: bool,
    /// Print logical indexes only
    #[arg(short, long, conflicts_with = "physical")]
    logical: bool,
    /// Print the number of objects at each depth only
    #[arg(short, long, alias = "silent")]
    summary: bool,
    /// Print objects of this type only
    #[arg(long, value_name = "TYPE", value_parser = type_name)]
    only: Option<TypeName>,
    /// Print cpusets too
    #[arg(short, long)]
    cpuset: bool,
    /// Print cpusets only
    #[arg(short = 'C', long)]
    cpuset_only: bool,
    #[command(flatten)]
    set_format: SetFormat,
    /// Print more; if given twice, print everything
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(flatten)]
    filters: FilterOptions,
    /// Print identical PCI devices one by one
    #[arg(long)]
    no_collapse: bool,
    /// Print distance matrices only
    #[arg(long)]
    distances: bool,
    /// Print memory attributes only
    #[arg(long)]
    memattrs: bool,
    /// Print CPU kinds only
    #[arg(long)]
    cpukinds: bool,
    /// Format of the output, if OUTPUT does not show it
    #[arg(long, alias = "output-format", value_enum, value_name = "FORMAT")]
    of: Option<Of>,
    /// Replace OUTPUT if it exists
    #[arg(short, long)]
    force: bool,
    /// Of --of xml: v1 is for programs with hwloc 1
    #[arg(long, value_name = "FLAGS", value_parser = xml_flags)]
    export_xml_flags: Option<u64>,
    /// Of --of synthetic: no_extended_types, no_attrs, v1, ignore_memory, or their sum
    #[arg(long, value_name = "FLAGS", value_parser = synthetic_flags)]
    export_synthetic_flags: Option<u64>,
    #[command(flatten)]
    picture: LstopoOptions,
    /// Write to this file, as lstopo does: a picture (.svg, .png, .pdf, .html, .tex, .txt), .xml,
    /// .synthetic, or .console for the text; `-` is standard output, and so is `-.svg`
    #[arg(value_name = "OUTPUT")]
    output: Option<PathBuf>,
    /// Print JSON: the whole topology, or what --summary, --only, --distances, --memattrs or
    /// --cpukinds ask for
    #[arg(long, conflicts_with = "of")]
    json: bool,
}

/// Formats of the output, as lstopo names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Console,
    Synthetic,
    Xml,
    /// A picture, as `draw` makes it.
    Picture(draw::Format),
}

impl ValueEnum for Of {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self::Console,
            Self::Synthetic,
            Self::Xml,
            Self::Picture(draw::Format::Svg),
            Self::Picture(draw::Format::Html),
            Self::Picture(draw::Format::Png),
            Self::Picture(draw::Format::Pdf),
            Self::Picture(draw::Format::Ascii),
            Self::Picture(draw::Format::Tikz),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::Console => ("console", "Text"),
            Self::Synthetic => {
                ("synthetic", "A synthetic description, from which hwloc builds such a topology")
            }
            Self::Xml => ("xml", "hwloc XML"),
            Self::Picture(format) => return format.to_possible_value(),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

fn xml_flags(text: &str) -> Result<u64, String> {
    flag_names::parse(text, &["v1"])
}

fn synthetic_flags(text: &str) -> Result<u64, String> {
    flag_names::parse(text, &["no_extended_types", "no_attrs", "v1", "ignore_memory"])
}

impl Ls {
    pub(super) fn run(mut self) -> anyhow::Result<ExitCode> {
        let of = self.format()?;
        self.subject.note_source_for_viewer(self.verbose > 0);
        if let Of::Picture(format) = of {
            let is_about_text = self.only.is_some() || self.summary || self.distances;
            ensure!(
                !is_about_text
                    && !self.memattrs
                    && !self.cpukinds
                    && !self.cpuset
                    && !self.cpuset_only,
                "a picture has no --only, --summary, --distances, --memattrs, --cpukinds or \
                 --cpuset; `topobroker draw --show TYPE` draws some types"
            );
            let file = PictureFile::new(self.output, format, self.force);
            let picture = Draw::like_lstopo(self.subject, file, self.filters);
            return picture.with(&self.picture, [self.physical, self.logical]).run();
        }
        self.of = Some(of);
        let text = self.text(None)?;
        let is_tree = of == Of::Console && self.file().is_none() && !self.json;
        let text = if is_tree { color::tree(text) } else { text };
        output::write(self.file(), text.as_bytes(), self.force)
    }

    /// The format that is asked for, or that the name of the output has.
    fn format(&self) -> anyhow::Result<Of> {
        let Some(file) = self.file() else { return Ok(self.of.unwrap_or(Of::Console)) };
        ensure!(!self.json, "--json: is printed on standard output; leave out {}", file.display());
        let by_name = match draw::ending(file).as_deref() {
            Some("xml") => Some(Of::Xml),
            Some("synthetic") => Some(Of::Synthetic),
            Some("console") => Some(Of::Console),
            _ => draw::Format::of_file(file).map(Of::Picture),
        };
        let format = self.of.or(by_name).with_context(|| {
            format!(
                "{}: the output, whose name has no known ending; expected .svg, .png, .pdf, \
                 .html, .tex, .txt, .xml, .synthetic or .console, or --of FORMAT; -i reads a file",
                file.display()
            )
        })?;
        ensure!(
            self.force || !file.is_file(),
            "{0}: exists; -i {0} reads it, --force replaces it",
            file.display()
        );
        Ok(format)
    }

    /// The file to write to; `-.svg` is standard output in that format.
    fn file(&self) -> Option<&Path> {
        output::with_format(self.output.as_deref())
    }

    /// The text that this command prints of `loaded`, or otherwise of the topology that its options
    /// name.
    pub fn text(&self, loaded: Option<Topology<'_>>) -> anyhow::Result<String> {
        let filters = Some(self.filters.filters());
        self.subject.answer_of(loaded, filters, |topology| self.print(topology))
    }

    fn print(&self, topology: Topology<'_>) -> anyhow::Result<String> {
        if self.json {
            return self.as_json(topology);
        }
        match self.of {
            Some(Of::Synthetic) => match self.export_synthetic_flags.unwrap_or(0) {
                0 => Ok(synthetic::export(topology).context("--of synthetic")? + "\n"),
                flags => synthetic_with(topology, flags).context("--export-synthetic-flags"),
            },
            Some(Of::Xml) if self.export_xml_flags.is_some_and(|flags| flags != 0) => {
                xml_v1(topology).context("--export-xml-flags")
            }
            Some(Of::Xml) => Ok(xml::export(topology)),
            _ => Ok(console::print(topology, &self.style())),
        }
    }

    fn as_json(&self, topology: Topology<'_>) -> anyhow::Result<String> {
        match self.style().contents {
            Contents::Tree => json::text(&json::Topology::from(topology)),
            Contents::Summary => json::text(&json::levels(topology)),
            Contents::Only(wanted) => {
                let found = topology.objects().filter(|it| wanted.matches(*it));
                json::text(&found.map(json::Object::from).collect::<Vec<_>>())
            }
            Contents::Distances => json::text(&json::distances(topology)),
            Contents::MemoryAttributes => json::text(&json::memory_attributes(topology)),
            Contents::CpuKinds => json::text(&json::cpu_kinds(topology)),
        }
    }

    fn style(&self) -> Style {
        let contents = match self.only {
            _ if self.distances => Contents::Distances,
            _ if self.memattrs => Contents::MemoryAttributes,
            _ if self.cpukinds => Contents::CpuKinds,
            _ if self.summary => Contents::Summary,
            Some(name) => Contents::Only(name),
            None => Contents::Tree,
        };
        let indexes = match (self.physical, self.logical) {
            (true, _) => Indexes::Physical,
            (_, true) => Indexes::Logical,
            _ => Indexes::Default,
        };
        let verbosity = self.verbose;
        let (no_collapse, no_pus) = (self.no_collapse, self.filters.leaves_out_pus());
        let cpusets = match (self.cpuset_only, self.cpuset || self.set_format.is_given()) {
            (true, _) => Cpusets::Alone,
            (false, true) => Cpusets::Appended,
            (false, false) => Cpusets::No,
        };
        let cpuset_format = self.set_format.format();
        Style { contents, indexes, cpusets, cpuset_format, verbosity, no_collapse, no_pus }
    }
}
