//! Writes the file of a cluster, whole or not at all.

use super::error::ClusterError;
use rustix::fs::OFlags;
use rustix::process::geteuid;
use std::fs::{File, Metadata, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Writes bytes to a file with a mode. It becomes visible whole. A file that exists is an error,
/// unless it is to be replaced; processes that have adopted the old one keep it. To a device, and
/// to a FIFO of this user or of root, the bytes are written, and it stays what it is.
///
/// # Errors
///
/// [`ClusterError::Exists`], [`ClusterError::Write`]; nothing is left behind.
pub fn write_file(
    file: &Path,
    bytes: &[u8],
    mode: u32,
    is_to_replace: bool,
) -> Result<(), ClusterError> {
    let failed = |step| move |source| ClusterError::Write { file: file.to_owned(), step, source };
    if is_written_in_place(file) {
        let mut opened = File::options()
            .write(true)
            .custom_flags(OFlags::NOCTTY.bits().cast_signed())
            .open(file)
            .map_err(failed("open it"))?;
        // Another file may have got this name meanwhile.
        let found = opened.metadata().map_err(failed("open it"))?;
        if !is_stream(&found) {
            return Err(ClusterError::Exists { file: file.to_owned() });
        }
        return opened.write_all(bytes).map_err(failed("write it"));
    }
    let folder = match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut written =
        tempfile::NamedTempFile::new_in(folder).map_err(failed("make a file in its folder"))?;
    written.write_all(bytes).map_err(failed("write it"))?;
    written
        .as_file()
        .set_permissions(Permissions::from_mode(mode))
        .map_err(failed("set its mode"))?;
    // So that after a crash the file has its bytes or does not exist.
    written.as_file().sync_all().map_err(failed("write it to the disk"))?;
    let persisted = match is_to_replace {
        true => written.persist(file),
        false => written.persist_noclobber(file),
    };
    match persisted {
        Ok(_) => match File::open(folder).and_then(|folder| folder.sync_all()) {
            // Some file systems cannot do it for folders.
            Err(error) if error.kind() != ErrorKind::InvalidInput => {
                Err(failed("write its folder to the disk")(error))
            }
            _ => Ok(()),
        },
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
            Err(ClusterError::Exists { file: file.to_owned() })
        }
        Err(error) => Err(failed("give it its name")(error.error)),
    }
}

/// Whether [`write_file`] writes to what is there: a device, or a FIFO of this user or of root.
#[must_use]
pub fn is_written_in_place(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| is_stream(&found))
}

fn is_stream(found: &Metadata) -> bool {
    let kind = found.file_type();
    let is_own = [0, geteuid().as_raw()].contains(&found.uid());
    kind.is_char_device() || (kind.is_fifo() && is_own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_device_and_a_fifo_are_written_to_and_stay_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).unwrap();
        let reader = std::thread::spawn({
            let fifo = fifo.clone();
            move || {
                let mut text = String::new();
                File::open(fifo).unwrap().read_to_string(&mut text).unwrap();
                text
            }
        });
        write_file(&fifo, b"bytes", 0o644, true).unwrap();
        assert_eq!(reader.join().unwrap(), "bytes");
        let link = folder.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        write_file(&link, b"bytes", 0o644, false).unwrap();
        assert!(link.is_symlink() && !Path::new("/dev/null").is_file());
    }
}
