//! Whose files are read if they are found in a folder and not named.

use clap::Args;
use topobroker::file_bytes::Owners;

/// Which files of folders are read.
#[derive(Debug, Args)]
pub(super) struct FoundFiles {
    /// Take files of any user from folders that others may write to. By default only those of this
    /// user, of root and of the owner of the folder are read there; links there are never followed
    #[arg(long)]
    any_owner: bool,
}

impl FoundFiles {
    pub(super) fn owners(&self) -> Owners {
        if self.any_owner { Owners::Any } else { Owners::Trusted }
    }
}
