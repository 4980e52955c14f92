//! Checks a saved file system before hwloc reads it: hwloc would wait for ever for a FIFO, read a
//! device without end, and follow links out of the root.

use super::error::HwlocLoadError;
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::fs::DirEntry;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The folders that hwloc reads.
const READ: [&str; 2] = ["sys", "proc"];

/// Most files in them. The largest machines have a few hundred thousand.
const MOST_FILES: usize = 1 << 22;

/// Checks that a saved root has only folders, files, and links that stay in it.
pub(super) fn check(root: &Path) -> Result<(), HwlocLoadError> {
    // The root of this system has nothing outside of it, and its files are the kernel's.
    if root.canonicalize().is_ok_and(|root| root == Path::new("/")) {
        return Ok(());
    }
    let input = root.display().to_string();
    let failed = |source| HwlocLoadError::Read { input: input.clone(), source };
    std::fs::metadata(root.join("sys"))
        .map_err(|source| HwlocLoadError::Read { input: format!("{input}/sys"), source })?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(CWD, root, flags, Mode::empty());
    let opened = opened.map_err(|error| failed(error.into()))?;
    let mut open: Vec<PathBuf> = READ.map(PathBuf::from).into();
    let mut seen = 0;
    while let Some(folder) = open.pop() {
        let entries = match std::fs::read_dir(root.join(&folder)) {
            // What this user may not read, hwloc does not read either.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => continue,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let file = folder.join(entry.file_name());
            seen += 1;
            if seen > MOST_FILES {
                return Err(HwlocLoadError::TooManyFiles { input, limit: MOST_FILES });
            }
            let found = kind(&opened, &entry, &file).map_err(failed)?;
            match found {
                FileKind::Folder if !is_of_process(&file) => open.push(file),
                FileKind::Folder | FileKind::File => {}
                FileKind::Other(found) => {
                    let file = file.display().to_string();
                    return Err(HwlocLoadError::Special { input, file, found });
                }
            }
        }
    }
    Ok(())
}

enum FileKind {
    Folder,
    File,
    /// What hwloc must not read.
    Other(&'static str),
}

fn kind(root: &OwnedFd, entry: &DirEntry, file: &Path) -> io::Result<FileKind> {
    let found = entry.file_type()?;
    if found.is_dir() {
        return Ok(FileKind::Folder);
    }
    if found.is_file() {
        return Ok(FileKind::File);
    }
    if !found.is_symlink() {
        return Ok(FileKind::Other("no file and no folder"));
    }
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let target = rustix::fs::openat2(root, file, flags, Mode::empty(), ResolveFlags::BENEATH);
    let target = match target {
        Err(Errno::XDEV) => return Ok(FileKind::Other("a link out of the root; make it relative")),
        // A link to nothing, or a kernel without the call.
        Err(_) => return Ok(FileKind::File),
        Ok(target) => target,
    };
    let stat = rustix::fs::fstat(&target)?;
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        // What is in a folder is looked at in its own place.
        FileType::RegularFile | FileType::Directory | FileType::Symlink => FileKind::File,
        _ => FileKind::Other("a link to no file and no folder"),
    })
}

/// Whether this is the folder of a process, of which hwloc reads nothing.
fn is_of_process(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().as_encoded_bytes();
    file.parent() == Some(Path::new("proc")) && name.iter().all(u8::is_ascii_digit)
}
