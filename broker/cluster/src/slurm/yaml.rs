//! `topology.yaml`, which newer Slurms read in place of `topology.conf`.

use super::error::{SlurmError, SlurmErrorKind};
use super::groups::{SlurmGroup, SlurmTopology, checked_sizes};
use super::hostlist::expand;
use super::torus::Dims;
use crate::located::Unexpected;
use serde_json::Value;
use std::io;
use std::path::Path;
use topobroker::file_bytes::FileBytes;
use topobroker_reader::cluster::GroupKind;

/// Maximum length of a file, in bytes.
const MOST: u64 = 1 << 26;

/// Reads a `topology.yaml`: the topology with the name `wanted`; without one, the default of the
/// cluster, otherwise the first one.
///
/// # Errors
///
/// [`SlurmError`].
pub fn read_yaml(file: &Path, wanted: Option<&str>) -> Result<SlurmTopology, SlurmError> {
    let name = file.display().to_string();
    let failed = |error: io::Error| SlurmError::in_file(&name, error);
    let bytes = FileBytes::open(file, MOST).map_err(failed)?;
    SlurmTopology::from_yaml(&name, bytes.text().map_err(failed)?, wanted)
}

impl SlurmTopology {
    /// Parses the text of a `topology.yaml`, as [`read_yaml`] does. `file` is for errors.
    ///
    /// # Errors
    ///
    /// [`SlurmErrorKind::Yaml`], or what is wrong with the tree.
    pub fn from_yaml(file: &str, text: &str, wanted: Option<&str>) -> Result<Self, SlurmError> {
        let wrong = |what: String| SlurmError::in_file(file, SlurmErrorKind::Yaml(what));
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if let Some(line) = too_deep(text) {
            return Err(wrong(format!(
                "line {line}: more than {MOST_DEPTH} brackets are open; expected a list of \
                 topologies"
            )));
        }
        // A short file of anchors may stand for a long one.
        if let Some(line) = with_anchor(text) {
            return Err(wrong(format!(
                "line {line}: has an anchor or an alias (& or *); expected its text"
            )));
        }
        let all: Value = serde_yaml_ng::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let all = all.as_array().ok_or_else(|| wrong("expected a list of topologies".into()))?;
        let named = |it: &&Value| it.get("topology").and_then(word).as_deref() == wanted;
        let is_default =
            |it: &&Value| it.get("cluster_default").and_then(Value::as_bool) == Some(true);
        let chosen = match wanted {
            Some(name) => all.iter().find(named).ok_or_else(|| {
                wrong(format!("has no topology {name:?}; it has {}", names_of(all).join(", ")))
            })?,
            None => {
                let chosen = all.iter().find(is_default).or(all.first());
                chosen.ok_or_else(|| wrong("the list of topologies is empty".into()))?
            }
        };
        let list = |kind: &str, of: &str| chosen.get(kind)?.get(of)?.as_array();
        let found =
            KINDS.iter().find_map(|(of, rows, key, kind)| Some((list(of, rows)?, key, *kind)));
        let rows: Vec<(GroupKind, &str, &Value)> = match found {
            Some((rows, key, kind)) => rows.iter().map(|row| (kind, *key, row)).collect(),
            None if chosen.get("flat").is_some() => Vec::new(),
            None => {
                let expected = "expected tree, block, ring, torus3d or flat in the topology";
                return Err(wrong(expected.into()));
            }
        };
        let block_sizes = match list("block", "block_sizes") {
            None => Vec::new(),
            Some(sizes) => {
                let words: Option<Vec<String>> = sizes.iter().map(word).collect();
                let words = words.unwrap_or_default();
                let sizes = checked_sizes(&words.iter().map(String::as_str).collect::<Vec<_>>());
                let expected = "expected block_sizes from 1, each a power of two times the first";
                sizes.ok_or_else(|| wrong(format!("found [{}], {expected}", words.join(", "))))?
            }
        };
        let key = rows.first().map_or("", |(_, key, _)| key);
        let lines = lines_of(key, text, rows.len());
        let mut names = 0;
        let mut groups = Vec::new();
        for ((kind, key, row), line) in rows.into_iter().zip(lines) {
            let bad = |found: String, expected| {
                SlurmError::in_line(file, line, Unexpected::new(&found, expected))
            };
            let hosts = |key: &str| {
                let list = match row.get(key) {
                    None | Some(Value::Null) => return Ok(Vec::new()),
                    Some(Value::Array(all)) => {
                        let words = all.iter().map(word).collect::<Option<Vec<String>>>();
                        words.map(|words| words.join(","))
                    }
                    Some(one) => word(one),
                };
                let list = list.ok_or_else(|| bad(row.to_string(), "hostlists"))?;
                expand(&list).map_err(|error| SlurmError::in_line(file, line, error))
            };
            let name = row.get(key).and_then(word);
            let name =
                name.ok_or_else(|| bad(row.to_string(), "a switch, block or ring with its name"))?;
            let (children, nodes) = (hosts("children")?, hosts("nodes")?);
            let sizes = match kind {
                GroupKind::Torus => {
                    let dims = dimensions(row);
                    dims.ok_or_else(|| bad(row.to_string(), "dims with x, y and z"))?.to_string()
                }
                _ => String::new(),
            };
            if kind == GroupKind::Torus && row.get("regions").is_some() {
                return Err(bad(name, "nodes in the place of regions"));
            }
            let mut group = SlurmGroup { kind, name, children, nodes, speed: 0, sizes, line };
            for placement in row.get("placements").and_then(Value::as_array).into_iter().flatten() {
                let dims = dimensions(placement);
                group.add_placement(
                    dims.ok_or_else(|| bad(placement.to_string(), "dims with x, y and z"))?,
                );
            }
            names += group.name_count();
            SlurmTopology::check_count(file, line, names)?;
            groups.push(group);
        }
        let mut topology = SlurmTopology::checked(file, groups, block_sizes)?;
        let others: Vec<String> = names_of(all);
        if wanted.is_none() && others.len() > 1 {
            let taken = chosen.get("topology").and_then(word).unwrap_or_default();
            topology.notes.push(format!(
                "{file} has the topologies {}; taken as {taken}: --topology chooses another",
                others.join(", ")
            ));
        }
        Ok(topology)
    }
}

