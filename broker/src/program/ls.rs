//! `topobroker ls`: print a topology as `lstopo-no-graphics` does.

use super::filter_options::{FilterOptions, type_name};
use super::input::{Input, filtered};
use crate::console::{self, Indexes, Part, Style};
use clap::Args;
use std::process::ExitCode;
use topobroker_layout::description::Description;
use topobroker_reader::TypeName;

/// Print a topology, as lstopo-no-graphics --of console does
#[derive(Debug, Args)]
pub struct Ls {
    #[command(flatten)]
    input: Input,
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
    /// Print more; twice, all there is
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(flatten)]
    filters: FilterOptions,
    /// Print PCI devices that are alike one by one
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
    #[arg(long, value_name = "FORMAT", default_value = "console", value_parser = ["console"])]
    of: String,
}

impl Ls {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        super::print(&self.text(&self.input.description()?)?)
    }

    /// What is printed of a topology.
    ///
    /// # Errors
    ///
    /// When the description is no topology.
    pub fn text(&self, description: &Description) -> anyhow::Result<String> {
        filtered(description, self.filters.filters(), |topology| {
            Ok(console::print(topology, &self.style()))
        })
    }

    fn style(&self) -> Style {
        let part = match self.only {
            _ if self.distances => Part::Distances,
            _ if self.memattrs => Part::MemoryAttributes,
            _ if self.cpukinds => Part::CpuKinds,
            _ if self.summary => Part::Summary,
            Some(name) => Part::Only(name),
            None => Part::Tree,
        };
        let indexes = match (self.physical, self.logical) {
            (true, _) => Indexes::Physical,
            (_, true) => Indexes::Logical,
            _ => Indexes::Default,
        };
        let verbosity = self.verbose;
        let no_collapse = self.no_collapse;
        Style { part, indexes, cpusets: self.cpuset, verbosity, no_collapse }
    }
}
