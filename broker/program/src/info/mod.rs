//! `topobroker info`: prints the details of objects, as `hwloc-info` does.

mod details;

use crate::calc::{attribute_of, default_local, local_flags};
use crate::console::{self, Contents, Style};
use crate::filter_options::{FilterOptions, level};
use crate::json;
use crate::output;
use crate::subject::Subject;
use anyhow::bail;
use clap::Args;
use details::{details, title};
use std::process::ExitCode;
use topobroker::location::{Combine, Location, NamedLevel, Reading};
use topobroker_reader::{Initiator, LocalNumaNodes, Object, ObjectType, Topology};

/// Print the details of objects, or the levels of the topology, as hwloc-info does
#[derive(Debug, Args)]
pub struct Info {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    filters: FilterOptions,
    /// Print objects (default if there are locations)
    #[arg(long, conflicts_with_all = ["topology", "support"])]
    objects: bool,
    /// Print the levels of the topology (default without locations)
    #[arg(long, conflicts_with = "support")]
    topology: bool,
    /// Print what the operating system of the topology supports
    #[arg(long)]
    support: bool,
    /// Print types and indexes only, and leave out objects that do not exist
    #[arg(short = 's', long = "silent", visible_alias = "quiet", short_alias = 'q')]
    quiet: bool,
    /// Leave out what is not there or is no location, and say so, as hwloc-info does
    #[arg(long)]
    lenient: bool,
    /// Print the value of this line alone, such as `cpuset` or `attr cache size`
    #[arg(long, value_name = "NAME", conflicts_with_all = ["quiet", "json"])]
    get_attr: Option<String>,
    /// Print each object and its ancestors, up to the root
    #[arg(long, group = "related")]
    ancestors: bool,
    /// For each object, print its ancestor of a type
    #[arg(long, value_name = "TYPE", value_parser = level, group = "related")]
    ancestor: Option<NamedLevel>,
    /// Print the children of each object
    #[arg(long, group = "related")]
    children: bool,
    /// Print the objects of a type below each object
    #[arg(long, value_name = "TYPE", value_parser = level, group = "related")]
    descendants: Option<NamedLevel>,
    /// Print the NUMA nodes local to each object
    #[arg(long)]
    local_memory: bool,
    /// Which NUMA nodes are local: larger_locality, smaller_locality, all, or parts of these names
    #[arg(long, value_name = "FLAGS", value_parser = local_flags)]
    local_memory_flags: Option<LocalNumaNodes>,
    /// Print the best local NUMA node by a memory attribute
    #[arg(long, value_name = "NAME")]
    best_memattr: Option<String>,
    /// Of related objects, print the first
    #[arg(long)]
    first: bool,
    /// Begin each line with the position of its object in the output
    #[arg(short = 'n')]
    numbered: bool,
    /// Take indexes of the operating system
    #[arg(short, long)]
    physical: bool,
    /// Take logical indexes (default)
    #[arg(short, long, conflicts_with = "physical")]
    logical: bool,
    /// Say how many objects each location is
    #[arg(short, long)]
    verbose: bool,
    /// Print JSON
    #[arg(long, conflicts_with_all = ["support", "quiet", "numbered"])]
    json: bool,
    /// Objects, such as core:2-3, package:1.pu:all, os=eth0, pci=0000:03:00.1 or all; or one of the
    /// words levels, topology and support
    #[arg(value_name = "LOCATION")]
    locations: Vec<String>,
}

/// An object that is printed in place of a named object.
struct Related<'a> {
    object: Object<'a>,
    /// Its relation to the named object, such as `child`.
    relation: &'static str,
    /// Its position among the related objects, if there can be several.
    place: Option<usize>,
}

impl Info {
    pub(crate) fn run(mut self) -> anyhow::Result<ExitCode> {
        self.subject.note_source_if(self.verbose);
        output::print(&self.text(None)?)
    }

    /// The text that this command prints of `loaded`, or otherwise of the topology that its options
    /// name.
    pub fn text(&self, loaded: Option<Topology<'_>>) -> anyhow::Result<String> {
        let filters = Some(self.filters.filters());
        self.subject.answer_of(loaded, filters, |topology| self.print(topology))
    }

    fn print(&self, topology: Topology<'_>) -> anyhow::Result<String> {
        let word = match &self.locations[..] {
            [word] if !self.objects => word.as_str(),
            _ => "",
        };
        if self.json && ["support", "topology"].contains(&word) {
            bail!("--json: {word} is text; `info --json root` has the infos of the machine");
        }
        if self.support || word == "support" {
            return Ok(support(topology));
        }
        if word == "topology" {
            return Ok(whole(topology));
        }
        if self.topology || word == "levels" || (self.locations.is_empty() && !self.objects) {
            if self.json {
                return json::text(&json::levels(topology));
            }
            let style = Style { contents: Contents::Summary, ..Style::default() };
            return Ok(console::print(topology, &style));
        }
        let mut text = String::new();
        let mut found = Vec::new();
        let mut number = 0;
        for location in &joined(&self.locations) {
            let objects = match self.given(topology, location, self.quiet) {
                Err(error) if self.lenient => {
                    if !self.quiet {
                        output::say(&format!("{error:#}; it is left out"));
                    }
                    self.given(topology, location, true).unwrap_or_default()
                }
                objects => objects?,
            };
            if self.verbose {
                output::say(&format!("{location} is {} objects", objects.len()));
            }
            for object in objects {
                if self.json {
                    match self.related(object)? {
                        None => found.push(json::Object::from(object)),
                        Some(all) => found.extend(all.iter().map(|it| it.object.into())),
                    }
                    continue;
                }
                self.object(object, number, &mut text)?;
                number += 1;
            }
        }
        if self.json {
            return json::text(&found);
        }
        Ok(text)
    }