/// The kinds of topologies: their key, that of their list, and that of the name in a row.
const KINDS: [(&str, &str, &str, GroupKind); 4] = [
    ("tree", "switches", "switch", GroupKind::Switch),
    ("block", "blocks", "block", GroupKind::Block),
    ("ring", "rings", "ring", GroupKind::Ring),
    ("torus3d", "toruses", "name", GroupKind::Torus),
];

/// The names of topologies.
fn names_of(all: &[Value]) -> Vec<String> {
    all.iter().map(|it| it.get("topology").and_then(word).unwrap_or_default()).collect()
}

/// The sizes of a torus, or of a part of it.
fn dimensions(row: &Value) -> Option<Dims> {
    let size = |axis| {
        let size = row.get("dims")?.get(axis)?.as_u64().filter(|size| *size > 0)?;
        u32::try_from(size).ok()
    };
    Some(Dims([size("x")?, size("y")?, size("z")?]))
}

/// Most brackets that may be open at once. The parser takes a step for each open one at every word.
const MOST_DEPTH: usize = 64;

/// The line from which on too many brackets are open. Those in texts and comments count too.
fn too_deep(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    let lines = text.lines().zip(1..);
    let mut deep = lines.filter(|(line, _)| {
        line.bytes().any(|byte| {
            match byte {
                b'[' | b'{' => open += 1,
                b']' | b'}' => open = open.saturating_sub(1),
                _ => {}
            }
            open > MOST_DEPTH
        })
    });
    deep.next().map(|(_, line)| line)
}

/// The first line with a sign of anchors and aliases, which no name has.
fn with_anchor(text: &str) -> Option<usize> {
    let mut lines = text.lines().zip(1..);
    let found = lines
        .find(|(line, _)| line.split('#').next().is_some_and(|line| line.contains(['&', '*'])));
    found.map(|(_, line)| line)
}

/// A name, which YAML may take for a number or a truth value.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// The line of each of `count` rows that begin with a key; the numbers of the rows if they are not
/// known.
fn lines_of(key: &str, text: &str, count: usize) -> Vec<usize> {
    let is_row = |line: &str| {
        let line = line.trim_start().trim_start_matches(['-', '{', ' ', '"']);
        let after = line.strip_prefix(key).map(|rest| rest.trim_start_matches(['"', ' ']));
        after.is_some_and(|rest| rest.starts_with(':'))
    };
    let found: Vec<usize> =
        text.lines().zip(1..).filter(|(line, _)| is_row(line)).map(|(_, number)| number).collect();
    if found.len() == count { found } else { (1..=count).collect() }
}
