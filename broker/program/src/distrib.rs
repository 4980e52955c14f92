//! `topobroker distrib`: distributes PUs over the tree, as `hwloc-distrib` does.

use super::filter_options::{level, type_name};
use super::json;
use super::output;
use super::set_format::SetFormat;
use super::subject::Subject;
use anyhow::bail;
use clap::Args;
use std::process::ExitCode;
use topobroker::description::Filters;
use topobroker::hwloc::TypeFilter;
use topobroker::location::NamedLevel;
use topobroker_layout::set::Set;
use topobroker_reader::{Depth, Distribution, Object, ObjectType, Topology};

/// Divide the PUs into N parts that are far from each other, as hwloc-distrib does
#[derive(Debug, Args)]
pub struct Distrib {
    #[command(flatten)]
    subject: Subject,
    /// Leave out objects of a type
    #[arg(long, value_name = "TYPE", value_parser = ignored)]
    ignore: Vec<ObjectType>,
    /// Begin at the objects of a type
    #[arg(long, value_name = "TYPE", value_parser = level)]
    from: Option<NamedLevel>,
    /// Divide objects down to those of a type
    #[arg(long, value_name = "TYPE", value_parser = level)]
    to: Option<NamedLevel>,
    /// Divide among the objects of a type, as with --from and --to of that type
    #[arg(long, value_name = "TYPE", value_parser = level, conflicts_with_all = ["from", "to"])]
    at: Option<NamedLevel>,
    /// Begin at the last objects
    #[arg(long)]
    reverse: bool,
    /// Print only the first PU of each part, the last with --reverse
    #[arg(long)]
    single: bool,
    #[command(flatten)]
    set_format: SetFormat,
    /// Print JSON
    #[arg(long, conflicts_with_all = ["taskset", "cpuset_output_format"])]
    json: bool,
    /// Say what is divided
    #[arg(short, long)]
    verbose: bool,
    /// Number of parts
    #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
}

/// Parses the type of `--ignore`.
fn ignored(text: &str) -> Result<ObjectType, String> {
    let name = type_name(text)?;
    match name.object_type {
        ObjectType::Machine | ObjectType::PU | ObjectType::NUMANode => {
            Err("machine, PUs and NUMA nodes are always there; expected another type".to_owned())
        }
        _ if name.group_depth.is_some() || name.os_device_kind.is_some() => {
            Err("expected a whole type, such as group or osdev".to_owned())
        }
        object_type => Ok(object_type),
    }
}

impl Distrib {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        output::print(&self.text(None)?)
    }

    /// The text that this command prints of `loaded`, or otherwise of the topology that its options
    /// name.
    pub fn text(&self, loaded: Option<Topology<'_>>) -> anyhow::Result<String> {
        self.subject.answer_of(loaded, self.filters().as_ref(), |topology| self.parts(topology))
    }

    /// The filters for `--ignore`; `None` without this option.
    fn filters(&self) -> Option<Filters> {
        let mut filters = Filters::default();
        self.ignore.iter().for_each(|object_type| filters.set(*object_type, TypeFilter::None));
        (!self.ignore.is_empty()).then_some(filters)
    }

    fn parts(&self, topology: Topology<'_>) -> anyhow::Result<String> {
        let most = topology.most_parts();
        if self.count as usize > most {
            bail!("{} parts: expected {most} of this machine at most", self.count);
        }
        let from = self.depth(topology, "--from", self.from.as_ref().or(self.at.as_ref()))?;
        let until = self.depth(topology, "--to", self.to.as_ref().or(self.at.as_ref()))?;
        let roots: Vec<Object<'_>> =
            topology.objects_at_depth(from.unwrap_or(Depth::ROOT)).collect();
        let count = self.count as usize;
        if self.verbose {
            output::say(&format!("{} objects are divided into {count} parts", roots.len()));
        }
        let mut parts =
            topology.distribute(&roots, count, Distribution { until, reverse: self.reverse });
        if self.single {
            let one = |part: &Set| if self.reverse { part.last() } else { part.first() };
            parts.iter_mut().for_each(|part| *part = one(part).into_iter().collect());
        }
        if self.json {
            return json::text(&parts.iter().map(json::Set::from).collect::<Vec<_>>());
        }
        let format = self.set_format.format();
        Ok(parts.iter().map(|part| part.to_text(format) + "\n").collect())
    }

    /// The depth of the level that an option names; an error if it is outside the tree of CPUs.
    fn depth(
        &self,
        topology: Topology<'_>,
        option: &str,
        level: Option<&NamedLevel>,
    ) -> anyhow::Result<Option<Depth>> {
        let Some(level) = level else { return Ok(None) };
        let option = if self.at.is_some() { "--at" } else { option };
        match level.depth(topology) {
            Ok(depth @ Depth::Normal(_)) => Ok(Some(depth)),
            Ok(_) => bail!(
                "{option} {level}: not in the tree of CPUs; expected a type that PUs are below"
            ),
            Err(error) => bail!("{option} {level}: {error}"),
        }
    }
}
