//! Gathering through a folder that all nodes share.

use super::collect::Gathering;
use super::error::GatherError;
use super::report::{Known, NodeReport};
use crate::cluster::error::ClusterError;
use crate::cluster::inputs::files_in;
use crate::cluster::write::write_file;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use topobroker_layout::header::MAX_SEGMENT_LEN;
use topobroker_reader::internal::bytes_within;

/// Ending of the file with the whole topology of a class.
const CLASS: &str = "class";

/// Mode of these files: they have serial numbers and addresses.
const MODE: u32 = 0o600;

/// Ending of the file with the report of a node.
const NODE: &str = "node";

/// Writes the report of a node into a folder that all nodes share. The first node of a class also
/// writes its whole topology, which the others refer to. Each file becomes visible whole, and a
/// report replaces an earlier one of the same node.
///
/// # Errors
///
/// [`GatherError`] with the file.
pub fn join(folder: &Path, report: &NodeReport) -> Result<(), GatherError> {
    let class = folder.join(format!("{:032x}.{CLASS}", report.class()));
    let sent = match read(&class) {
        Err(GatherError::Read { source, .. }) if source.kind() == ErrorKind::NotFound => {
            // Of two nodes that come at once, one is first.
            match write_file(&class, &report.whole(), MODE, false) {
                Ok(()) | Err(ClusterError::Exists { .. }) => read(&class)?,
                Err(error) => return Err(error.into()),
            }
        }
        sent => sent?,
    };
    let known = Known::read(&sent)?;
    let file = folder.join(format!("{}.{NODE}", report.name().replace('/', "_")));
    Ok(write_file(&file, &report.against(&known), MODE, true)?)
}

/// Reads all reports, segments and XML files of a folder.
///
/// # Errors
///
/// [`GatherError`] with the file.
pub fn read_folder(folder: &Path) -> Result<Gathering, GatherError> {
    let (classes, nodes): (Vec<PathBuf>, Vec<PathBuf>) =
        files_in(folder)?.into_iter().partition(|it| it.extension().is_some_and(|it| it == CLASS));
    let mut gathering = Gathering::new();
    let mut known = Vec::new();
    for file in &classes {
        known.extend(read(file)?);
    }
    gathering.know(Known::read(&known)?);
    for file in nodes {
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let is_report = file.extension().is_some_and(|it| it == NODE);
        let sent = read(&file)?;
        let from = file.display().to_string();
        let name = stem.filter(|_| !is_report);
        match gathering.add(&from, &sent, None) {
            // A file that is no report has the node's name, if its topology has none.
            Err(GatherError::Cluster(ClusterError::NoName { .. })) => {
                gathering.add(&from, &sent, name.as_deref())?;
            }
            added => added?,
        }
    }
    Ok(gathering)
}

fn read(file: &Path) -> Result<Vec<u8>, GatherError> {
    let read = File::open(file).and_then(|file| Ok(bytes_within(MAX_SEGMENT_LEN, file)?));
    read.map_err(|source| GatherError::Read { file: file.display().to_string(), source })
}
