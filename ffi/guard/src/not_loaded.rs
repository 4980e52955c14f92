//! Topologies that are not loaded yet: what a program has said of where they come from.

use crate::hwloc::Topology;

/// What a program has said of a topology that is not loaded yet.
#[derive(Clone, Copy)]
pub(crate) struct NotLoaded {
    pub(crate) topology: Topology,
    /// hwloc's function by which the program has said that it wants another topology than that of
    /// this machine as it is.
    pub(crate) other: Option<&'static str>,
    /// Whether the program has excluded the component `gl`.
    pub(crate) without_gl: bool,
}
