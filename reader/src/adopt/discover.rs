//! Finds the keys of the node's segment: in the environment, in PMIx, or in the daemon's folder.

use super::error::KeysError;
use super::file_key::FileKey;
use super::keys::{Keys, unquoted};
use super::pmix_client::pmix_keys;
use topobroker_process::{FileError, FilePath, open_trusted, text_within, variable};

/// Default folder of the node's daemon.
const RUN_FOLDER: &str = "/run/topobroker";
/// Environment variable that names another folder than [`RUN_FOLDER`].
const RUN_FOLDER_VARIABLE: &str = "TOPOBROKER_RUN";
/// Name of the file with the keys in that folder.
const KEYS_FILE: &str = "keys";

impl Keys {
    /// The keys of this process: those in its environment, otherwise those of its PMIx server, if
    /// the process has initialised PMIx, otherwise those that the node's daemon published. Nothing
    /// is loaded: libpmix is asked only if it is already in the process.
    ///
    /// # Errors
    ///
    /// [`KeysError::Missing`] if there are no keys, or only some in the environment;
    /// [`KeysError::Daemon`] if the daemon's file cannot be used; [`KeysError::Malformed`] if a key
    /// is malformed.
    pub fn find() -> Result<Self, KeysError> {
        match Self::from_env() {
            Err(missing @ KeysError::Missing { .. }) if !Self::is_in_env() => {
                Self::elsewhere(None)?.ok_or(missing)
            }
            found => found,
        }
    }

    /// Keys from a source other than the environment: the PMIx server of this process, otherwise
    /// the node's daemon. Skips the keys of `missing`, a file that does not exist.
    pub(crate) fn elsewhere(missing: Option<&FileKey>) -> Result<Option<Self>, KeysError> {
        let is_other = |keys: &Self| Some(keys.file_key()) != missing;
        match pmix_keys(Self::PMIX_NAMES).filter(is_other) {
            Some(keys) => Ok(Some(keys)),
            None => Ok(of_daemon(&Self::run_folder())?.filter(is_other)),
        }
    }

    /// PMIx names of the three keys: file, address and size.
    pub const PMIX_NAMES: [&str; 3] = ["topobroker.file", "topobroker.addr", "topobroker.size"];

    /// The folder in which the node's daemon publishes: `TOPOBROKER_RUN`, otherwise
    /// `/run/topobroker`.
    #[must_use]
    pub fn run_folder() -> FilePath {
        let named = variable(RUN_FOLDER_VARIABLE).filter(|folder| !folder.is_empty());
        named.map_or_else(|| FilePath::from(RUN_FOLDER), FilePath::from_bytes)
    }

    /// The keys that a daemon has written to a folder; `None` if there are none or they cannot be
    /// used.
    #[must_use]
    pub fn in_folder(folder: &FilePath) -> Option<Self> {
        of_daemon(folder).ok().flatten()
    }

    /// Path of the file in the daemon's folder that has the keys of the newest segment.
    #[must_use]
    pub fn file_in(folder: &FilePath) -> FilePath {
        folder.join(KEYS_FILE)
    }

    /// Reads the three lines that `Display` writes. Other lines are ignored.
    ///
    /// # Errors
    ///
    /// [`KeysError::Missing`] if a line is missing, otherwise the errors of [`Keys::parse`].
    pub fn from_lines(text: &str) -> Result<Self, KeysError> {
        Self::from_values(|name| {
            let mut lines = text.lines().filter_map(|line| line.split_once('='));
            lines.find(|line| line.0 == name).map(|line| unquoted(line.1).into())
        })
    }
}

/// The keys in the daemon's file, if it exists. The file must be trusted, because anybody can make
/// a folder.
fn of_daemon(folder: &FilePath) -> Result<Option<Keys>, KeysError> {
    /// Limit in bytes: more than a path and two numbers take.
    const MOST: u64 = 8192;
    let path = Keys::file_in(folder);
    let refused = |source: FileError| KeysError::Daemon { file: path.clone(), source };
    let file = match open_trusted(&path) {
        Ok(file) => file,
        Err(error) if error.is_absent() => return Ok(None),
        Err(error) => return Err(refused(error)),
    };
    let text = text_within(MOST, file).map_err(refused)?;
    let keys = Keys::from_lines(&text)?;
    // The segment is next to the keys, even if the folder is mounted at another place here.
    let name = keys.file().and_then(FilePath::file_name);
    Ok(Some(match name {
        Some(name) => Keys::new(FileKey::Path(folder.join(name)), keys.address(), keys.size()),
        None => keys,
    }))
}
