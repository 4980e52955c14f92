//! The index: an archive and an overlay, with the values that every query needs looked up once. Its
//! methods are arithmetic on numbers of objects and ranges of PUs; they know no
//! [`Object`](crate::Object).

mod common_ancestor;
mod extent;
mod index;
mod levels;
mod neighbours;
mod numa_nodes;
mod objects_of_pus;
mod pu_numbering;
mod pus;
mod regular;
mod sets;
mod stored_set;
mod strings;
mod tree;
mod visibility;
mod visible_part;
mod words;

pub(crate) use extent::Extent;
pub(crate) use index::Index;
pub(crate) use neighbours::{LogicalPus, PusOfSet, neighbours};
pub(crate) use objects_of_pus::{is_within, overlap};
pub(crate) use pu_numbering::PuNumbering;
pub(crate) use regular::block_of;
pub(crate) use stored_set::StoredSet;
pub(crate) use visible_part::VisiblePart;
pub(crate) use words::Words;
