//! Adopts the node's shared hwloc topology, once per process, and reads it in place.
//!
//! A launcher publishes the topology of its node and hands three keys to every process: file,
//! address and size. [`adopt`] finds them in the environment, in PMIx or in the folder of the
//! node's daemon, maps the segment read-only, checks every byte, and keeps it for the life of the
//! process. Every later call, from any thread or library, returns the same [`Adopted`].
//!
//! ```no_run
//! let node = topobroker_reader::adopt()?.topology();
//! println!("the node has {} PUs", node.root().pus().map_or(0, |pus| pus.len()));
//! // All of the node is published. This is the part that this process may use.
//! let mine = topobroker_reader::jobs::effective_view()?;
//! for pu in mine.topology().objects_with_type(topobroker_reader::ObjectType::PU) {
//!     println!("PU L#{} P#{:?}", pu.logical_index(), pu.os_index());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! The crate needs an allocator and libc. The feature `std`, which is on by default, adds only
//! conversions from and to types of the standard library.
#![cfg_attr(not(test), no_std)]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod adopt;
mod archive;
#[cfg(feature = "std")]
pub mod ballot;
pub mod cluster;
pub mod devices;
pub mod groups;
mod index;
pub mod jobs;
pub mod links;
mod locality;
mod object;
mod query;
mod tables;
pub mod text;
mod topology;
mod view;

pub use adopt::{
    AdoptError, Adopted, FileKey, Keys, KeysError, Placement, adopt, adopt_keys, adopted,
    pmix_keys, pmix_value,
};
pub use archive::Archive;
pub use locality::{Locality, LocalityTextError};
pub use object::{Children, Info, Object, TypeName};
pub use query::{
    Closest, Distribution, Inside, Largest, LocalNumaNodes, Objects, ObjectsOfSet, Subtree,
};
pub use tables::{CpuKind, Distances, Initiator, MemoryAttribute, MemoryValue, NoCpuKind};
pub use topobroker_layout::attributes::{
    Associativity, AttributeValue, Attributes, Bridge, BusId, Cache, CacheKind, Group,
    OsDeviceKind, PageType, Pci,
};
pub use topobroker_layout::depth::Depth;
pub use topobroker_layout::header::{Header, Scope, Source};
pub use topobroker_layout::object_type::{ChildKind, ObjectType};
pub use topobroker_layout::set::{Format, ParseSetError, Set};
pub use topobroker_layout::type_filter::TypeFilter;
pub use topobroker_process::{FileError, FilePath, OsError};
pub use topology::{Topology, TypeDepth};
pub use view::{RestrictError, RestrictFlags, View};
