//! The library that `run --guard` and `audit` preload into the processes of a command.

use anyhow::{Context, bail};
use std::ffi::OsString;
use std::path::PathBuf;

/// Environment variable of the dynamic loader.
pub(super) const PRELOAD: &str = "LD_PRELOAD";

/// Environment variable that turns the guard off with the value 0.
pub(super) const GUARD_VARIABLE: &str = "TOPOBROKER_GUARD";

/// Value for `LD_PRELOAD`: the guard, then the libraries that are preloaded already.
pub(super) fn preload() -> anyhow::Result<OsString> {
    let mut libraries = library()?.into_os_string();
    if let Some(others) = std::env::var_os(PRELOAD).filter(|others| !others.is_empty()) {
        libraries.push(":");
        libraries.push(others);
    }
    Ok(libraries)
}

/// Environment variable that names the file of the guard.
const LIBRARY: &str = "TOPOBROKER_GUARD_LIBRARY";

/// Finds the guard: the file that the environment names, otherwise the library that is installed
/// with this program, otherwise the library that was built next to it.
pub(super) fn library() -> anyhow::Result<PathBuf> {
    if let Some(named) = std::env::var_os(LIBRARY).filter(|named| !named.is_empty()) {
        let named = PathBuf::from(named);
        return named.canonicalize().with_context(|| format!("{LIBRARY}={}", named.display()));
    }
    let program = std::env::current_exe().context("the path of this program")?;
    let folder = program.parent().context("the folder of this program")?;
    let places = [
        folder.join("../lib/topobroker/libtopobroker-guard.so"),
        folder.join("libtopobroker_guard.so"),
    ];
    match places.iter().find(|place| place.is_file()) {
        Some(place) => Ok(place.canonicalize()?),
        None => bail!(
            "{}: there is no library of the hwloc guard, which `cargo install` does not bring; \
             scripts/install installs it, or build it in a checkout with `cargo build --release \
             -p topobroker-guard` and name it in {LIBRARY}",
            places.map(|place| place.display().to_string()).join(", ")
        ),
    }
}
