//! Gathering through a folder that all nodes share.

use super::collect::{Added, Gathering, Sent};
use super::error::GatherError;
use super::report::{Known, NodeReport};
use crate::error::ClusterError;
use crate::file_name::file_name;
use crate::inputs::files_in;
use crate::write::write_file;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use topobroker::file_bytes::{FileBytes, Owners};
use topobroker_layout::header::MAX_SEGMENT_LEN;

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
    let file = folder.join(file_name(report.name(), NODE));
    let own = |file| read(file, Owners::Trusted);
    let sent = match own(&class) {
        Err(GatherError::Read { source, .. }) if source.kind() == ErrorKind::NotFound => {
            // Of two nodes that come at once, one is first.
            match write_file(&class, &report.whole(), MODE, false) {
                Ok(()) | Err(ClusterError::Exists { .. }) => own(&class)?,
                Err(error) => return Err(error.into()),
            }
        }
        // Somebody else has made it: this node refers to nothing of theirs.
        Err(GatherError::Read { source, .. }) if source.kind() == ErrorKind::PermissionDenied => {
            return Ok(write_file(&file, &report.whole(), MODE, true)?);
        }
        sent => sent?,
    };
    let known = Known::read(&class.display().to_string(), &sent)?;
    Ok(write_file(&file, &report.against(&known), MODE, true)?)
}

/// Reads all reports, segments and XML files of a folder. A file that cannot be used keeps no other
/// one out. `owners` is whose files are read if others may make some in the folder.
///
/// # Errors
///
/// [`GatherError`] if the folder cannot be read.
pub fn read_folder(folder: &Path, owners: Owners) -> Result<Gathering, GatherError> {
    let (classes, nodes): (Vec<PathBuf>, Vec<PathBuf>) =
        files_in(folder)?.into_iter().partition(|it| it.extension().is_some_and(|it| it == CLASS));
    let mut gathering = Gathering::new();
    for file in &classes {
        let known =
            read(file, owners).and_then(|sent| gathering.know(&file.display().to_string(), &sent));
        if let Err(error) = known {
            gathering.fail(None, &error);
        }
    }
    // By the names that they say they have, because not everybody in the folder may say the truth.
    let mut others: BTreeMap<String, Vec<(String, Sent)>> = BTreeMap::new();
    for file in nodes {
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let is_report = file.extension().is_some_and(|it| it == NODE);
        let from = file.display().to_string();
        let name = stem.as_deref().filter(|_| !is_report);
        let sent = read(&file, owners).and_then(|sent| match Sent::read(&from, &sent, None) {
            // A file that is no report has the node's name, if its topology has none.
            Err(GatherError::Cluster(ClusterError::NoName { .. })) => {
                Sent::read(&from, &sent, name)
            }
            read => read,
        });
        let added = sent.and_then(|sent| {
            if !is_report {
                others.entry(sent.name().to_owned()).or_default().push((from.clone(), sent));
                return Ok(());
            }
            let expected = file_name(sent.name(), NODE);
            if file.file_name() != Some(expected.as_ref()) {
                let (found, expected) = (sent.name().to_owned(), stem.clone().unwrap_or_default());
                return Err(GatherError::OtherName { from: from.clone(), found, expected });
            }
            add(&mut gathering, &from, sent)
        });
        if let Err(error) = added {
            gathering.fail(stem.as_deref().filter(|_| is_report), &error);
        }
    }
    for (name, mut same) in others {
        let last = same.pop();
        let Some((from, sent)) = last else { continue };
        if let Some((first, _)) = same.first() {
            let error = GatherError::SameName { name, from: first.clone(), other: from };
            gathering.fail(None, &error);
            continue;
        }
        if let Err(error) = add(&mut gathering, &from, sent) {
            gathering.fail(None, &error);
        }
    }
    Ok(gathering)
}

fn add(gathering: &mut Gathering, from: &str, sent: Sent) -> Result<(), GatherError> {
    match gathering.take(from, sent)? {
        Added::Node => Ok(()),
        Added::Class(_) => Err(GatherError::only_a_class(from)),
    }
}

fn read(file: &Path, owners: Owners) -> Result<FileBytes, GatherError> {
    let read = FileBytes::open_found(file, MAX_SEGMENT_LEN, owners);
    read.map_err(|source| GatherError::Read { file: file.display().to_string(), source })
}
