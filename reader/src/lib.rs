//! Adopt the node's shared hwloc topology, once per process, and read it in place.
//!
//! A launcher publishes the topology of its node and hands three keys to every process: file,
//! address, size. [`adopt`] finds them in the environment, maps the segment read-only, checks it
//! from its first byte to its last, and keeps it for the life of the process: every later call, of
//! any thread and any library, gets the same [`Adopted`].
//!
//! ```no_run
//! let topology = topobroker_reader::adopt()?.topology();
//! for pu in topology.objects_with_type(topobroker_reader::ObjectType::PU) {
//!     println!("PU L#{} P#{:?}", pu.logical_index(), pu.os_index());
//! }
//! # Ok::<(), topobroker_reader::AdoptError>(())
//! ```
// Under loom only the guard is built, by its test.
#![cfg(not(loom))]
#![deny(unsafe_code)]

mod adopt;
mod ancestry;
mod archive;
mod blocks;
mod bounded;
mod closest;
mod covering;
mod cpu_kinds;
#[allow(unsafe_code, reason = "borrowing a descriptor by its number is what this module is for")]
mod descriptor;
mod devices;
mod distances;
mod distribute;
#[allow(unsafe_code, reason = "the C library is asked with what rights the kernel started this")]
mod environment;
mod error;
mod extent;
mod gate;
#[allow(unsafe_code, reason = "a global behind an atomic pointer is what this module is for")]
mod global;
mod holding;
mod inside;
mod job;
mod keys;
mod levels;
mod locality;
#[allow(unsafe_code, reason = "mapping a file is what this module is for")]
mod map;
mod memory_attributes;
mod nodes;
mod numbering;
mod object;
mod objects_of_set;
mod owner;
mod places;
#[allow(unsafe_code, reason = "calling the libpmix of the process is what this module is for")]
mod pmix_client;
mod process_maps;
mod pus;
mod rendezvous;
mod scope;
mod search;
mod seen;
mod sources;
mod stored_set;
mod subtree;
mod topology;
mod trust;
mod type_name;
mod view;

pub use adopt::{Adopted, adopt, adopt_keys, adopted};
pub use archive::Archive;
pub use bounded::{bytes_within, text_within};
pub use closest::Closest;
pub use cpu_kinds::{CpuKind, NoCpuKind};
pub use distances::Distances;
pub use environment::trusted_var;
pub use error::{AdoptError, KeysError};
pub use gate::Gate;
pub use global::Global;
pub use inside::{Inside, Largest};
pub use job::{Job, JobError, JobRank, adopt_job};
pub use keys::{Keys, Store};
pub use levels::Objects;
pub use locality::LocalNumaNodes;
pub use map::Placement;
pub use memory_attributes::{Initiator, MemoryAttribute, MemoryValue};
pub use object::{Children, Info, Object};
pub use objects_of_set::ObjectsOfSet;
pub use pmix_client::{pmix_keys, pmix_value};
pub use process_maps::{Mapping, mappings};
pub use scope::{Decision, EffectiveViewError, Launch, Part, Situation, effective_view};
pub use sources::{
    Cgroup, CpuList, Numbering, SlurmBinding, SourceError, affinity, omp_places, pmix_cpu_list,
    pmix_cpuset, slurm_cpu_bind,
};
pub use subtree::Subtree;
pub use topobroker_layout as layout;
pub use topobroker_layout::attributes::{Attributes, Bridge, Cache, Group, PageType, Pci};
pub use topobroker_layout::header::{Header, Scope, Source};
pub use topobroker_layout::object_type::{ChildKind, ObjectType};
pub use topobroker_layout::set::{Format, ParseSetError, Set};
pub use topology::{Topology, TypeDepth};
pub use trust::open_trusted;
pub use type_name::TypeName;
pub use view::{RestrictError, RestrictFlags, View};
