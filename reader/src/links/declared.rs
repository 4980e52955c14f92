//! Links that an administrator declares, in a segment next to that of the topology.

use super::graph::{Links, LinksError};
use super::of_topology::parts_of;
use super::parts::{Parts, SwitchModel};
use crate::adopt::{AdoptError, Adopted, FileKey, other_segment};
use crate::topology::Topology;
use alloc::string::String;
use alloc::vec::Vec;
use rustix::io::Errno;
use topobroker_layout::OpenError;
use topobroker_layout::header::{MAX_SEGMENT_LEN, segment_name};
use topobroker_layout::links::{self, ArchivedLinks};
use topobroker_layout::links::{Link, Vertex, VertexId, VertexKind};
use topobroker_process::FilePath;

/// Links that are declared for a node, in addition to what hwloc knows. It is a handle: copy it
/// freely.
#[derive(Clone, Copy)]
pub struct DeclaredLinks<'a> {
    archive: &'a ArchivedLinks,
}

/// Why a process cannot adopt the links that are declared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum AdoptLinksError {
    /// The segment of the links cannot be adopted.
    #[error(transparent)]
    Adopt(#[from] AdoptError),
    /// The links are of another topology than the adopted one.
    #[error(
        "{file}: has links of segment {found}, but this process has adopted {expected}; declare \
         the links again"
    )]
    OtherBase { file: FilePath, found: String, expected: String },
}

impl DeclaredLinks<'static> {
    /// What the name of the file has behind that of the topology.
    pub const ENDING: &'static str = "+links";

    /// The links that are declared for an adopted topology; `None` if there are none, or if the
    /// topology is in a memfd, which has no file next to it. The segment stays mapped for the life
    /// of the process.
    ///
    /// # Errors
    ///
    /// [`AdoptLinksError`].
    pub fn find(base: &'static Adopted) -> Result<Option<Self>, AdoptLinksError> {
        let FileKey::Path(file) = base.keys().file_key() else { return Ok(None) };
        let mut name = Vec::from(file.as_bytes());
        name.extend_from_slice(Self::ENDING.as_bytes());
        let file = FilePath::from_bytes(name);
        let (candidate, bytes) = match other_segment(&file, MAX_SEGMENT_LEN) {
            Err(AdoptError::Open { source, .. }) if source.is(Errno::NOENT) => {
                return Ok(None);
            }
            found => found?,
        };
        let refused = |error| candidate.refused(error);
        let (_, archive) = links::open(bytes).map_err(refused)?;
        if archive.base != base.header().segment_id {
            let (found, expected) = (segment_name(archive.base), base.header().segment_name());
            return Err(AdoptLinksError::OtherBase { file, found, expected });
        }
        let base = base.topology().index.archive;
        links::validate(archive, base).map_err(|error| candidate.refused(error.into()))?;
        Ok(Some(Self { archive }))
    }
}

impl<'a> DeclaredLinks<'a> {
    /// Opens links over a topology, from the bytes of their segment in memory, and checks them.
    ///
    /// # Errors
    ///
    /// [`OpenError`] with the first rule that the bytes break.
    pub fn from_segment(base: Topology<'a>, segment: &'a [u8]) -> Result<Self, OpenError> {
        let (_, archive) = links::open(segment)?;
        links::validate(archive, base.index.archive)?;
        Ok(Self { archive })
    }

    /// Number of links.
    #[must_use]
    pub fn link_count(self) -> usize {
        self.archive.links().len()
    }
}

impl<'a> Topology<'a> {
    /// [`Topology::links`], with links that are declared: they replace links of the same class
    /// between the same vertices. What they do not say, such as a bandwidth, stays as it was known.
    ///
    /// # Errors
    ///
    /// [`LinksError::TooMany`].
    pub fn links_with_declared(
        self,
        switches: SwitchModel,
        declared: DeclaredLinks<'_>,
    ) -> Result<Links<'a>, LinksError> {
        let mut parts = parts_of(self, switches);
        let vertices: Vec<Option<VertexId>> =
            declared.archive.vertices().map(|it| vertex(&mut parts, switches, it)).collect();
        let mut links = Vec::new();
        for link in declared.archive.links() {
            let end = |vertex: VertexId| vertices.get(vertex.index()).copied().flatten();
            let (Some(one), Some(other)) = (end(link.one), end(link.other)) else { continue };
            links.push(Link { one, other, ..link });
        }
        parts.declare(links);
        parts.finish()
    }
}

/// The vertex of a declared one; `None` if its object is hidden.
fn vertex(parts: &mut Parts<'_>, switches: SwitchModel, declared: Vertex) -> Option<VertexId> {
    if let Some(id) = declared.object {
        let object = parts.topology.object(id)?;
        let known = parts.known(object);
        return Some(known.unwrap_or_else(|| match declared.kind {
            VertexKind::NvSwitch => parts.switch(switches, object),
            kind => parts.vertex(kind, object),
        }));
    }
    let known = parts.vertices.iter().position(|it| it.name == declared.name);
    let place = known.unwrap_or_else(|| {
        parts.vertices.push(declared);
        parts.vertices.len() - 1
    });
    VertexId::at(place)
}
