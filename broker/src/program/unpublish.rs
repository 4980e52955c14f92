//! `topobroker unpublish`: withdraws segments.

use super::status::with_daemons;
use crate::node::election::close_all;
use crate::node::status::{self, Published, PublisherState};
use crate::publish::SHM_FOLDER;
use crate::publish::job::{remove_orphans, sweep_beside};
use anyhow::Context;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Withdraw published segments; processes that have adopted them keep them
#[derive(Debug, Args)]
#[group(required = true)]
pub(super) struct Unpublish {
    /// Files of segments, as their keys name them
    #[arg(value_name = "FILE", group = "what")]
    files: Vec<PathBuf>,
    /// All segments of this user in shared memory, and in the folders of --folder
    #[arg(long, group = "what")]
    all: bool,
    /// All segments of this user whose publisher is gone: in shared memory, in the daemon's folder,
    /// and in those of --folder
    #[arg(long, group = "what")]
    stale: bool,
    /// Look into this folder too
    #[arg(long, value_name = "FOLDER", conflicts_with = "files")]
    folder: Vec<PathBuf>,
}

impl Unpublish {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        for file in &self.files {
            let name = || file.display().to_string();
            let published = status::read(file, 0).with_context(name)?;
            if let Err(error) = published.header {
                let stays = format!("{}: is no segment, and stays", name());
                return Err(anyhow::Error::from(error).context(stays));
            }
            published.remove()?;
        }
        if self.all || self.stale {
            self.sweep()?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Removes every segment that the options select, and then returns the first error.
    fn sweep(&self) -> anyhow::Result<()> {
        let me = rustix::process::geteuid().as_raw();
        // --all leaves the daemon's folder out, because all segments of a running daemon are in
        // use.
        let folders = if self.all { self.folder.clone() } else { with_daemons(&self.folder) };
        let found = status::published(&folders)?;
        let known = found.iter().filter_map(|it| Some(it.header.as_ref().ok()?.segment_name()));
        let known = known.collect();
        for folder in folders.iter().map(PathBuf::as_path).chain([Path::new(SHM_FOLDER)]) {
            remove_orphans(folder, &known).with_context(|| folder.display().to_string())?;
        }
        close_all();
        let found = found.into_iter();
        // A memfd has no name to remove.
        let named = |published: &Published| !published.file.starts_with("/proc");
        let meant = found.filter(|published| published.owner == me && named(published));
        let removed = meant.map(|published| {
            sweep_beside(&published.file)?;
            // It is no error if the publisher has removed the segment already.
            if self.covers(&published) { Ok(published.remove()?) } else { Ok(()) }
        });
        removed.fold(Ok(()), Result::and)
    }

    /// Whether the options select a segment for removal.
    fn covers(&self, published: &Published) -> bool {
        let is_gone = published.publisher == PublisherState::Gone && !published.is_announced();
        self.all || is_gone || published.is_abandoned()
    }
}
