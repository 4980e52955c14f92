//! What tar files hold, unpacked into a folder that goes with its owner: a saved file system, as
//! `hwloc-gather-topology` writes it, files of nodes, or one file.

use crate::output::complain;
use crate::temporary_folder::TemporaryFolder;
use anyhow::{Context, bail, ensure};
use std::ffi::{OsStr, OsString};
use std::fs::Permissions;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use tar::{Archive, EntryType};
use topobroker::file_bytes::FileBytes;

/// Limits of what a tar file holds: ten times the largest saved file system that is known.
const MOST_BYTES: u64 = 1 << 28;
const MOST_ENTRIES: usize = 1 << 18;

/// What cannot be made if this fails.
const FOLDER: &str = "a folder for what the tar file holds";

/// A tar file, unpacked.
pub(crate) struct Unpacked {
    tar: PathBuf,
    folder: PathBuf,
    /// What is of interest in it: the saved file system, the folder of files, or the only file.
    inside: PathBuf,
}

impl Unpacked {
    /// Unpacks a file, if it is a tar file, into a folder that is made for the first one, and is
    /// there as long as its owner.
    pub(crate) fn of(
        file: &Path,
        into: &mut Option<TemporaryFolder>,
    ) -> anyhow::Result<Option<Self>> {
        let name = || file.display().to_string();
        let Some(bytes) = tar_bytes(file) else { return Ok(None) };
        let into = match into {
            Some(into) => into,
            None => into.insert(TemporaryFolder::new().context(FOLDER)?),
        };
        let folder = into.part().context(FOLDER)?;
        unpack(&bytes, &folder).with_context(name)?;
        let mut inside = folder.clone();
        while !is_saved_root(&inside) {
            let Some(only) = only_entry(&inside).with_context(name)? else { break };
            inside = only;
        }
        Ok(Some(Self { tar: file.to_owned(), folder, inside }))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.inside
    }

    /// A text in which the tar file is named, and not the folder.
    pub(crate) fn named(&self, text: &str) -> String {
        let tar = self.tar.display();
        let folder = self.folder.display();
        text.replace(&format!("{folder}/"), &format!("{tar}: "))
            .replace(&folder.to_string(), &tar.to_string())
    }
}

/// Commands that run others, or go on for long: their own words and output are not touched.
const RUN_OTHERS: [&str; 6] = ["run", "bind", "hwloc-bind", "audit", "serve", "job"];

/// If the input of a command line is a tar file, runs this program again with what it holds in
/// place of it, because hwloc takes the folder of a saved file system from the environment alone.
pub(crate) fn run_again(words: &[OsString]) -> anyhow::Result<Option<ExitCode>> {
    let command = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    if RUN_OTHERS.contains(&command) {
        return Ok(None);
    }
    let own = || words.iter().enumerate();
    let is_option = |word: &OsString| word == "-i" || word == "--input";
    let input = own().find_map(|(at, word)| match word.as_bytes().strip_prefix(b"--input=") {
        Some(file) => Some((at, OsStr::from_bytes(file))),
        None if word.as_bytes().starts_with(b"-i") && word.len() > 2 => {
            Some((at, OsStr::from_bytes(word.as_bytes().get(2..)?)))
        }
        None => is_option(word).then(|| Some((at + 1, words.get(at + 1)?.as_os_str())))?,
    });
    let Some((at, file)) = input else { return Ok(None) };
    let mut folder = None;
    let Some(tar) = Unpacked::of(Path::new(file), &mut folder)? else { return Ok(None) };
    ensure!(
        !tar.inside.is_dir() || is_saved_root(&tar.inside),
        "{}: holds several files; `topobroker cluster build` takes those of nodes",
        tar.tar.display()
    );
    let mut words = words.to_vec();
    if let Some(word) = words.get_mut(at) {
        let start = word.len() - file.len();
        *word = OsStr::from_bytes(word.as_bytes().get(..start).unwrap_or_default()).to_owned();
        word.push(&tar.inside);
    }
    // It reads the folder to its end, also if this process is ended.
    folder.iter().try_for_each(TemporaryFolder::keep_for_commands).context(FOLDER)?;
    let mut command = Command::new("/proc/self/exe");
    let child = command.args(words.iter().skip(1)).stderr(Stdio::piped()).spawn();
    let output = child.and_then(std::process::Child::wait_with_output);
    let output = output.context("this program cannot start itself again")?;
    let said = tar.named(&String::from_utf8_lossy(&output.stderr));
    said.lines().for_each(|line| complain(line.strip_prefix("topobroker: ").unwrap_or(line)));
    let code = output.status.code().and_then(|code| u8::try_from(code).ok());
    Ok(Some(code.map_or(ExitCode::FAILURE, ExitCode::from)))
}

/// Whether a file is a tar file, also a compressed one.
pub(crate) fn is_tar(file: &Path) -> bool {
    tar_bytes(file).is_some()
}

/// The bytes of a tar file; `None` of another file.
fn tar_bytes(file: &Path) -> Option<FileBytes> {
    let is_file = std::fs::metadata(file).is_ok_and(|found| found.is_file());
    let bytes = is_file.then(|| FileBytes::open(file, MOST_BYTES).ok())??;
    (bytes.get(257..262) == Some(b"ustar")).then_some(bytes)
}

/// Whether a folder is a saved Linux file system.
pub(crate) fn is_saved_root(folder: &Path) -> bool {
    folder.join("sys").is_dir() || folder.join("proc").is_dir()
}

/// Unpacks files, folders and links. Whatever else there is, is an error.
fn unpack(bytes: &[u8], into: &Path) -> anyhow::Result<()> {
    let mut archive = Archive::new(bytes);
    archive.set_preserve_permissions(false);
    archive.set_preserve_mtime(false);
    archive.set_overwrite(false);
    let (mut left, mut entries) = (MOST_BYTES, 0);
    for entry in archive.entries()? {
        let mut entry = entry?;
        entries += 1;
        ensure!(entries <= MOST_ENTRIES, "holds more than {MOST_ENTRIES} files");
        let kind = entry.header().entry_type();
        if kind == EntryType::XGlobalHeader {
            continue;
        }
        let path = entry.path()?.into_owned();
        let is_known = matches!(
            kind,
            EntryType::Regular
                | EntryType::Continuous
                | EntryType::GNUSparse
                | EntryType::Directory
                | EntryType::Symlink
                | EntryType::Link
        );
        ensure!(is_known, "{}: is neither a file nor a folder nor a link", path.display());
        if path.components().any(|part| part == Component::ParentDir) {
            bail!("{}: leads out of the tar file", path.display());
        }
        let size = entry.size();
        left = left
            .checked_sub(size)
            .with_context(|| format!("holds more than {MOST_BYTES} bytes"))?;
        entry.unpack_in(into)?;
        // Files are put into folders that may be read-only, as those of /sys are.
        let inside: PathBuf =
            path.components().filter(|part| matches!(part, Component::Normal(_))).collect();
        let inside = into.join(inside);
        if std::fs::symlink_metadata(&inside).is_ok_and(|found| found.is_dir()) {
            std::fs::set_permissions(&inside, Permissions::from_mode(0o700))?;
        }
    }
    Ok(())
}

/// The only entry of a folder; `None` if there are several, or if it is a file.
fn only_entry(folder: &Path) -> std::io::Result<Option<PathBuf>> {
    if !folder.is_dir() {
        return Ok(None);
    }
    let mut entries = std::fs::read_dir(folder)?;
    let first = entries.next().transpose()?.map(|entry| entry.path());
    Ok(first.filter(|_| entries.next().is_none()))
}
