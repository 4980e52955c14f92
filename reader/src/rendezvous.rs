//! How a process finds the keys of its node's segment, where nobody handed them over.

use crate::environment::var_os;
use crate::error::KeysError;
use crate::keys::{Keys, unquoted};
use crate::pmix_client::pmix_keys;
use crate::trust::open_trusted;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Where the node's daemon keeps what it publishes.
const RUN_FOLDER: &str = "/run/topobroker";
/// Environment variable with another folder than that.
const RUN_FOLDER_VARIABLE: &str = "TOPOBROKER_RUN";
/// File with the keys in it.
const KEYS_FILE: &str = "keys";

impl Keys {
    /// The keys of this process: those of its environment, else those that its PMIx server has, if the
    /// process has initialised PMIx, else those that the node's daemon published. Nothing is loaded
    /// for it: libpmix is asked only where it is in the process already.
    ///
    /// # Errors
    ///
    /// [`KeysError::Missing`] when there are none; of keys in the environment as [`Keys::from_env`].
    pub fn find() -> Result<Self, KeysError> {
        match Self::from_env() {
            Err(missing @ KeysError::Missing { .. }) if !Self::is_in_env() => {
                pmix_keys(Self::PMIX_NAMES).or_else(of_daemon).ok_or(missing)
            }
            found => found,
        }
    }

    /// Names of PMIx keys under which a launcher hands over the three keys.
    pub const PMIX_NAMES: [&str; 3] = ["topobroker.file", "topobroker.addr", "topobroker.size"];

    /// The folder in which the node's daemon publishes: `TOPOBROKER_RUN`, else `/run/topobroker`.
    #[must_use]
    pub fn run_folder() -> PathBuf {
        let named = var_os(RUN_FOLDER_VARIABLE).filter(|folder| !folder.is_empty());
        named.map_or_else(|| PathBuf::from(RUN_FOLDER), PathBuf::from)
    }

    /// The file in the daemon's folder that has the keys of what is published now.
    #[must_use]
    pub fn file_in(folder: &Path) -> PathBuf {
        folder.join(KEYS_FILE)
    }

    /// Keys from the three lines that `Display` writes, among others.
    ///
    /// # Errors
    ///
    /// As [`Keys::from_env`].
    pub fn from_lines(text: &str) -> Result<Self, KeysError> {
        Self::from_values(|name| {
            let mut lines = text.lines().filter_map(|line| line.split_once('='));
            lines.find(|line| line.0 == name).map(|line| unquoted(line.1).into())
        })
    }
}

/// The keys in the daemon's file, if it is one to trust: anybody may make a folder somewhere.
fn of_daemon() -> Option<Keys> {
    /// More than a path and two numbers take.
    const MOST: u64 = 8192;
    let file = open_trusted(&Keys::file_in(&Keys::run_folder())).ok()?;
    let mut text = String::new();
    file.take(MOST).read_to_string(&mut text).ok()?;
    Keys::from_lines(&text).ok()
}
