//! What is printed, and how.

use topobroker_reader::TypeName;

/// Which indexes are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Indexes {
    /// Logical ones, and OS indexes of PUs and NUMA nodes.
    #[default]
    Default,
    /// Logical ones.
    Logical,
    /// Those of the operating system.
    Physical,
}

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Contents {
    /// The tree; with more verbosity all that there is.
    #[default]
    Tree,
    /// The number of objects at each depth.
    Summary,
    /// The objects of one type, a line each.
    Only(TypeName),
    /// Distance matrices.
    Distances,
    /// Memory attributes.
    MemoryAttributes,
    /// CPU kinds.
    CpuKinds,
}

/// How a topology is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// What of it.
    pub contents: Contents,
    /// Which indexes.
    pub indexes: Indexes,
    /// Print the cpuset of every object too.
    pub cpusets: bool,
    /// Times that `-v` was given.
    pub verbosity: u8,
    /// Print PCI devices that are alike one by one.
    pub no_collapse: bool,
}
