//! Why a topology of Slurm cannot be used.

use super::hostlist::HostlistError;

/// Why a topology of Slurm cannot be used. Slurm itself ends for most of these.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SlurmError {
    /// The file cannot be read.
    #[error("{file}: cannot be read")]
    Read {
        /// The file.
        file: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A line is not of the format.
    #[error("{file}, line {line}: found {found:?}, expected {expected}")]
    Line {
        /// The file.
        file: String,
        /// Number of the line, from 1.
        line: usize,
        /// What was found.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A file of YAML is not as Slurm's are.
    #[error("{file}: {what}")]
    Yaml {
        /// The file.
        file: String,
        /// What is wrong.
        what: String,
    },
    /// A hostlist is wrong.
    #[error("{file}, line {line}")]
    Hostlist {
        /// The file.
        file: String,
        /// Number of the line.
        line: usize,
        /// What is wrong.
        #[source]
        source: HostlistError,
    },
    /// All lists of a file have too many names together.
    #[error("{file}, line {line}: the file has more than {limit} names up to here")]
    TooMany {
        /// The file.
        file: String,
        /// Number of the line.
        line: usize,
        /// Highest number of names.
        limit: usize,
    },
    /// A switch or block is defined twice.
    #[error("{file}, line {line}: {name:?} is defined already in line {first}")]
    Twice {
        /// The file.
        file: String,
        /// Number of the line.
        line: usize,
        /// The name.
        name: String,
        /// The line of the first definition.
        first: usize,
    },
    /// A switch has both switches and nodes.
    #[error("{file}, line {line}: {name:?} has both; expected either Switches or Nodes")]
    Content {
        /// The file.
        file: String,
        /// Number of the line.
        line: usize,
        /// The name.
        name: String,
    },
    /// A switch is below one that is not defined.
    #[error("{file}, line {line}: {name:?} has the switch {child:?}, which is not defined")]
    Unknown {
        /// The file.
        file: String,
        /// Number of the line.
        line: usize,
        /// The upper switch.
        name: String,
        /// The lower switch.
        child: String,
    },
    /// A switch is below itself.
    #[error("{file}, line {line}: {name:?} is below itself; expected a tree with a root")]
    NoRoot {
        /// The file.
        file: String,
        /// Number of the line.
        line: usize,
        /// One of the switches.
        name: String,
    },
}
