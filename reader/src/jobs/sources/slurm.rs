//! Reads the variables with which Slurm gives a task its PUs.

use super::error::SourceError;
use super::text::{BELOW_LIMIT, Text, known};
use crate::topology::Topology;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::vec::Vec;
use topobroker_layout::archive::INDEX_LIMIT;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::{Format, Set};

const EXPECTED: &str =
    "mask_cpu:, map_cpu:, mask_ldom: or map_ldom: with a list, or a kind of object";

/// The binding that `SLURM_CPU_BIND` describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlurmBinding {
    /// The task is not bound.
    None,
    /// Slurm chose the PUs; the affinity of the process says which.
    Automatic,
    /// The task is bound to these PUs, by OS index.
    Pus(Set),
}

/// The PUs of a task. `text` is `SLURM_CPU_BIND` (`quiet,mask_cpu:0x1,0x2`), or
/// `SLURM_CPU_BIND_TYPE` followed by `SLURM_CPU_BIND_LIST`. `local_id` is the `SLURM_LOCALID` of
/// the task.
///
/// # Errors
///
/// [`SourceError`] if it is malformed or empty, or names PUs or NUMA nodes that the topology lacks.
pub fn slurm_cpu_bind(
    topology: Topology<'_>,
    text: &str,
    local_id: usize,
) -> Result<SlurmBinding, SourceError> {
    let mut text = Text::new("SLURM_CPU_BIND", text);
    // Before the masks, Slurm writes the kind of objects that it bound to.
    const BEFORE: [&str; 7] =
        ["quiet,", "verbose,", "threads,", "cores,", "sockets,", "ldoms,", "boards,"];
    while let Some(rest) = BEFORE.into_iter().find_map(|word| text.strip(word)) {
        text = rest;
    }
    text = ["quiet", "verbose"].into_iter().find_map(|word| text.strip(word)).unwrap_or(text);
    let (kind, list) = match text.rest.split_once(':') {
        Some((kind, list)) => (kind, Some(text.at(list))),
        None => (text.rest, None),
    };
    let entry = || {
        let list = list.filter(|list| !list.rest.is_empty()).ok_or_else(|| text.empty())?;
        nth(list, local_id)
    };
    let cpus = match kind {
        "none" | "no" => return Ok(SlurmBinding::None),
        "" | "rank" | "threads" | "cores" | "sockets" | "ldoms" | "boards" | "rank_ldom" => {
            return Ok(SlurmBinding::Automatic);
        }
        "map_cpu" => [number(entry()?)?].into_iter().collect(),
        "mask_cpu" => mask(entry()?)?,
        "map_ldom" => of_nodes(topology, text, &[number(entry()?)?].into_iter().collect())?,
        "mask_ldom" => of_nodes(topology, text, &mask(entry()?)?)?,
        _ => return Err(text.malformed("an unknown kind of binding", EXPECTED)),
    };
    Ok(SlurmBinding::Pus(known(topology, text, cpus)?))
}

/// The PUs of `TOPOBROKER_CPU_LIST`, by OS index. Our Slurm plugin sets it to the PUs of the step.
pub(crate) fn step_cpu_list(text: &str) -> Result<Set, SourceError> {
    let list = Text::new("TOPOBROKER_CPU_LIST", text);
    Set::parse(text, Format::List).map_err(|error| {
        let rest = text.get(error.position..).unwrap_or_default();
        list.at(rest).malformed("no index", "a list of OS indexes such as 0-1,4")
    })
}

/// The entry of a task in a list; `0x3*2` stands for two entries. If there are more tasks than
/// entries, the list is used again from its start.
fn nth(list: Text<'_>, local_id: usize) -> Result<Text<'_>, SourceError> {
    let mut entries: Vec<(Text<'_>, usize)> = Vec::new();
    for part in list.split(',') {
        let (entry, times) = match part.rest.split_once('*') {
            None => (part, 1),
            Some((entry, times)) => {
                let (times, rest) = part.at(times).number("a number of tasks")?;
                rest.end("a number of tasks")?;
                (part.at(entry), times as usize)
            }
        };
        entries.push((entry, times));
    }
    let total = entries.iter().fold(0usize, |total, (_, times)| total.saturating_add(*times));
    let mut place = local_id.checked_rem(total).ok_or_else(|| list.empty())?;
    for (entry, times) in entries {
        match place.checked_sub(times) {
            None => return Ok(entry),
            Some(rest) => place = rest,
        }
    }
    Err(list.empty())
}

/// Reads the index of a PU or a NUMA node, decimal or hexadecimal.
fn number(text: Text<'_>) -> Result<u32, SourceError> {
    let number = match text.rest.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.rest.parse().ok(),
    };
    match number {
        Some(index) if index < INDEX_LIMIT => Ok(index),
        Some(_) => Err(text.malformed("an index that is too high", BELOW_LIMIT)),
        None => Err(text.malformed("no index", "an index such as 3")),
    }
}

fn mask(text: Text<'_>) -> Result<Set, SourceError> {
    let parsed = Set::parse(text.rest, Format::Taskset);
    parsed.map_err(|_| text.malformed("no mask", "a hexadecimal mask such as 0x3"))
}

fn of_nodes(topology: Topology<'_>, text: Text<'_>, nodes: &Set) -> Result<Set, SourceError> {
    let known = topology.root().nodeset().unwrap_or_default();
    match nodes.iter().find(|node| !known.contains(*node)) {
        None => Ok(topology.cpuset_of_nodes(nodes)),
        Some(index) => Err(SourceError::NotInMachine {
            what: text.what,
            text: text.whole.to_owned(),
            object: ObjectType::NUMANode.name(),
            numbering: "OS",
            index,
            expected: format!("the topology has {}", known.to_text(Format::List)),
        }),
    }
}
