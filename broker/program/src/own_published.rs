//! What this user has published here last, so that other shells find it without variables. The keys
//! are in a file of the user's own runtime folder, which is trusted like the daemon's.

use super::output::complain;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::PathBuf;
use topobroker_cluster::write_file;
use topobroker_process::{open_trusted, text_within};
use topobroker_reader::{Adopted, FilePath, Keys, adopt_keys};

/// The folder of topobroker in the user's runtime folder: `$XDG_RUNTIME_DIR`, otherwise
/// `/run/user/UID`. `None` if there is none that is this user's alone.
fn folder() -> Option<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let named = std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty());
    let folder = named.map_or_else(|| PathBuf::from(format!("/run/user/{user}")), PathBuf::from);
    let found = fs::metadata(&folder).ok()?;
    let is_own = found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0;
    (is_own && folder.is_absolute()).then(|| folder.join("topobroker"))
}

/// Remembers the keys of a publication. Without a runtime folder nothing is remembered.
pub(super) fn remember(keys: &Keys) {
    let Some(folder) = folder() else { return };
    let file = Keys::file_in(&FilePath::from(folder.as_path()));
    let written = DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .map_err(anyhow::Error::from)
        .and_then(|()| Ok(write_file(file.as_path(), keys.to_string().as_bytes(), 0o600, true)?));
    if let Err(error) = written {
        complain(&format!("{file}: cannot be written, and other shells need the keys: {error:#}"));
    }
}

/// Adopts what this user has published here last, if it is still there.
pub(super) fn adopt() -> Option<&'static Adopted> {
    /// Limit in bytes: more than a path and two numbers take.
    const MOST: u64 = 8192;
    let file = open_trusted(&Keys::file_in(&FilePath::from(folder()?.as_path()))).ok()?;
    let keys = Keys::from_lines(&text_within(MOST, file).ok()?).ok()?;
    adopt_keys(keys).ok()
}
