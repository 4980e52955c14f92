//! Why a topology of Slurm cannot be used.

use super::hostlist::HostlistError;
use crate::located::{Located, Unexpected};

/// Why a topology of Slurm cannot be used, and where. Slurm itself ends for most of these.
pub type SlurmError = Located<SlurmErrorKind>;

/// Why a topology of Slurm cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum SlurmErrorKind {
    /// The file cannot be read.
    #[error("cannot be read")]
    Read(#[from] std::io::Error),
    /// A line is not of the format.
    #[error(transparent)]
    Line(#[from] Unexpected),
    /// A file of YAML is not as Slurm's are.
    #[error("{0}")]
    Yaml(String),
    /// A hostlist is wrong.
    #[error(transparent)]
    Hostlist(#[from] HostlistError),
    /// All lists of a file have too many names together.
    #[error("the file has more than {limit} names up to here")]
    TooMany { limit: usize },
    /// A switch or block is defined twice.
    #[error("{name:?} is defined already in line {first}")]
    Twice { name: String, first: usize },
    /// A torus has more or fewer nodes than its sizes say.
    #[error("found {found}, expected {expected}")]
    Torus { found: String, expected: String },
    /// A switch has both switches and nodes.
    #[error("{name:?} has both; expected either Switches or Nodes")]
    Content { name: String },
    /// A switch is above one that is not defined.
    #[error("{name:?} has the switch {child:?}, which is not defined")]
    Unknown { name: String, child: String },
    /// A switch is below itself.
    #[error("{name:?} is below itself; expected a tree with a root")]
    NoRoot { name: String },
}
