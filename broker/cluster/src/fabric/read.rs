//! Reads files of fabrics, whose format follows from their lines.

use super::error::{FabricError, FabricErrorKind};
use super::graph::FabricGraph;
use super::{iblinkinfo, iblinkinfo_blocks, ibnetdiscover, name_map, ports_report};
use crate::located::Located;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use topobroker::file_bytes::FileBytes;

/// Maximum length of a file, in bytes: about ten times what the largest fabrics need.
const MOST: u64 = 1 << 28;

impl FabricGraph {
    /// Adds what `ibnetdiscover` or `iblinkinfo` printed, with or without `-p` and `--line`.
    /// Warnings of the tools between are counted. `file` is for errors.
    ///
    /// # Errors
    ///
    /// [`FabricError`] with file and line.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), FabricError> {
        self.begin(file);
        let warnings = text.lines().filter(|line| is_warning(line)).count();
        self.warnings += warnings;
        let kept = |line| if is_warning(line) { "" } else { line };
        let own: String;
        let text = match warnings {
            0 => text,
            _ => {
                own = text.lines().map(kept).collect::<Vec<_>>().join("\n");
                &own
            }
        };
        let has = |is_line: fn(&str) -> bool| text.lines().any(is_line);
        if has(ports_report::is_line) {
            ports_report::read(self, file, text)
        } else if has(ibnetdiscover::is_line) {
            ibnetdiscover::read(self, file, text)
        } else if has(iblinkinfo::is_line) {
            iblinkinfo::read(self, file, text)
        } else if has(iblinkinfo_blocks::is_line) {
            iblinkinfo_blocks::read(self, file, text)
        } else {
            Err(Located::in_file(file, FabricErrorKind::Format))
        }?;
        self.check()
    }
}

/// Whether a line is a warning of the InfiniBand tools, which they mix with what they print: of
/// their library `ibwarn: [1234] mad_rpc: ...`, and of a file of their own
/// `src/query_smp.c:199; ...`.
fn is_warning(line: &str) -> bool {
    let is_of_file = |line: &str| {
        let file = line.split(':').next().unwrap_or_default();
        file.starts_with("src/") && file.ends_with(".c")
    };
    ["ibwarn:", "ibpanic:"].iter().any(|start| line.starts_with(start)) || is_of_file(line)
}

/// Reads the descriptions of a fabric: one file for each subnet.
///
/// # Errors
///
/// [`FabricError`] with file and line.
pub fn read_fabric(files: &[impl AsRef<Path>]) -> Result<FabricGraph, FabricError> {
    let mut graph = FabricGraph::default();
    for file in files {
        let (name, text) = read(file.as_ref())?;
        graph.add(&name, &text)?;
    }
    Ok(graph)
}

/// Reads a node name map: names of switches and ports by GUID.
///
/// # Errors
///
/// [`FabricError`] with file and line.
pub fn read_name_map(file: &Path) -> Result<BTreeMap<u64, String>, FabricError> {
    let (name, text) = read(file)?;
    name_map::read(&name, &text)
}

/// Names of devices may be in any encoding.
fn read(file: &Path) -> Result<(String, String), FabricError> {
    let name = file.display().to_string();
    let failed = |error: io::Error| Located::in_file(&name, error);
    let text = FileBytes::open(file, MOST).map_err(failed)?.lossy_text().into_owned();
    Ok((name, text))
}
