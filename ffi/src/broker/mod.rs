//! The functions of launchers: capture, publish, add jobs, place ranks, and hand processes the
//! keys.

mod binding;
mod capture;
mod failure;
mod gather;
mod gpus;
mod hwloc;
mod jobs;
mod placement;
mod publish;

pub use binding::*;
pub use capture::*;
pub use gather::*;
pub use gpus::*;
pub use hwloc::*;
pub use jobs::*;
pub use placement::*;
pub use publish::*;
