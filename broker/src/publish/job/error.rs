//! Why a job is not added, listed or removed.

use crate::publish::PublishError;
use std::io;
use std::path::PathBuf;
use topobroker_layout::job::{MAX_NAME, MAX_RANKS};
use topobroker_reader::RestrictError;

/// Why a job is not added, listed or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum JobError {
    /// The segment of the job cannot be published.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The name is not a valid name of a job.
    #[error("job name {found:?}: expected 1 to {MAX_NAME} letters, digits, '.', '_' or '-'")]
    Name { found: String },
    /// A job with this name exists already.
    #[error("job {name:?} exists already as {file}; remove it, or choose another name")]
    Exists { name: String, file: PathBuf },
    /// There is no job with this name.
    #[error("there is no job {name:?} over this topology; `topobroker job list` lists them")]
    Missing { name: String },
    /// The view is of another topology.
    #[error("the view of job {name:?} is of another topology than the one it is added to")]
    OtherTopology { name: String },
    /// A rank has PUs that are not the job's, or is given twice.
    #[error("rank {rank} {reason}")]
    Rank { rank: u32, reason: String },
    /// More ranks than a job may have.
    #[error("{found} ranks; expected {MAX_RANKS} on a node at most")]
    Ranks { found: usize },
    /// The view cannot be archived.
    #[error(transparent)]
    View(#[from] RestrictError),
    /// The folder of the jobs cannot be read.
    #[error("{folder}: cannot be listed")]
    List { folder: PathBuf, source: io::Error },
}
