//! `topology.yaml`, which newer Slurms read in place of `topology.conf`.

use super::error::SlurmError;
use super::groups::{SlurmGroup, SlurmTopology};
use super::hostlist::expand;
use serde_json::Value;
use std::path::Path;
use topobroker::file_bytes::FileBytes;
use topobroker_reader::cluster::GroupKind;

/// Maximum length of a file, in bytes.
const MOST: u64 = 1 << 26;

/// Reads a `topology.yaml`: the topology that is the default of the cluster, else the first one.
///
/// # Errors
///
/// [`SlurmError`].
pub fn read_yaml(file: &Path) -> Result<SlurmTopology, SlurmError> {
    let name = file.display().to_string();
    let failed = |source| SlurmError::Read { file: name.clone(), source };
    let bytes = FileBytes::open(file, MOST).map_err(failed)?;
    SlurmTopology::from_yaml(&name, bytes.text().map_err(failed)?)
}

impl SlurmTopology {
    /// Parses the text of a `topology.yaml`. `file` is for errors.
    ///
    /// # Errors
    ///
    /// [`SlurmError::Yaml`], or what is wrong with the tree.
    pub fn from_yaml(file: &str, text: &str) -> Result<Self, SlurmError> {
        let wrong = |what: String| SlurmError::Yaml { file: file.to_owned(), what };
        if let Some(line) = too_deep(text) {
            return Err(wrong(format!(
                "line {line}: more than {MOST_DEPTH} brackets are open; expected a list of topologies"
            )));
        }
        let all: Value = serde_yaml_ng::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let all = all.as_array().ok_or_else(|| wrong("expected a list of topologies".into()))?;
        let is_default =
            |it: &&Value| it.get("cluster_default").and_then(Value::as_bool) == Some(true);
        let chosen = all.iter().find(is_default).or(all.first());
        let chosen = chosen.ok_or_else(|| wrong("the list of topologies is empty".into()))?;
        let list = |kind: &str, of: &str| chosen.get(kind)?.get(of)?.as_array();
        let rows: Vec<(GroupKind, &str, &Value)> = if let Some(switches) = list("tree", "switches")
        {
            switches.iter().map(|it| (GroupKind::Switch, "switch", it)).collect()
        } else if let Some(blocks) = list("block", "blocks") {
            blocks.iter().map(|it| (GroupKind::Block, "block", it)).collect()
        } else if let Some(rings) = list("ring", "rings") {
            rings.iter().map(|it| (GroupKind::Group, "ring", it)).collect()
        } else if chosen.get("flat").is_some() {
            Vec::new()
        } else {
            return Err(wrong("expected tree, block, ring or flat in the topology".into()));
        };
        let key = rows.first().map_or("", |(_, key, _)| key);
        let lines = lines_of(key, text, rows.len());
        let mut names = 0;
        let mut groups = Vec::new();
        for ((kind, key, row), line) in rows.into_iter().zip(lines) {
            let bad = |found: String, expected| SlurmError::Line {
                file: file.to_owned(),
                line,
                found: found.chars().take(80).collect(),
                expected,
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
                expand(&list).map_err(|source| SlurmError::Hostlist {
                    file: file.to_owned(),
                    line,
                    source,
                })
            };
            let name = row.get(key).and_then(word);
            let name =
                name.ok_or_else(|| bad(row.to_string(), "a switch, block or ring with its name"))?;
            let (children, nodes) = (hosts("children")?, hosts("nodes")?);
            let group = SlurmGroup { kind, name, children, nodes, speed: 0, line };
            names += group.name_count();
            SlurmTopology::check_count(file, line, names)?;
            groups.push(group);
        }
        SlurmTopology::checked(file, groups)
    }
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

/// A name, which YAML may take for a number or a truth value.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// The line of each of `count` rows that begin with a key; the numbers of the rows if they cannot be
/// told.
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
