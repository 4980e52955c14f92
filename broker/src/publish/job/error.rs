//! Why a job is not added, listed or removed.

use crate::publish::PublishError;
use std::io;
use std::path::PathBuf;
use topobroker_layout::job::{MAX_NAME, MAX_RANKS};
use topobroker_reader::RestrictError;

/// Why a job is not added, listed or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// Its segment cannot be published.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The name cannot be one.
    #[error("job name {found:?}: expected 1 to {MAX_NAME} letters, digits, '.', '_' or '-'")]
    Name {
        /// The name.
        found: String,
    },
    /// There is such a job.
    #[error("job {name:?} exists already as {file}; remove it, or choose another name")]
    Exists {
        /// Name of the job.
        name: String,
        /// Its file.
        file: PathBuf,
    },
    /// There is no such job.
    #[error("there is no job {name:?} over this topology; `topobroker job list` lists them")]
    Missing {
        /// Name of the job.
        name: String,
    },
    /// The view shows another topology.
    #[error("the view of job {name:?} is of another topology than the one it is added to")]
    OtherTopology {
        /// Name of the job.
        name: String,
    },
    /// A rank is not one of the job.
    #[error("rank {rank} {reason}")]
    Rank {
        /// The rank.
        rank: u32,
        /// What is wrong with it.
        reason: String,
    },
    /// More ranks than a job may have.
    #[error("{found} ranks; expected {MAX_RANKS} on a node at most")]
    Ranks {
        /// How many.
        found: usize,
    },
    /// The view cannot be archived.
    #[error(transparent)]
    View(#[from] RestrictError),
    /// The folder of the jobs cannot be read.
    #[error("{folder}: cannot be listed")]
    List {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
}
