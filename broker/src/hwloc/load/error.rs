//! Why a topology cannot be loaded.

use crate::hwloc::version::library_version;
use std::io;
use topobroker_layout::archive::INDEX_LIMIT;

/// Why a topology cannot be loaded. Every message names the input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum HwlocLoadError {
    /// The file cannot be read.
    #[error("{input}: cannot be read")]
    Read { input: String, source: io::Error },
    /// The file is not well-formed XML.
    #[error("{input}: is not XML: {reason}, at byte {position}")]
    NotXml { input: String, reason: String, position: u64 },
    /// The XML has text before it.
    #[error(
        "{input}: line {line} is {found:?}, which is no XML: remove what is before the first <"
    )]
    TextBefore { input: String, line: usize, found: String },
    /// The file is XML, but not hwloc's.
    #[error(
        "{input}: is XML with root element <{found}>, expected <topology> or <root> as hwloc writes"
    )]
    NotTopology { input: String, found: String },
    /// An XML format that this hwloc does not know.
    #[error(
        "{input}: is hwloc XML version {found}, which hwloc {hwloc} of this process cannot load; \
         use hwloc 2.12 or later for version 3, or export it again for this one (lstopo \
         --export-xml-flags v2)"
    )]
    XmlVersion { input: String, found: String, hwloc: String },
    /// A synthetic description with a word that hwloc does not know.
    #[error(
        "synthetic description {input:?}: {word:?} at position {position}: {reason}; expected \
         words such as Package:2"
    )]
    Synthetic { input: String, word: String, position: usize, reason: &'static str },
    /// The environment variable `HWLOC_FSROOT` does not name the file system root.
    #[error(
        "{input}: HWLOC_FSROOT is {found:?}; hwloc takes the root from the environment, so set \
         HWLOC_FSROOT={input} before this program starts"
    )]
    Fsroot { input: String, found: String },
    /// A saved file system has what hwloc must not read.
    #[error("{input}: {file} is {found}; expected files, folders, and links that stay in it")]
    Special { input: String, file: String, found: &'static str },
    /// A saved file system has more files than any machine.
    #[error("{input}: has more than {limit} files in sys and proc")]
    TooManyFiles { input: String, limit: usize },
    /// An object has an OS index that is too high for an archive, or a PU has none.
    #[error(
        "{input}: has a {object} with OS index {found:?}; expected an index below {INDEX_LIMIT}"
    )]
    Index { input: String, object: String, found: String },
    /// The XML declares entities, with which hwloc's parser takes files or memory without end.
    #[error(
        "{input}: declares a document type of its own; remove what is in brackets in <!DOCTYPE"
    )]
    Declarations { input: String },
    /// The tree of objects is none that hwloc writes.
    #[error("{input}: the {object} {rule}; export the topology again with lstopo")]
    Tree { input: String, object: String, rule: String },
    /// hwloc does not know some flags.
    #[error("hwloc {} of this process does not know all flags of {found:#x}", library_version())]
    Flags { found: u64 },
    /// hwloc refuses the topology and reports no reason.
    #[error(
        "{input}: hwloc cannot load the topology, and does not say why; expected a Machine with \
         PUs and at least one NUMA node, each with its sets"
    )]
    Unexplained { input: String },
    /// hwloc reports an error.
    #[error("{input}: hwloc cannot {step}")]
    Hwloc { input: String, step: &'static str, source: io::Error },
}
