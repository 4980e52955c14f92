//! `topology.yaml`, which newer Slurms read in place of `topology.conf`.

use super::error::SlurmError;
use super::groups::{SlurmGroup, SlurmTopology};
use super::hostlist::expand;
use serde_json::Value;
use std::fs::File;
use std::path::Path;
use topobroker_reader::GroupKind;
use topobroker_reader::internal::text_within;

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
    let text = File::open(file).and_then(|file| Ok(text_within(MOST, file)?)).map_err(failed)?;
    SlurmTopology::from_yaml(&name, &text)
}

impl SlurmTopology {
    /// Parses the text of a `topology.yaml`. `file` is for errors.
    ///
    /// # Errors
    ///
    /// [`SlurmError::Yaml`], or what is wrong with the tree.
    pub fn from_yaml(file: &str, text: &str) -> Result<Self, SlurmError> {
        let wrong = |what: String| SlurmError::Yaml { file: file.to_owned(), what };
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
        let groups: Result<Vec<SlurmGroup>, SlurmError> = rows
            .into_iter()
            .zip(1..)
            .map(|((kind, key, row), line)| {
                let text = |key: &str| row.get(key).and_then(Value::as_str);
                let hosts =
                    |key: &str| {
                        expand(text(key).unwrap_or_default()).map_err(|source| {
                            SlurmError::Hostlist { file: file.to_owned(), line, source }
                        })
                    };
                let name = text(key).ok_or_else(|| wrong(format!("row {line} has no {key}")))?;
                let (children, nodes) = (hosts("children")?, hosts("nodes")?);
                Ok(SlurmGroup { kind, name: name.to_owned(), children, nodes, speed: 0, line })
            })
            .collect();
        SlurmTopology::checked(file, groups?)
    }
}
