//! Links of a node: what vertices and links are, and the archive of those that an administrator
//! declares.

mod archive;
mod kinds;
mod link;

pub use archive::{ArchivedLinks, Links, MAX_LINKS, MAX_VERTICES, open, validate};
pub use kinds::{LinkClass, LinkOrigin, VertexKind};
pub use link::{Link, Vertex, VertexId};
