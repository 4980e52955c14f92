//! The slots of hwloc topologies, where the hwloc guard and the publisher meet: the file that one
//! writes and the other reads, and the conditions under which a load of hwloc gives what is in it.
//!
//! ```
//! use topobroker_slots::{LoadKey, Slots};
//! // What `hwloc_topology_load` is asked for, as `topobroker audit` prints it.
//! let key: LoadKey = "0x0/00000000011120333100".parse()?;
//! // A page that was never written is not a file of slots.
//! assert_eq!(Slots::read(&[0; topobroker_slots::FIRST_PAGE], 1 << 20), None);
//! # assert_eq!(key.flags, 0);
//! # Ok::<(), topobroker_slots::ParseLoadKeyError>(())
//! ```
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod callers;
mod conditions;
mod load_key;
mod slots;

pub use callers::is_tried;
pub use conditions::{
    CgroupPlace, Conditions, hash_of_affinity, hash_of_cgroup, hash_of_environment, place_of_cgroup,
};
pub use load_key::{LoadKey, OBJECT_TYPES, ParseLoadKeyError};
pub use slots::{CALLERS_LEN, FIRST_PAGE, SLOTS_ENDING, Slots, SlotsOfKey, hash_of_file};
