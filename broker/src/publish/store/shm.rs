//! A segment in POSIX shared memory.

use super::named;
use crate::publish::error::{PublishError, failed};
use shared_memory::{ShmemConf, ShmemError};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Where Linux keeps POSIX shared memory.
pub use topobroker_reader::ballot::SHM_FOLDER as FOLDER;

/// Publishes a segment as a shared-memory object, which on Linux is a file in [`FOLDER`].
pub(in crate::publish) fn publish(
    name: &str,
    segment: &mut [u8],
    mode: u32,
) -> Result<PathBuf, PublishError> {
    let path = Path::new(FOLDER).join(name);
    let length = segment.len();
    let Some(file) = named::open_nameless(Path::new(FOLDER), length)? else {
        return publish_renamed(name, segment, mode);
    };
    named::fill(&file, &path, length, mode, |file| named::write_segment(file, segment))?;
    named::give_name(&file, &path, length)?;
    Ok(path)
}

/// Publishes a segment if the file system has no files without names: the object is made under a
/// temporary name, filled, then renamed.
fn publish_renamed(name: &str, segment: &mut [u8], mode: u32) -> Result<PathBuf, PublishError> {
    let temporary_name = format!("{name}.new");
    let temporary = Path::new(FOLDER).join(&temporary_name);
    let path = Path::new(FOLDER).join(name);
    let length = segment.len();
    // If a later step fails, dropping `object` removes it.
    let mut object =
        ShmemConf::new().os_id(&temporary_name).size(length).create().map_err(|error| {
            failed(Path::new(FOLDER), "make a file in the folder", length)(io(error))
        })?;
    // Opened again, because the object gives no descriptor to reserve space with. Without reserved
    // space, writing to a mapping is a SIGBUS if memory is short.
    let file = named::reopen(&temporary).map_err(failed(&temporary, "open the file", length))?;
    named::fill(&File::from(file), &path, length, mode, |file| {
        named::write_segment(file, segment)
    })?;
    named::rename(&temporary, &path).map_err(failed(&path, "give the file its name", length))?;
    object.set_owner(false);
    Ok(path)
}

fn io(error: ShmemError) -> io::Error {
    match error {
        ShmemError::MapCreateFailed(code)
        | ShmemError::MapOpenFailed(code)
        | ShmemError::UnknownOsError(code) => {
            io::Error::from_raw_os_error(i32::try_from(code).unwrap_or(0))
        }
        other => io::Error::other(other),
    }
}
