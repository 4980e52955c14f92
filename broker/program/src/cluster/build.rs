//! `topobroker cluster build`: a file out of the files of nodes.

use super::above::Above;
use super::found_files::FoundFiles;
use super::output_file::OutputFile;
use crate::output::complain;
use crate::progress::Progress;
use crate::temporary_folder::TemporaryFolder;
use crate::unpacked::{Unpacked, is_saved_root};
use anyhow::{Context, bail};
use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use topobroker::file_bytes::{COMPRESSED_ENDINGS, FileBytes};
use topobroker_cluster::gather::node_of_report;
use topobroker_cluster::{
    ClusterBuilder, ClusterError, GroupId, NodeFile, Owners, PreparedNode, files_in, prepare_all,
};
use topobroker_process::with_causes;

/// Put the topologies of many nodes into one file. Nodes that are alike are stored once
#[derive(Debug, Args)]
pub(super) struct Build {
    #[command(flatten)]
    file: OutputFile,
    /// Files of nodes: hwloc XML, segments, clusters, folders of such files (also of
    /// hwloc-compress-dir), folders of saved Linux file systems, tar files of these, all also
    /// compressed; NAME=FILE names the node of a file, and @FILE has one input a line (`@-` is
    /// standard input)
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<String>,
    /// Name nodes by their files, without the ending. By default a node's name is its info HostName
    #[arg(long)]
    names_from_files: bool,
    /// Number nodes in the order of the inputs. By default they are numbered by name, and the same
    /// inputs in any order give the same bytes
    #[arg(long)]
    keep_order: bool,
    /// Leave out inputs that cannot be read, with a message. By default they are an error
    #[arg(long)]
    skip_unreadable: bool,
    #[command(flatten)]
    found: FoundFiles,
    #[command(flatten)]
    above: Above,
}

/// Limit of the length of a list of inputs, in bytes.
const MOST_LIST: u64 = 1 << 26;

