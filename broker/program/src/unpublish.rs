//! `topobroker unpublish`: withdraws segments.

use super::output::{print, say};
use super::status::with_daemons;
use anyhow::{Context, bail};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker::node::close_all;
use topobroker::node::daemon::{clear_after_killed, is_served, was_killed};
use topobroker::node::status::{self, Published, PublisherState};
use topobroker::publish::SHM_FOLDER;
use topobroker::publish::job::{remove_orphans, sweep_jobs_of};
use topobroker_reader::Keys;

/// Withdraw published segments
///
/// Prints each of them; processes that have adopted them keep them. Without arguments it is the
/// segment that TOPOBROKER_FILE names
#[derive(Debug, Args)]
pub(super) struct Unpublish {
    /// Files of segments, as their keys name them
    #[arg(value_name = "FILE", group = "what")]
    files: Vec<PathBuf>,
    /// All segments of this user in shared memory
    #[arg(long, groups = ["what", "many"])]
    all: bool,
    /// All segments of this user whose publisher is gone, in shared memory and in the daemon's
    /// folder
    #[arg(long, groups = ["what", "many"])]
    stale: bool,
    /// Also withdraw what a daemon serves: it publishes again at its next look
    #[arg(long, conflicts_with = "many")]
    force: bool,
    /// With --all or --stale: only those in this folder
    #[arg(long, value_name = "FOLDER", requires = "many", conflicts_with = "files")]
    folder: Vec<PathBuf>,
}

impl Unpublish {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        if self.all || self.stale {
            self.sweep()?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut files = self.files;
        if files.is_empty() {
            let own = Keys::from_env().ok().and_then(|keys| keys.path().map(PathBuf::from));
            files.push(own.context(
                "TOPOBROKER_FILE is not set; expected FILE..., --all, or --stale: `topobroker \
                 status` lists segments",
            )?);
        }
        for file in &files {
            let name = || file.display().to_string();
            let published = status::read(file).with_context(name)?;
            if let Err(error) = published.header {
                let stays = format!("{}: is no segment, and stays", name());
                return Err(anyhow::Error::from(error).context(stays));
            }
            if !self.force && published.is_announced() && is_served(file) {
                bail!(
                    "{}: a daemon serves it, and would publish it again: stop the daemon, or give \
                     --force",
                    name()
                );
            }
            published.remove()?;
            print_withdrawn(&published)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Removes every segment that the options select, and then returns the first error.
    fn sweep(&self) -> anyhow::Result<()> {
        let me = rustix::process::geteuid().as_raw();
        let all = status::published(&with_daemons(&self.folder))?;
        // Of all folders, because jobs of users are in another one than a daemon's topology.
        let known = all.iter().filter_map(|it| Some(it.header.as_ref().ok()?.segment_name()));
        let known = known.collect();
        let folders = self.folders();
        for folder in &folders {
            remove_orphans(folder, &known).with_context(|| folder.display().to_string())?;
        }
        let folders: Vec<PathBuf> =
            folders.iter().filter_map(|it| it.canonicalize().ok()).collect();
        // A memfd has no name to remove.
        let is_meant = |published: &&Published| {
            let folder = published.file.parent().and_then(|folder| folder.canonicalize().ok());
            folder.is_some_and(|folder| folders.contains(&folder))
        };
        let (own, others): (Vec<_>, Vec<_>) =
            all.iter().filter(is_meant).partition(|it| it.owner == me);
        if own.is_empty() && !others.is_empty() {
            let count = others.len();
            say(&format!("user {me} has published nothing there; {count} of other users stay"));
        }
        let removed = own.into_iter().map(|published| {
            sweep_jobs_of(&published.file)?;
            if !self.covers(published) {
                return Ok(());
            }
            // It is no error if the publisher has removed the segment already.
            published.remove()?;
            print_withdrawn(published)
        });
        let removed = removed.fold(Ok(()), Result::and);
        // Elections whose segment is gone now too.
        close_all();
        folders.iter().for_each(|folder| clear_after_killed(folder));
        removed
    }

    /// The folders in which segments are withdrawn.
    fn folders(&self) -> Vec<PathBuf> {
        let shm = || vec![PathBuf::from(SHM_FOLDER)];
        match (&self.folder[..], self.all) {
            // All segments of a running daemon are in use.
            ([], true) => shm(),
            ([], false) => with_daemons(&shm()),
            (folders, _) => folders.to_vec(),
        }
    }

    /// Whether the options select a segment for removal.
    fn covers(&self, published: &Published) -> bool {
        // Earlier generations in the folder of a daemon are kept for jobs, and are its business.
        let is_left = || {
            let folder = published.file.parent();
            !is_served(&published.file)
                && (!published.is_announced() || folder.is_some_and(was_killed))
        };
        let is_gone = published.publisher == PublisherState::Gone && is_left();
        self.all || is_gone || published.is_abandoned()
    }
}

fn print_withdrawn(published: &Published) -> anyhow::Result<()> {
    print(&format!("withdrawn: {}\n", published.file.display())).map(|_| ())
}
