//! Reads files of fabrics, whose format their lines tell.

use super::error::FabricError;
use super::graph::FabricGraph;
use super::{iblinkinfo, ibnetdiscover, name_map, ports_report};
use std::collections::BTreeMap;
use std::path::Path;
use topobroker::file_bytes::FileBytes;

/// Maximum length of a file, in bytes: about ten times what the largest fabrics need.
const MOST: u64 = 1 << 28;

impl FabricGraph {
    /// Adds what `ibnetdiscover`, `ibnetdiscover -p` or `iblinkinfo --line` printed. `file` is for
    /// errors.
    ///
    /// # Errors
    ///
    /// [`FabricError`] with file and line.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), FabricError> {
        self.begin(file);
        let has = |is_line: fn(&str) -> bool| text.lines().any(is_line);
        if has(ports_report::is_line) {
            ports_report::read(self, file, text)
        } else if has(ibnetdiscover::is_line) {
            ibnetdiscover::read(self, file, text)
        } else if has(iblinkinfo::is_line) {
            iblinkinfo::read(self, file, text)
        } else {
            Err(FabricError::Format { file: file.to_owned() })
        }?;
        self.check()
    }
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
    let failed = |source| FabricError::Read { file: name.clone(), source };
    let text = FileBytes::open(file, MOST).map_err(failed)?.lossy_text().into_owned();
    Ok((name, text))
}
