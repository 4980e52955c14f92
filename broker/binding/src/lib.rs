//! Binding processes and threads to PUs, and their memory to NUMA nodes.
//!
//! This is the one place of the project that acts on the machine and not only describes it. It
//! calls the kernel directly, so it needs no topology that hwloc has loaded.
#![deny(unsafe_code)]

mod cpu;
mod error;
#[allow(unsafe_code, reason = "calls of the kernel that no crate wraps for machines of any size")]
mod kernel;
mod memory;
mod target;

pub use cpu::{bind, binding, last_location};
pub use error::BindError;
pub use memory::{MemoryPolicy, bind_memory, memory_binding};
pub use target::Target;
