//! What Linux says of this node that hwloc does not keep.

mod facts;
mod kernel_text;
mod limits;
#[allow(unsafe_code, reason = "calls the library of NVIDIA's driver")]
mod nvml;
mod registerable;
mod root;
mod subnets;

pub use facts::{
    CHANGING, add_facts, refresh_driver_facts, refresh_facts, sorted_facts, with_facts_of_now,
};
pub use kernel_text::kernel_text;
pub use limits::{LockLimit, MemoryLock, Process, locked_memory};
pub use registerable::{Registerable, RegisterableError, registerable_memory};
pub use root::Root;
