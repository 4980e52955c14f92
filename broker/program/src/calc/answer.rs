//! The answers of `calc`: what it prints about a set.

use super::manner::Manner;
use anyhow::bail;
use topobroker::location::NamedLevel;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::{Initiator, LocalNumaNodes, MemoryAttribute, Object, Topology};

/// A question about a set.
#[derive(Debug, Clone)]
pub(super) enum Question {
    /// The set itself.
    Mask(Format),
    /// The number of objects of a level that intersect the set.
    NumberOf(NamedLevel),
    /// The indexes of the objects of a level that intersect the set.
    Intersect(NamedLevel),
    /// Paths, such as `Package:0.Core:1`, to the objects of the last level that intersect the set.
    /// Each path goes through objects of the other levels, from the top.
    Hierarchical(Vec<NamedLevel>),
    /// The largest objects inside the set.
    Largest,
    /// The NUMA nodes local to the set, or the best of them by a memory attribute.
    LocalMemory(LocalNumaNodes, Option<String>),
}

/// How an answer is written.
#[derive(Debug, Clone)]
pub(super) struct Style {
    pub(super) separator: Option<String>,
    pub(super) manner: Manner,
    /// Whether indexes have their types: `Core:2`.
    pub(super) with_types: bool,
}

pub(super) fn answer(
    topology: Topology<'_>,
    set: &Set,
    question: &Question,
    style: &Style,
) -> anyhow::Result<String> {
    let of_pus = matches!(question, Question::Largest | Question::LocalMemory(..));
    if of_pus && style.manner.nodeset_output {
        bail!("--largest and --local-memory are of PUs; leave out --nodeset and --nodeset-output");
    }
    let separator = |default| style.separator.as_deref().unwrap_or(default);
    let index = |object: Object<'_>| match style.with_types {
        true => style.named(object),
        false => style.index(object),
    };
    Ok(match question {
        Question::Mask(format) => set.to_text(*format),
        Question::NumberOf(level) => {
            let objects = level.objects(topology)?;
            objects.filter(|object| style.meets(*object, set)).count().to_string()
        }
        Question::Intersect(level) => {
            let objects = level.objects(topology)?.filter(|object| style.meets(*object, set));
            objects.map(index).collect::<Vec<_>>().join(separator(","))
        }
        Question::Hierarchical(levels) => {
            let mut found = Vec::new();
            style.hierarchical(topology.root(), levels, set, "", &mut found)?;
            found.join(separator(" "))
        }
        Question::Largest => {
            let known = topology.root().cpuset().unwrap_or_default();
            if !set.is_included_in(&known) {
                bail!(
                    "the set {set} has indexes that the topology has not, whose PUs are {known}: \
                     no objects cover it"
                );
            }
            let largest = topology.inside(set).largest();
            largest.map(|object| style.named(object)).collect::<Vec<_>>().join(separator(" "))
        }
        Question::LocalMemory(which, attribute) => {
            let nodes = topology.local_numa_nodes(set, *which);
            match attribute {
                None => nodes.map(index).collect::<Vec<_>>().join(separator(",")),
                Some(name) => {
                    let attribute = attribute_of(topology, name)?;
                    let best = attribute.best_among(nodes, &Initiator::Cpuset(set.clone()));
                    best.map(index).unwrap_or_default()
                }
            }
        }
    })
}

/// Finds a memory attribute by its name or number.
pub(crate) fn attribute_of<'a>(
    topology: Topology<'a>,
    name: &str,
) -> anyhow::Result<MemoryAttribute<'a>> {
    let id: Option<usize> = name.parse().ok();
    let numbered = topology.memory_attributes().find(|attribute| Some(attribute.id()) == id);
    match topology.memory_attribute(name).or(numbered) {
        Some(attribute) => Ok(attribute),
        None => {
            let names: Vec<&str> =
                topology.memory_attributes().map(MemoryAttribute::name).collect();
            bail!("no memory attribute is named {name:?}; expected one of {}", names.join(", "))
        }
    }
}

impl Style {
    fn index(&self, object: Object<'_>) -> String {
        match self.manner.physical_output {
            // hwloc prints -1 for an unknown index.
            true => object.os_index().map_or_else(|| "-1".to_owned(), |index| index.to_string()),
            false => object.logical_index().to_string(),
        }
    }

    /// The type and index of an object.
    fn named(&self, object: Object<'_>) -> String {
        match object.os_index() {
            None if self.manner.physical_output => object.type_name(true),
            _ => format!("{}:{}", object.type_name(true), self.index(object)),
        }
    }

    /// Whether an object intersects a set. An I/O or Misc object counts as the object that it is
    /// attached to.
    fn meets(&self, object: Object<'_>, set: &Set) -> bool {
        let place = object.non_io_ancestor();
        match self.manner.nodeset_output {
            true => place.nodeset().is_some_and(|nodeset| nodeset.intersects(set)),
            false => place.intersects(set),
        }
    }

    fn hierarchical(
        &self,
        root: Object<'_>,
        levels: &[NamedLevel],
        set: &Set,
        path: &str,
        found: &mut Vec<String>,
    ) -> anyhow::Result<()> {
        let Some((level, below)) = levels.split_first() else { return Ok(()) };
        let cpuset = root.cpuset().unwrap_or_default();
        let near = level.objects(root.topology())?.filter(|object| object.intersects(&cpuset));
        for (place, object) in near.enumerate() {
            if !self.meets(object, set) {
                continue;
            }
            let dot = if path.is_empty() { "" } else { "." };
            let mut path = format!("{path}{dot}{}:", object.type_name(true));
            // Logical indexes start at 0 again below each object.
            let index =
                if self.manner.physical_output { self.index(object) } else { place.to_string() };
            path += &index;
            match below {
                [] => found.push(path),
                _ => {
                    // A level below may be larger than this one, as a NUMA node of several
                    // packages.
                    let place = object.non_io_ancestor();
                    let own = match self.manner.nodeset_output {
                        true => place.nodeset(),
                        false => place.cpuset(),
                    };
                    let set = set & &own.unwrap_or_default();
                    self.hierarchical(object, below, &set, &path, found)?;
                }
            }
        }
        Ok(())
    }
}