impl Build {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        // hwloc-assembler takes a first input for the output.
        self.file.check()?;
        let mut found = Found::default();
        self.build(&mut found).map_err(|error| {
            let text = found.unpacked.iter().fold(format!("{error:#}"), |text, it| it.named(&text));
            if found.unpacked.is_empty() { error } else { anyhow::anyhow!(text) }
        })
    }

    fn build(&self, found: &mut Found) -> anyhow::Result<ExitCode> {
        for input in &self.inputs {
            self.add_input(input, found)?;
        }
        let above = self.above.read()?;
        let inputs = found.files.iter().map(|node| node.file.as_path());
        let lists = found.lists.iter().map(PathBuf::as_path);
        self.file.check_inputs(inputs.chain(lists).chain(above.files()))?;
        let mut cluster = ClusterBuilder::new();
        if self.keep_order {
            cluster = cluster.keep_order();
        }
        // Of --keep-order: nodes that were ready before an earlier one, and the next one's number.
        let mut waiting: BTreeMap<usize, Vec<PreparedNode>> = BTreeMap::new();
        let mut next = 0;
        for (root, name) in &found.roots {
            match self.saved(root, name.as_deref()) {
                Err(error) if self.skip_unreadable => complain(&format!("{error:#}; left out")),
                node => cluster.add(GroupId::CLUSTER, node?)?,
            }
        }
        let progress = Progress::of("nodes are read", found.files.len());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        prepare_all(&found.files, threads, |number, prepared| {
            progress.step();
            let nodes = match prepared {
                Err(error) if self.skip_unreadable => {
                    complain(&format!("{}; left out", with_causes(&error)));
                    Vec::new()
                }
                prepared => prepared?,
            };
            waiting.insert(if self.keep_order { number } else { next }, nodes);
            while let Some(nodes) = waiting.remove(&next) {
                next += 1;
                nodes.into_iter().try_for_each(|node| cluster.add(GroupId::CLUSTER, node))?;
            }
            Ok::<(), ClusterError>(())
        })?;
        drop(progress);
        above.add_to(&mut cluster)?;
        self.file.write(cluster)?;
        Ok(ExitCode::SUCCESS)
    }

    fn add_input(&self, input: &str, found: &mut Found) -> anyhow::Result<()> {
        if let Some(list) = input.strip_prefix('@') {
            let bytes = match list {
                "-" => FileBytes::read(std::io::stdin(), MOST_LIST),
                list => FileBytes::open(list.as_ref(), MOST_LIST),
            };
            let bytes = bytes.with_context(|| list.to_owned())?;
            let lines = bytes.text().with_context(|| list.to_owned())?.lines().map(str::trim);
            let inputs = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
            let mut count = 0;
            for line in inputs {
                if line.starts_with('@') {
                    bail!("{list}: has the list {line}; a list cannot have others");
                }
                self.add_input(line, found)?;
                count += 1;
            }
            if count == 0 {
                bail!("{list}: has no inputs");
            }
            found.lists.extend((list != "-").then(|| list.into()));
            return Ok(());
        }
        let (name, file) = match input.split_once('=') {
            // A file may have such a name.
            Some((name, file)) if !Path::new(input).exists() => (Some(name.to_owned()), file),
            _ => (None, input),
        };
        let path = PathBuf::from(file);
        if let Some(tar) = Unpacked::of(&path, &mut found.folder)? {
            if name.is_some() && tar.path().is_dir() && !is_saved_root(tar.path()) {
                bail!("{input}: only one file has a name; {file} has several");
            }
            let inside = tar.path().display().to_string();
            found.unpacked.push(tar);
            let named = name.map_or(inside.clone(), |name| format!("{name}={inside}"));
            return self.add_input(&named, found);
        }
        if is_saved_root(&path) {
            found.roots.push((path, name));
        } else if path.is_dir() {
            if name.is_some() {
                bail!("{input}: only one file has a name; {file} is a folder");
            }
            let files = files_in(&path)?;
            for file in &files {
                found.files.push(self.node_file(file.clone(), None, self.found.owners())?);
            }
            // A folder for each node is what nodes that publish into a shared folder make.
            let folders = if files.is_empty() { folders_in(&path)? } else { Vec::new() };
            if files.is_empty() && folders.is_empty() {
                bail!("{file}: has no files; expected hwloc XML or segments");
            }
            for folder in folders {
                if is_saved_root(&folder) {
                    found.roots.push((folder, None));
                    continue;
                }
                for file in files_in(&folder)? {
                    found.files.push(self.node_file(file, None, self.found.owners())?);
                }
            }
        } else {
            found.files.push(self.node_file(path, name, Owners::Named)?);
        }
        Ok(())
    }

    fn node_file(
        &self,
        file: PathBuf,
        name: Option<String>,
        owners: Owners,
    ) -> anyhow::Result<NodeFile> {
        let stem = || {
            let name = file.file_name().and_then(|name| name.to_str());
            name.map(|name| without_endings(name).to_owned()).with_context(|| {
                format!("{}: its name is not UTF-8, and cannot be a node's", file.display())
            })
        };
        let name = match name {
            None if self.names_from_files => Some(stem()?),
            name => name,
        };
        Ok(NodeFile { file, name, owners })
    }

    /// A node from a saved file system. Another process reads it, because hwloc takes the folder
    /// only from the environment.
    fn saved(&self, root: &Path, name: Option<&str>) -> anyhow::Result<PreparedNode> {
        let input = root.display().to_string();
        let mut command = Command::new("/proc/self/exe");
        command.args(["cluster", "report", "--if", "fsroot", "--input"]).arg(root);
        name.into_iter().for_each(|name| _ = command.args(["--name", name]));
        let output = command.stdin(Stdio::null()).output().with_context(|| input.clone())?;
        if !output.status.success() {
            // The message of the other process begins with its own name and the input.
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.trim().trim_start_matches("topobroker: ");
            bail!("{input}: {}", said.trim_start_matches(&format!("{input}: ")));
        }
        Ok(node_of_report(&input, &output.stdout)?)
    }
}

/// The name of a node's file without its ending, that of a program which compresses, and that of
/// hwloc-compress-dir.
fn without_endings(name: &str) -> &str {
    let packed = COMPRESSED_ENDINGS.iter().find_map(|it| name.strip_suffix(it));
    let name = packed.unwrap_or(name);
    let name =
        name.rfind('.').filter(|dot| *dot > 0).and_then(|dot| name.get(..dot)).unwrap_or(name);
    name.strip_suffix(".diff").unwrap_or(name)
}

/// The folders in a folder, by name, without hidden ones.
fn folders_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let name = || folder.display().to_string();
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(name)? {
        let entry = entry.with_context(name)?;
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if entry.path().is_dir() && !is_hidden {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}

/// What the inputs name.
#[derive(Default)]
struct Found {
    files: Vec<NodeFile>,
    roots: Vec<(PathBuf, Option<String>)>,
    /// Files with lists of inputs.
    lists: Vec<PathBuf>,
    /// The folders of what tar files hold, for as long as they are read.
    unpacked: Vec<Unpacked>,
    /// For what is unpacked.
    folder: Option<TemporaryFolder>,
}
