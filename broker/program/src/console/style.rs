//! Options of the console output.

use topobroker_layout::set::Format;
use topobroker_reader::TypeName;

/// Which indexes are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Indexes {
    /// Logical indexes, and also the OS indexes of PUs and NUMA nodes.
    #[default]
    Default,
    /// Logical indexes only.
    Logical,
    /// OS indexes.
    Physical,
}

/// Whether the cpuset of every object is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cpusets {
    /// No.
    #[default]
    No,
    /// At the end of its line.
    Appended,
    /// Without anything else.
    Alone,
}

/// Which part of a topology is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Contents {
    /// The tree; with verbosity also the summary and the tables.
    #[default]
    Tree,
    /// The number of objects at each depth.
    Summary,
    /// The objects of one type, one line each.
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
    /// Which part is printed.
    pub contents: Contents,
    /// Which indexes are printed.
    pub indexes: Indexes,
    /// Whether cpusets are printed.
    pub cpusets: Cpusets,
    /// The format of cpusets.
    pub cpuset_format: Format,
    /// How often `-v` was given.
    pub verbosity: u8,
    /// Print identical PCI devices one by one.
    pub no_collapse: bool,
    /// Leave out PUs.
    pub no_pus: bool,
}
