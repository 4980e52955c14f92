//! How `calc` reads locations and writes results, and the set of a location.

use crate::switches::{Manner as Manners, Switch};
use topobroker::location::{Combine, Location, Reading};
use topobroker_layout::set::Set;
use topobroker_reader::{Object, Topology};

/// How locations are read and results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Manner {
    /// Whether indexes in locations are OS indexes.
    pub(crate) physical_input: bool,
    /// Whether printed indexes are OS indexes.
    pub(crate) physical_output: bool,
    /// Whether masks are sets of NUMA nodes.
    pub(crate) nodeset_input: bool,
    /// Whether locations are combined into a set of NUMA nodes.
    pub(crate) nodeset_output: bool,
}

impl Manners for Manner {
    const SWITCHES: &'static [Switch<Self>] = &[
        Switch {
            name: "logical",
            short: Some('l'),
            aliases: &[],
            change: |manner| (manner.physical_input, manner.physical_output) = (false, false),
            help: "Take and print logical indexes (default)",
        },
        Switch {
            name: "physical",
            short: Some('p'),
            aliases: &[],
            change: |manner| (manner.physical_input, manner.physical_output) = (true, true),
            help: "Take and print indexes of the operating system",
        },
        Switch {
            name: "logical-input",
            short: None,
            aliases: &["li"],
            change: |manner| manner.physical_input = false,
            help: "Take logical indexes (default)",
        },
        Switch {
            name: "physical-input",
            short: None,
            aliases: &["pi"],
            change: |manner| manner.physical_input = true,
            help: "Take indexes of the operating system",
        },
        Switch {
            name: "logical-output",
            short: None,
            aliases: &["lo"],
            change: |manner| manner.physical_output = false,
            help: "Print logical indexes (default)",
        },
        Switch {
            name: "physical-output",
            short: None,
            aliases: &["po"],
            change: |manner| manner.physical_output = true,
            help: "Print indexes of the operating system",
        },
        Switch {
            name: "nodeset",
            short: Some('n'),
            aliases: &[],
            change: |manner| (manner.nodeset_input, manner.nodeset_output) = (true, true),
            help: "Take and print sets of NUMA nodes",
        },
        Switch {
            name: "nodeset-input",
            short: None,
            aliases: &["ni"],
            change: |manner| manner.nodeset_input = true,
            help: "Take masks of NUMA nodes",
        },
        Switch {
            name: "nodeset-output",
            short: None,
            aliases: &["no"],
            change: |manner| manner.nodeset_output = true,
            help: "Combine and print sets of NUMA nodes",
        },
    ];
    const LOCATIONS: &'static str = "Objects (core:2-3, package:1.pu:all, os=eth0, \
                                     pci=0000:03:00.1), masks (0x0000000f) or all; after ~ taken \
                                     out, after x intersected, after ^ toggled; without any, the \
                                     words of each line of standard input";
}

/// The PUs or NUMA nodes of a location. With `skip_missing`, objects that do not exist are left
/// out.
pub(crate) fn set_of(
    topology: Topology<'_>,
    location: &Location,
    manner: Manner,
    skip_missing: bool,
) -> anyhow::Result<Set> {
    if let Some(set) = location.as_set() {
        let is_of_nodes = manner.nodeset_input || location.is_set_of_nodes();
        return Ok(match (is_of_nodes, manner.nodeset_output) {
            (false, true) => topology.nodeset_of(set),
            (true, false) => topology.cpuset_of_nodes(set),
            _ => set.clone(),
        });
    }
    let reading = Reading { physical: manner.physical_input, skip_missing };
    let objects = location.objects(topology, reading)?;
    let places = objects.into_iter().map(Object::non_io_ancestor);
    let sets = places.filter_map(|place| match manner.nodeset_output {
        true => place.nodeset(),
        false => place.cpuset(),
    });
    Ok(sets.fold(Set::new(), |all, set| &all | &set))
}

/// A set with one more location, as that says how.
pub(crate) fn combined(set: &Set, part: &Set, location: &Location) -> Set {
    match location.combine() {
        Combine::Add => set | part,
        Combine::Remove => set.and_not(part),
        Combine::Intersect => set & part,
        Combine::Toggle => set ^ part,
    }
}
