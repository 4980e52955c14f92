//! How a process finds the keys of its node's segment, where nobody handed them over.

use super::environment::var_os;
use super::error::KeysError;
use super::file_key::FileKey;
use super::keys::{Keys, unquoted};
use super::open::open_trusted;
use super::pmix_client::pmix_keys;
use std::io::{self, Read};
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
    /// [`KeysError::Missing`] when there are none, [`KeysError::Daemon`] when the daemon's are not to be trusted; of keys
    /// in the environment as [`Keys::from_env`].
    pub fn find() -> Result<Self, KeysError> {
        match Self::from_env() {
            Err(missing @ KeysError::Missing { .. }) if !Self::is_in_env() => {
                Self::elsewhere(None)?.ok_or(missing)
            }
            found => found,
        }
    }

    /// The keys that the PMIx server of this process has, else those of the node's daemon, but for those of a file that
    /// is not there.
    pub(crate) fn elsewhere(missing: Option<&FileKey>) -> Result<Option<Self>, KeysError> {
        let is_other = |keys: &Self| Some(keys.file_key()) != missing;
        match pmix_keys(Self::PMIX_NAMES).filter(is_other) {
            Some(keys) => Ok(Some(keys)),
            None => Ok(of_daemon(&Self::run_folder())?.filter(is_other)),
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

    /// The keys that a daemon has put into a folder, if they are there and to be trusted.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Option<Self> {
        of_daemon(folder).ok().flatten()
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

/// The keys in the daemon's file, if there is one: it must be one to trust, because anybody may make a folder somewhere.
fn of_daemon(folder: &Path) -> Result<Option<Keys>, KeysError> {
    /// More than a path and two numbers take.
    const MOST: u64 = 8192;
    let path = Keys::file_in(folder);
    let refused = |source: io::Error| KeysError::Daemon { file: path.clone(), source };
    let file = match open_trusted(&path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(refused(error)),
    };
    let mut text = String::new();
    file.take(MOST).read_to_string(&mut text).map_err(refused)?;
    let keys = Keys::from_lines(&text)?;
    // What the daemon publishes is beside its keys, wherever the folder is mounted here.
    let name = keys.file().and_then(Path::file_name);
    Ok(Some(match name {
        Some(name) => Keys::new(FileKey::Path(folder.join(name)), keys.address(), keys.size()),
        None => keys,
    }))
}

/// Whether there is no such file, rather than one that cannot be used.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
