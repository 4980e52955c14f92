//! Why nodes cannot be gathered.

use crate::error::ClusterError;

/// Most bytes of the archive of a node: more than ten times that of a machine with 2,048 PUs.
pub const MAX_REPORT: usize = 1 << 22;

/// Why nodes cannot be gathered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum GatherError {
    /// What a node sent is no report.
    #[error("{from}: sent {found}; expected a report, a segment or hwloc XML")]
    NotAReport { from: String, found: String },
    /// A report is damaged.
    #[error("{from}: the report {what}; have it sent again")]
    Damaged { from: String, what: &'static str },
    /// A node sent more than any machine has to send.
    #[error(
        "{from}: its topology has {found} bytes; expected at most {MAX_REPORT}, more than ten \
         times what the largest machines have"
    )]
    TooLarge { from: String, found: usize },
    /// Two nodes say that they have one name. Neither is taken.
    #[error("{other}: says that it is the node {name:?}, as {from} does; neither is taken")]
    SameName { name: String, from: String, other: String },
    /// A report has another name than what its sender is known by.
    #[error("{from}: says that it is the node {found:?}; expected {expected:?}")]
    OtherName { from: String, found: String, expected: String },
    /// A report refers to a class whose first node is not known.
    #[error("{from}: is of class {class:032x}, whose whole topology was not reported by any node")]
    NoBase { from: String, class: u128 },
    /// A node cannot be reported.
    #[error("{node}: {reason}")]
    Failed { node: String, reason: String },
    /// The exchange with other processes failed.
    #[error("{step} failed: {what}")]
    Exchange { step: &'static str, what: String },
    /// A node or the cluster cannot be used.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// A file cannot be read.
    #[error("{file}: cannot be read")]
    Read {
        file: String,
        #[source]
        source: std::io::Error,
    },
}

impl GatherError {
    /// A node sent only its class where its topology was expected.
    pub(super) fn only_a_class(from: &str) -> Self {
        Self::NotAReport { from: from.to_owned(), found: "only the hash of a class".to_owned() }
    }
}
