//! `topobroker ls`: prints a topology, as `lstopo-no-graphics` does.

use super::filter_options::{FilterOptions, type_name};
use super::output;
use super::subject::Subject;
use crate::console::{self, Contents, Cpusets, Indexes, Style};
use crate::json;
use anyhow::Context;
use clap::Args;
use std::process::ExitCode;
use topobroker_layout::set::Format;
use topobroker_reader::text::synthetic;
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
    #[arg(short, long)]
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
    /// Print cpusets in the format of taskset
    #[arg(long)]
    taskset: bool,
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
    /// Format of the output
    #[arg(long, alias = "output-format", value_enum, value_name = "FORMAT", default_value_t)]
    of: Of,
    /// Print JSON: the whole topology, or what --summary, --only, --distances, --memattrs or --cpukinds
    /// ask for
    #[arg(long, conflicts_with = "of")]
    json: bool,
}

/// Formats of the output, as lstopo names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Of {
    /// Text.
    #[default]
    Console,
    /// A synthetic description, from which hwloc builds such a topology.
    Synthetic,
}

impl Ls {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let filters = Some(self.filters.filters());
        output::print(&self.subject.answer(filters, |topology| self.print(topology))?)
    }

    /// Returns the text that this command prints for a topology.
    ///
    /// # Errors
    ///
    /// If the part of the topology that the options name is empty, or if the topology has no
    /// synthetic description and `--of synthetic` asks for it.
    pub fn text(&self, topology: Topology<'_>) -> anyhow::Result<String> {
        let filters = Some(self.filters.filters());
        self.subject.answer_of(topology, filters, |topology| self.print(topology))
    }

    fn print(&self, topology: Topology<'_>) -> anyhow::Result<String> {
        if self.json {
            return self.as_json(topology);
        }
        match self.of {
            Of::Console => Ok(console::print(topology, &self.style())),
            Of::Synthetic => Ok(synthetic::export(topology).context("--of synthetic")? + "\n"),
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
        let cpusets = match (self.cpuset_only, self.cpuset || self.taskset) {
            (true, _) => Cpusets::Alone,
            (false, true) => Cpusets::Beside,
            (false, false) => Cpusets::No,
        };
        let cpuset_format = if self.taskset { Format::Taskset } else { Format::Hwloc };
        Style { contents, indexes, cpusets, cpuset_format, verbosity, no_collapse, no_pus }
    }
}
