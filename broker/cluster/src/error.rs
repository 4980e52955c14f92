//! Why a cluster cannot be built.

use std::path::PathBuf;
use topobroker_layout::OpenError;
use topobroker_layout::encode::EncodeError;

/// Why a cluster cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ClusterError {
    /// There are no nodes.
    #[error("there are no nodes; expected at least one")]
    Empty,
    /// Two nodes have one name.
    #[error(
        "the node {name:?} is there twice, in {one} and in {other}; give one another name or \
         leave one out"
    )]
    Twice { name: String, one: String, other: String },
    /// A node has no name.
    #[error("{input}: has no info HostName; name the node")]
    NoName { input: String },
    /// A name is empty, too long, or has a character that names of hosts cannot have.
    #[error(
        "{input}: the name {name:?} cannot be that of a node: expected 1 to 255 bytes without \
         control characters"
    )]
    Name { input: String, name: String },
    /// The archive of a node cannot be used.
    #[error("{input}: the topology cannot be used")]
    Node {
        input: String,
        #[source]
        source: OpenError,
    },
    /// A part of a topology is none that a node can be.
    #[error("{input}: the part cannot be a node; expected an object with PUs")]
    Part {
        input: String,
        #[source]
        source: topobroker_reader::RestrictError,
    },
    /// An input cannot be read.
    #[error("{input}: cannot be read")]
    Read {
        input: String,
        #[source]
        source: std::io::Error,
    },
    /// An input is neither a segment nor text.
    #[error("{input}: is neither a segment nor a text in UTF-8; expected hwloc XML or a segment")]
    NotText { input: String },
    /// What differs from another node cannot be applied to it.
    #[error(
        "{input}: the differences cannot be applied to the file that they name, in the same folder"
    )]
    Differences {
        input: String,
        #[source]
        source: topobroker::hwloc::ImportError,
    },
    /// Differences do not say what they differ from.
    #[error(
        "{input}: the differences name no file that they were made for; expected refname, as \
         hwloc-diff writes"
    )]
    NoReference { input: String },
    /// The topology of an input cannot be imported.
    #[error("{input}: hwloc cannot load it")]
    Import {
        input: String,
        #[source]
        source: topobroker::hwloc::ImportError,
    },
    /// An input is a cluster that cannot be used.
    #[error("{input}: the cluster cannot be used")]
    Cluster {
        input: String,
        #[source]
        source: topobroker_reader::cluster::ClusterOpenError,
    },
    /// A fabric cannot be used.
    #[error(transparent)]
    Fabric(#[from] super::fabric::FabricError),
    /// A value of a node is too long.
    #[error("{input}: a text has {found} bytes, expected {limit} at most")]
    LongText { input: String, found: usize, limit: usize },
    /// There are too many of something.
    #[error("{found} {what}, expected {limit} at most")]
    TooMany { what: &'static str, found: usize, limit: usize },
    /// A group that is not there.
    #[error("group {found} is not there; there are {count}")]
    NoGroup { found: u32, count: usize },
    /// Groups are nested too deep.
    #[error("groups are nested more than {limit} deep")]
    TooDeep { limit: usize },
    /// A part cannot be archived.
    #[error("the cluster cannot be written")]
    Encode(#[from] EncodeError),
    /// The cluster cannot get an id.
    #[error(transparent)]
    Publish(#[from] topobroker::publish::PublishError),
    /// The file cannot be written.
    #[error("{}: cannot {step}", .file.display())]
    Write {
        file: PathBuf,
        step: &'static str,
        #[source]
        source: std::io::Error,
    },
    /// The file exists.
    #[error("{}: exists; choose another name, or replace it: --force", .file.display())]
    Exists { file: PathBuf },
}
