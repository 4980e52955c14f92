//! Why a cluster cannot be built.

use std::path::PathBuf;
use topobroker_layout::OpenError;
use topobroker_layout::encode::EncodeError;

/// Why a cluster cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// There are no nodes.
    #[error("there are no nodes; expected at least one")]
    Empty,
    /// Two nodes have one name.
    #[error(
        "the node {name:?} is there twice, in {one} and in {other}; give one another name or leave one out"
    )]
    Twice {
        /// The name.
        name: String,
        /// Where the first one is from.
        one: String,
        /// Where the other one is from.
        other: String,
    },
    /// A node has no name.
    #[error("{input}: has no info HostName; name the node")]
    NoName {
        /// The input.
        input: String,
    },
    /// A name is empty, too long, or has a character that names of hosts cannot have.
    #[error(
        "{input}: the name {name:?} cannot be that of a node: expected 1 to 255 bytes without control characters"
    )]
    Name {
        /// The input.
        input: String,
        /// The name.
        name: String,
    },
    /// The archive of a node cannot be used.
    #[error("{input}: the topology cannot be used")]
    Node {
        /// The input.
        input: String,
        /// What is wrong.
        #[source]
        source: OpenError,
    },
    /// A part of a topology is none that a node can be.
    #[error("{input}: the part cannot be a node; expected an object with PUs")]
    Part {
        /// The input.
        input: String,
        /// Why.
        #[source]
        source: topobroker_reader::RestrictError,
    },
    /// An input cannot be read.
    #[error("{input}: cannot be read")]
    Read {
        /// The input.
        input: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// An input is neither a segment nor text.
    #[error("{input}: is neither a segment nor a text in UTF-8; expected hwloc XML or a segment")]
    NotText {
        /// The input.
        input: String,
    },
    /// hwloc cannot load an input.
    #[error("{input}: hwloc cannot load it")]
    Load {
        /// The input.
        input: String,
        /// Why.
        #[source]
        source: topobroker::hwloc::HwlocLoadError,
    },
    /// What hwloc loaded cannot be captured.
    #[error("{input}: the topology cannot be captured")]
    Capture {
        /// The input.
        input: String,
        /// Why.
        #[source]
        source: topobroker::hwloc::CaptureError,
    },
    /// An input is a cluster that cannot be used.
    #[error("{input}: the cluster cannot be used")]
    Cluster {
        /// The input.
        input: String,
        /// Why.
        #[source]
        source: topobroker_reader::cluster::ClusterOpenError,
    },
    /// A fabric cannot be used.
    #[error(transparent)]
    Fabric(#[from] super::fabric::FabricError),
    /// A value of a node is too long.
    #[error("{input}: a text has {found} bytes, expected {limit} at most")]
    LongText {
        /// The input.
        input: String,
        /// Number of bytes.
        found: usize,
        /// Highest number of bytes.
        limit: usize,
    },
    /// There are too many of something.
    #[error("{found} {what}, expected {limit} at most")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A group that is not there.
    #[error("group {found} is not there; there are {count}")]
    NoGroup {
        /// The group.
        found: u32,
        /// Number of groups.
        count: usize,
    },
    /// Groups are nested too deep.
    #[error("groups are nested more than {limit} deep")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// A part cannot be archived.
    #[error("the cluster cannot be written")]
    Encode(#[from] EncodeError),
    /// The cluster cannot get an id.
    #[error(transparent)]
    Publish(#[from] topobroker::publish::PublishError),
    /// The file cannot be written.
    #[error("{}: cannot {step}", .file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// What cannot be done.
        step: &'static str,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file exists.
    #[error("{}: exists; choose another name, or replace it: --force", .file.display())]
    Exists {
        /// The file.
        file: PathBuf,
    },
}
