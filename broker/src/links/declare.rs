//! Links that an administrator declares, in a segment next to that of a topology.

use crate::aligned::aligned;
use crate::file_bytes::with_ending;
use crate::publish::{PublishError, Publisher, framed, header_of, mode, named, remove_file};
use std::path::PathBuf;
use topobroker_layout::encode::EncodeError;
use topobroker_layout::header::{self, Header, Kind};
use topobroker_layout::{OpenError, links as layout};
use topobroker_reader::{
    Adopted, FileKey, Scope, Source,
    links::{DeclaredLinks, Links},
};

/// Why links cannot be declared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum DeclareError {
    /// The topology is in a memfd, which has no file next to it.
    #[error("the topology is in a memfd: links can be declared only of one in a file")]
    Memfd,
    /// Links are declared already.
    #[error("{}: links are declared already; forget them first", .file.display())]
    Exists { file: PathBuf },
    /// No links are declared.
    #[error("{}: no links are declared for this topology", .file.display())]
    Missing { file: PathBuf },
    /// Readers would refuse the links.
    #[error("the links cannot be declared")]
    Refused(#[from] OpenError),
    /// The segment cannot be published or removed.
    #[error(transparent)]
    Publish(#[from] PublishError),
}

/// Publishes links next to an adopted topology. `graph` has them, with objects of that topology.
/// Processes that look for links from now on find them.
///
/// # Errors
///
/// [`DeclareError`], with nothing left behind.
pub fn declare(base: &Adopted, graph: &Links<'_>) -> Result<PathBuf, DeclareError> {
    let file = file_of(base)?;
    let base_id = base.header().segment_id;
    let archive = layout::Links::pack(base_id, graph.vertices(), graph.links()).to_bytes();
    let archive = archive.map_err(|error: EncodeError| PublishError::from(error))?;
    let header = Header {
        kind: Kind::Links,
        scope: Scope::Machine,
        source: Source::Loaded,
        size: header::segment_len(archive.len()) as u64,
        ..header_of(Publisher::NONE)?
    };
    let mut segment = framed(&header, &archive)?;
    // What readers would refuse would stand in their way until it is forgotten.
    let mut finished = aligned(&segment);
    header::mark_ready(&mut finished);
    DeclaredLinks::from_segment(base.topology(), &finished)?;
    let published = named::publish_new(&file, &mut segment, mode(false))?;
    published.ok_or(DeclareError::Exists { file })
}

/// Removes the links that are declared for an adopted topology. Processes that have adopted them
/// keep them.
///
/// # Errors
///
/// [`DeclareError`].
pub fn forget(base: &Adopted) -> Result<(), DeclareError> {
    let file = file_of(base)?;
    if remove_file(&file)? { Ok(()) } else { Err(DeclareError::Missing { file }) }
}

fn file_of(base: &Adopted) -> Result<PathBuf, DeclareError> {
    let FileKey::Path(file) = base.keys().file_key() else { return Err(DeclareError::Memfd) };
    Ok(with_ending(file.as_path(), DeclaredLinks::ENDING))
}