    /// The objects of a location.
    fn given<'a>(
        &self,
        topology: Topology<'a>,
        location: &str,
        skip_missing: bool,
    ) -> anyhow::Result<Vec<Object<'a>>> {
        let parsed = Location::parse_or_name(location)?;
        if parsed.combine() != Combine::Add {
            bail!(
                "location {location:?}: objects are printed one by one, not combined; leave out \
                 the prefix"
            );
        }
        Ok(parsed.objects(topology, Reading { physical: self.physical, skip_missing })?)
    }

    fn object(&self, object: Object<'_>, number: usize, text: &mut String) -> anyhow::Result<()> {
        let Some(mut related) = self.related(object)? else {
            let prefix = if self.numbered { format!("{number}: ") } else { String::new() };
            self.lines(object, "", &prefix, text);
            return Ok(());
        };
        if self.first {
            related.truncate(1);
        }
        for Related { object: other, relation, place } in related {
            let prefix = match (self.numbered, place) {
                (false, _) => String::new(),
                (true, None) => format!("{number}: "),
                (true, Some(place)) => format!("{number}.{place}: "),
            };
            let place = place.map_or_else(String::new, |place| format!(" #{place}"));
            let what = match object == other {
                true => String::new(),
                false => format!(" = {relation}{place} of {}", title(object)),
            };
            self.lines(other, &what, &prefix, text);
        }
        Ok(())
    }

    /// The objects that the options ask for in place of `object`; `None` if they ask for `object`
    /// itself.
    fn related<'a>(&self, object: Object<'a>) -> anyhow::Result<Option<Vec<Related<'a>>>> {
        let numbered = |relation, objects: Vec<Object<'a>>| {
            let related = objects.into_iter().enumerate();
            let related =
                related.map(|(place, object)| Related { object, relation, place: Some(place) });
            Some(related.collect())
        };
        if self.ancestors {
            let path = std::iter::once(object).chain(object.ancestors());
            return Ok(numbered("parent", path.collect()));
        }
        if let Some(level) = &self.ancestor {
            let depth = level.depth(object.topology())?;
            let found = object.ancestors().find(|above| above.depth() == depth);
            let related = |object| Related { object, relation: "parent", place: None };
            return Ok(Some(found.map(related).into_iter().collect()));
        }
        if self.children {
            return Ok(numbered("child", object.all_children().collect()));
        }
        if let Some(level) = &self.descendants {
            return Ok(numbered("descendant", level.objects_in(object)?));
        }
        if self.local_memory || self.local_memory_flags.is_some() || self.best_memattr.is_some() {
            let which = self.local_memory_flags.unwrap_or_else(default_local);
            let nodes = object.local_numa_nodes(which);
            let nodes = match &self.best_memattr {
                None => nodes.collect(),
                Some(name) => {
                    let attribute = attribute_of(object.topology(), name)?;
                    let cpuset = object.non_io_ancestor().cpuset().unwrap_or_default();
                    let from = Initiator::Cpuset(cpuset);
                    attribute.best_among(nodes, &from).into_iter().collect()
                }
            };
            return Ok(numbered("local memory", nodes));
        }
        Ok(None)
    }

    fn lines(&self, object: Object<'_>, what: &str, prefix: &str, text: &mut String) {
        let lines = match (self.quiet, &self.get_attr) {
            (true, _) => vec![format!("{}:{}", object.type_name(true), object.logical_index())],
            (false, Some(name)) => details(object)
                .iter()
                .filter_map(|line| line.split_once(" = "))
                .filter(|(found, _)| found.trim_start() == name)
                .map(|(_, value)| value.to_owned())
                .collect(),
            (false, None) => {
                let head = format!("{}{what}", title(object));
                std::iter::once(head).chain(details(object)).collect()
            }
        };
        lines.iter().for_each(|line| text.extend([prefix, line, "\n"]));
    }
}

/// What the operating system of the topology supports, as hwloc-info prints it.
fn support(topology: Topology<'_>) -> String {
    let mut bits: Vec<_> = topology.support().enumerate().collect();
    // hwloc-info prints this bit second.
    let is_second = |name| name == "discovery.disallowed_pu";
    bits.sort_by_key(|(place, (name, _))| if is_second(*name) { 1 } else { 2 * place });
    let lines = bits.into_iter().map(|(_, (name, bit))| {
        let (part, name) = name.split_once('.').unwrap_or(("misc", name));
        format!("{part}:{name} = {bit}\n")
    });
    lines.collect()
}

/// The topology as a whole, as hwloc-info prints it from 2.13 on.
fn whole(topology: Topology<'_>) -> String {
    let infos = topology.root().infos().map(|info| {
        format!("info {} = {}\n", output::in_line(info.name), output::in_line(info.value))
    });
    let count = |object_type| topology.objects_with_type(object_type).count();
    let counts = [
        ("depth", topology.depth() as usize),
        ("PUs", count(ObjectType::PU)),
        ("NUMANodes", count(ObjectType::NUMANode)),
        ("CPU kinds", topology.cpu_kinds().count()),
    ];
    infos.chain(counts.map(|(name, count)| format!("{name} = {count}\n"))).collect()
}

/// Locations, with a type and an index in two words, `core 0`, as one.
fn joined(words: &[String]) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for word in words {
        match joined.last_mut().filter(|last| NamedLevel::parse(last).is_some()) {
            Some(level) if word.starts_with(|it: char| it.is_ascii_digit()) => {
                *level = format!("{level}:{word}");
            }
            _ => joined.push(word.clone()),
        }
    }
    joined
}
