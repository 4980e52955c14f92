//! `topobroker ls`: print a topology as `lstopo-no-graphics` does.

use super::input::Input;
use crate::console::{self, Indexes, Part, Style};
use crate::filter::{Filters, filter};
use crate::hwloc::Filter;
use anyhow::Context;
use clap::Args;
use std::process::ExitCode;
use topobroker_layout::build;
use topobroker_layout::description::Description;
use topobroker_reader::{ObjectType, Topology, TypeName};

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
    /// Leave out bridges, PCI and OS devices
    #[arg(long)]
    no_io: bool,
    /// Leave out bridges
    #[arg(long)]
    no_bridges: bool,
    /// Leave out CPU caches
    #[arg(long)]
    no_caches: bool,
    /// Leave out levels that add nothing to the structure
    #[arg(long)]
    merge: bool,
    /// Filter a type: TYPE:none, TYPE:all, TYPE:structure or TYPE:important; TYPE may be all, io,
    /// cache or icache
    #[arg(long, value_name = "TYPE:KIND", value_parser = type_filter)]
    filter: Vec<TypeFilter>,
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

/// A filter as it is given on the command line.
#[derive(Debug, Clone)]
struct TypeFilter {
    types: Vec<ObjectType>,
    filter: Filter,
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
        let filtered = filter(description, &self.filters());
        let archive = build::to_bytes(&filtered).context("the filtered topology")?;
        let topology = Topology::from_archive(&archive).context("the filtered topology")?;
        Ok(console::print(topology, &self.style()))
    }

    fn filters(&self) -> Filters {
        let mut filters = Filters::default();
        if self.merge {
            filters.set_all(Filter::Structure);
        }
        if self.no_caches {
            filters.set_caches(Filter::None);
        }
        if self.no_io {
            filters.set_io(Filter::None);
        }
        if self.no_bridges {
            filters.set(ObjectType::Bridge, Filter::None);
        }
        for TypeFilter { types, filter } in &self.filter {
            types.iter().for_each(|object_type| filters.set(*object_type, *filter));
        }
        filters
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

fn type_name(name: &str) -> Result<TypeName, String> {
    TypeName::parse(name).ok_or_else(|| format!("no such type of object; expected one of {TYPES}"))
}

const TYPES: &str = "Machine, Package, Die, Core, PU, L1 to L5, L1i to L3i, Group, NUMANode, \
                     MemCache, Bridge, PCIDev, OSDev, Misc";

fn type_filter(text: &str) -> Result<TypeFilter, String> {
    let (name, kind) = text.split_once(':').unwrap_or((text, "all"));
    let filter = match kind {
        "none" => Filter::None,
        "all" => Filter::All,
        "structure" => Filter::Structure,
        "important" => Filter::Important,
        _ => return Err("expected none, all, structure or important after the colon".to_owned()),
    };
    let of = |wanted: fn(ObjectType) -> bool| {
        ObjectType::ALL.into_iter().filter(|object_type| wanted(*object_type)).collect()
    };
    let types = match name {
        "all" => of(|_| true),
        "io" => of(ObjectType::is_io),
        "cache" => of(ObjectType::is_cache),
        "icache" => of(ObjectType::is_instruction_cache),
        _ => vec![type_name(name)?.object_type],
    };
    Ok(TypeFilter { types, filter })
}
