//! Why nodes cannot be gathered.

use crate::cluster::error::ClusterError;

/// Why nodes cannot be gathered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatherError {
    /// What a node sent is no report.
    #[error("{from}: sent {found}; expected a report, a segment or hwloc XML")]
    NotAReport {
        /// The node, or where the report is from.
        from: String,
        /// What was found.
        found: String,
    },
    /// A report is damaged.
    #[error("{from}: the report {what}; have it sent again")]
    Damaged {
        /// The node, or where the report is from.
        from: String,
        /// What is wrong.
        what: &'static str,
    },
    /// A report refers to a class whose first node is not known.
    #[error("{from}: is of class {class:032x}, of which no node has told its whole topology")]
    NoBase {
        /// The node, or where the report is from.
        from: String,
        /// The class.
        class: u128,
    },
    /// A node cannot be told.
    #[error("{node}: {reason}")]
    Failed {
        /// The node.
        node: String,
        /// What its process says.
        reason: String,
    },
    /// The exchange with other processes failed.
    #[error("{step} failed: {what}")]
    Exchange {
        /// The step.
        step: &'static str,
        /// What the launcher says.
        what: String,
    },
    /// A node or the cluster cannot be used.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// A file cannot be read.
    #[error("{file}: cannot be read")]
    Read {
        /// The file.
        file: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl GatherError {
    /// A node told only its class where its topology was expected.
    pub(super) fn only_a_class(from: &str) -> Self {
        Self::NotAReport { from: from.to_owned(), found: "only the hash of a class".to_owned() }
    }
}
