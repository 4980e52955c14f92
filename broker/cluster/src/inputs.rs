//! Files of nodes: hwloc XML, segments, and other clusters.

use super::error::ClusterError;
use super::prepared_node::PreparedNode;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use topobroker::description::describe;
use topobroker::file_bytes::{FileBytes, Owners};
use topobroker::hwloc::{self, Input, LoadOptions, Plugins};
use topobroker_layout::description::Description;
use topobroker_layout::encode::to_bytes;
use topobroker_layout::header::{Header, Kind, MAGIC, MAX_CLUSTER_LEN};
use topobroker_reader::Archive;
use topobroker_reader::cluster::Cluster;
use topobroker_reader::text::xml;

/// A file with a node, and the name that the node is to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeFile {
    /// The file: hwloc XML of version 1 or 2, what `hwloc-compress-dir` has kept of it, a segment, or another
    /// cluster, of which all nodes are taken.
    pub file: PathBuf,
    /// Name of the node; `None` is the info `HostName` of its root.
    pub name: Option<String>,
}

/// How many prepared nodes may wait to be added, so that the memory for them has a limit.
const MOST_WAITING: usize = 64;

/// Reads files in `threads` threads and hands their nodes to `add`, in the order in which they are
/// ready. `add` ends everything by returning an error. `owners` is whose files are read where others may make some.
///
/// # Errors
///
/// The error that `add` returns.
pub fn prepare_all<E: Send>(
    files: &[NodeFile],
    threads: usize,
    owners: Owners,
    mut add: impl FnMut(usize, Result<Vec<PreparedNode>, ClusterError>) -> Result<(), E>,
) -> Result<(), E> {
    // Unloading and loading hwloc's plugins for each file takes longer than reading the file.
    let _plugins = Plugins::hold();
    let next = AtomicUsize::new(0);
    let (send, receive) = sync_channel(MOST_WAITING);
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, files.len().max(1)) {
            let (next, send) = (&next, send.clone());
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(number) else { break };
                    // An error means that nobody waits for nodes any more.
                    if send.send((number, prepare(file, owners))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        let result = receive.iter().try_for_each(|(number, nodes)| add(number, nodes));
        // Threads that wait to send would never end.
        drop(receive);
        result
    })
}

/// Reads a file and prepares its nodes: one, or all of another cluster.
///
/// # Errors
///
/// [`ClusterError`], with the file.
pub fn prepare(node: &NodeFile, owners: Owners) -> Result<Vec<PreparedNode>, ClusterError> {
    let input = node.file.display().to_string();
    let name = node.name.as_deref();
    let read = |source| ClusterError::Read { input: input.clone(), source };
    let bytes = FileBytes::open_found(&node.file, MAX_CLUSTER_LEN, owners).map_err(read)?;
    if bytes.starts_with(&MAGIC) {
        return match Header::read(&bytes).map(|header| header.kind) {
            Ok(Kind::Cluster) => nodes_of_cluster(&bytes, &input),
            _ => PreparedNode::of_segment(&bytes, name, &input).map(|node| vec![node]),
        };
    }
    let text = bytes.text().map_err(|_| ClusterError::NotText { input: input.clone() })?;
    let node = match text.contains("<topologydiff") {
        true => of_differences(text, node, owners, &input),
        false => PreparedNode::of_xml(bytes.to_vec(), name, &input),
    };
    Ok(vec![node?])
}

/// A node of which `hwloc-compress-dir` has kept what differs from another node in its folder.
fn of_differences(
    text: &str,
    node: &NodeFile,
    owners: Owners,
    input: &str,
) -> Result<PreparedNode, ClusterError> {
    let reference = hwloc::reference(text).ok().flatten();
    let reference =
        reference.and_then(|name| Some(node.file.with_file_name(Path::new(&name).file_name()?)));
    let reference =
        reference.ok_or_else(|| ClusterError::NoReference { input: input.to_owned() })?;
    let bytes = FileBytes::open_found(&reference, MAX_CLUSTER_LEN, owners);
    let reference = bytes.and_then(|bytes| bytes.text().map(str::to_owned));
    let reference =
        reference.map_err(|source| ClusterError::Read { input: input.to_owned(), source })?;
    let patched = hwloc::patch(&Input::XmlText(reference), text, false)
        .map_err(|source| ClusterError::Differences { input: input.to_owned(), source })?;
    let archive = to_bytes(&patched)?;
    let archive = Archive::open(&archive);
    let archive =
        archive.map_err(|source| ClusterError::Node { input: input.to_owned(), source })?;
    // Loaded as its file would have been: nodes that are alike are then one class.
    PreparedNode::of_xml(xml::export(archive.topology()).into_bytes(), node.name.as_deref(), input)
}

impl PreparedNode {
    /// Prepares a node from hwloc XML.
    ///
    /// # Errors
    ///
    /// [`ClusterError`], with the input.
    pub fn of_xml(xml: Vec<u8>, name: Option<&str>, input: &str) -> Result<Self, ClusterError> {
        let text = String::from_utf8(xml)
            .map_err(|_| ClusterError::NotText { input: input.to_owned() })?;
        Self::of_archive(to_bytes(&imported(&Input::XmlText(text), input)?)?, name, input)
    }
}

/// What hwloc loads from an input, which errors call `name`.
pub(super) fn imported(input: &Input, name: &str) -> Result<Description, ClusterError> {
    hwloc::import(input, &LoadOptions::default())
        .map_err(|source| ClusterError::Import { input: name.to_owned(), source })
}

/// All nodes of another cluster, by the names that they have there.
fn nodes_of_cluster(bytes: &[u8], input: &str) -> Result<Vec<PreparedNode>, ClusterError> {
    let failed = |source| ClusterError::Cluster { input: input.to_owned(), source };
    let cluster = Cluster::open(bytes).map_err(failed)?;
    let prepared = cluster.nodes().map(|node| {
        let opened = node.open().map_err(failed)?;
        let archive = to_bytes(&describe(opened.archive().topology()))?;
        let prepared = PreparedNode::of_archive(archive, Some(node.name()), input)?;
        Ok(prepared.with_boot(node.boot()))
    });
    prepared.collect()
}

/// The files in a folder, by name, without hidden ones. Folders in it are left out.
///
/// # Errors
///
/// [`ClusterError::Read`].
pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>, ClusterError> {
    let input = folder.display().to_string();
    let read = |source| ClusterError::Read { input: input.clone(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(read)? {
        let entry = entry.map_err(read)?;
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        // Who reads the file says what is wrong with it.
        let is_file = std::fs::metadata(entry.path()).map_or(true, |found| found.is_file());
        if is_file && !is_hidden {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}
