//! Files of nodes: hwloc XML, segments, and other clusters.

use super::error::ClusterError;
use super::prepared_node::PreparedNode;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use topobroker::description::describe;
use topobroker::file_bytes::{COMPRESSED_ENDINGS, FileBytes, Owners, with_ending};
use topobroker::hwloc::{self, ImportError, Input, LoadOptions, Plugins, import_archives};
use topobroker_layout::description::Description;
use topobroker_layout::encode::{AlignedVec, to_bytes};
use topobroker_layout::header::{Header, Kind, MAGIC, MAX_CLUSTER_LEN};
use topobroker_reader::Archive;
use topobroker_reader::cluster::Cluster;
use topobroker_reader::text::xml;

/// A file with a node, and the name that the node is to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeFile {
    /// The file: hwloc XML of version 1 or 2, what `hwloc-compress-dir` has kept of it, a segment,
    /// or another cluster, of which all nodes are taken.
    pub file: PathBuf,
    /// Name of the node; `None` is the info `HostName` of its root.
    pub name: Option<String>,
    /// Whose file it may be, if others may make files in its folder.
    pub owners: Owners,
}

/// How many prepared nodes may wait to be added, so that the memory for them has a limit.
const MOST_WAITING: usize = 64;

/// Reads files in `threads` threads and hands their nodes to `add`, in the order in which they are
/// ready. `add` ends everything by returning an error.
///
/// # Errors
///
/// The error that `add` returns.
pub fn prepare_all<E: Send>(
    files: &[NodeFile],
    threads: usize,
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
                    let first = next.fetch_add(BATCH, Ordering::Relaxed);
                    let end = files.len().min(first.saturating_add(BATCH));
                    let Some(batch) = files.get(first..end).filter(|it| !it.is_empty()) else {
                        break;
                    };
                    // An error means that no thread waits for nodes any more.
                    if (first..).zip(prepare_batch(batch)).any(|it| send.send(it).is_err()) {
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

/// How many files are read by one child process.
const BATCH: usize = 16;

/// Most bytes of XML of which a child process reads several: more than hwloc writes for 4096 PUs.
const MOST_IN_BATCH: usize = 4 << 20;

/// Prepares the nodes of some files. Those that are XML are read by one child process.
fn prepare_batch(files: &[NodeFile]) -> Vec<Result<Vec<PreparedNode>, ClusterError>> {
    let mut prepared = Vec::with_capacity(files.len());
    let (mut places, mut texts) = (Vec::new(), Vec::new());
    for (place, node) in files.iter().enumerate() {
        prepared.push(read(node).map(|read| match read {
            FileRead::Nodes(nodes) => nodes,
            FileRead::Xml(text) => {
                places.push(place);
                texts.push((node.file.display().to_string(), text));
                Vec::new()
            }
        }));
    }
    for (place, archive) in places.into_iter().zip(import_archives(texts, &LoadOptions::default()))
    {
        if let (Some(node), Some(prepared)) = (files.get(place), prepared.get_mut(place)) {
            *prepared = node_of(archive, node.name.as_deref(), &node.file.display().to_string())
                .map(|node| vec![node]);
        }
    }
    prepared
}

/// Reads a file and prepares its nodes: one, or all of another cluster.
///
/// # Errors
///
/// [`ClusterError`], with the file.
pub fn prepare(node: &NodeFile) -> Result<Vec<PreparedNode>, ClusterError> {
    let input = node.file.display().to_string();
    match read(node)? {
        FileRead::Nodes(nodes) => Ok(nodes),
        FileRead::Xml(text) => {
            PreparedNode::of_xml(text.into_bytes(), node.name.as_deref(), &input).map(|it| vec![it])
        }
    }
}

/// What is in a file.
enum FileRead {
    Nodes(Vec<PreparedNode>),
    Xml(String),
}

fn read(node: &NodeFile) -> Result<FileRead, ClusterError> {
    let input = node.file.display().to_string();
    let name = node.name.as_deref();
    let read = |source| ClusterError::Read { input: input.clone(), source };
    let bytes = FileBytes::open_found(&node.file, MAX_CLUSTER_LEN, node.owners).map_err(read)?;
    if bytes.starts_with(&MAGIC) {
        let nodes = match Header::read(&bytes).map(|header| header.kind) {
            Ok(Kind::Cluster) => nodes_of_cluster(&bytes, &input),
            _ => PreparedNode::of_segment(&bytes, name, &input).map(|node| vec![node]),
        };
        return nodes.map(FileRead::Nodes);
    }
    let text = bytes.text().map_err(|_| ClusterError::NotText { input: input.clone() })?;
    let node = match text.contains("<topologydiff") {
        true => of_differences(text, node, &input),
        // Large ones alone: all that wait for a child are in memory.
        false if text.len() > MOST_IN_BATCH => PreparedNode::of_xml(bytes.to_vec(), name, &input),
        false => return Ok(FileRead::Xml(text.to_owned())),
    };
    node.map(|node| FileRead::Nodes(vec![node]))
}

/// The node of an archive that was imported.
fn node_of(
    archive: Result<AlignedVec, ImportError>,
    name: Option<&str>,
    input: &str,
) -> Result<PreparedNode, ClusterError> {
    let archive =
        archive.map_err(|source| ClusterError::Import { input: input.to_owned(), source })?;
    PreparedNode::of_archive(archive, name, input)
}

/// A node of which `hwloc-compress-dir` has kept what differs from another node in its folder.
fn of_differences(text: &str, node: &NodeFile, input: &str) -> Result<PreparedNode, ClusterError> {
    let reference = hwloc::reference(text).ok().flatten();
    let reference =
        reference.and_then(|name| Some(node.file.with_file_name(Path::new(&name).file_name()?)));
    let reference =
        reference.ok_or_else(|| ClusterError::NoReference { input: input.to_owned() })?;
    let file = if reference.exists() { reference } else { compressed(reference) };
    let bytes = FileBytes::open_found(&file, MAX_CLUSTER_LEN, node.owners);
    let text_of = bytes.and_then(|bytes| bytes.text().map(str::to_owned));
    let reference = text_of
        .map_err(|source| ClusterError::Read { input: file.display().to_string(), source })?;
    let patched = hwloc::patch(&Input::XmlText(reference), text, false)
        .map_err(|source| ClusterError::Differences { input: input.to_owned(), source })?;
    let archive = to_bytes(&patched)?;
    let archive = Archive::open(&archive);
    let archive =
        archive.map_err(|source| ClusterError::Node { input: input.to_owned(), source })?;
    // Loaded as its file would have been: nodes that are alike are then one class.
    PreparedNode::of_xml(xml::export(archive.topology()).into_bytes(), node.name.as_deref(), input)
}

/// A file that was compressed after the differences from it were made; the same one if there is
/// none.
fn compressed(file: PathBuf) -> PathBuf {
    let mut endings = COMPRESSED_ENDINGS.into_iter().map(|ending| with_ending(&file, ending));
    endings.find(|it| it.exists()).unwrap_or(file)
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
