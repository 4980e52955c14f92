//! How `bind` reads a location: for CPUs or for memory, by which indexes.

use crate::calc;
use crate::switches::{Manner as Manners, Switch};

/// How a location is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Manner {
    /// Whether memory is bound to it, and not the processors.
    pub(super) is_memory: bool,
    physical: bool,
    nodeset: bool,
}

impl Manner {
    /// The same for `calc`: memory is bound to NUMA nodes.
    pub(super) fn of_calc(self) -> calc::Manner {
        calc::Manner {
            physical_input: self.physical,
            nodeset_input: self.nodeset,
            nodeset_output: self.is_memory,
            ..calc::Manner::default()
        }
    }

    /// Whether sets are printed as NUMA nodes.
    pub(super) fn prints_nodes(self) -> bool {
        self.nodeset
    }
}

impl Manners for Manner {
    const SWITCHES: &'static [Switch<Self>] = &[
        Switch {
            name: "cpubind",
            short: None,
            aliases: &[],
            change: |manner| manner.is_memory = false,
            help: "Bind processors to the locations that follow (default)",
        },
        Switch {
            name: "membind",
            short: None,
            aliases: &[],
            change: |manner| manner.is_memory = true,
            help: "Bind memory to the locations that follow; with --get, print where it is bound",
        },
        Switch {
            name: "logical",
            short: Some('l'),
            aliases: &[],
            change: |manner| manner.physical = false,
            help: "Take logical indexes (default)",
        },
        Switch {
            name: "physical",
            short: Some('p'),
            aliases: &[],
            change: |manner| manner.physical = true,
            help: "Take indexes of the operating system",
        },
        Switch {
            name: "nodeset",
            short: None,
            aliases: &[],
            change: |manner| manner.nodeset = true,
            help: "Take and print masks of NUMA nodes",
        },
    ];
    const LOCATIONS: &'static str = "Where to bind: objects (core:2-3, package:1.pu:all, os=eth0, \
                                     pci=0000:03:00.1), masks (0x0000000f) or all; after ~ taken \
                                     out, after x intersected, after ^ toggled";
}
