//! An archive is refused if any byte of its tree of CPUs has changed. Regular and irregular levels
//! are checked in different ways.

use std::ops::Range;
use topobroker_layout::archive::ArchivedTopology;
use topobroker_layout::encode::to_bytes;
use topobroker_layout::open_archive;
use topobroker_samples::synthetic;

/// Byte ranges of the columns of the tree. Of `members`, which has rows for normal and memory
/// objects, only the rows of normal objects.
fn bytes_of_the_tree(archive: &[u8], topology: &ArchivedTopology) -> [Range<usize>; 3] {
    let tree = &topology.tree;
    let place = |column: &[u8], length: usize| {
        let start = column.as_ptr().addr() - archive.as_ptr().addr();
        start..start + length
    };
    let normal = topology.levels.first(topology.levels.normal.to_native() as usize);
    let members = (normal * 4 * tree.width.to_native()) as usize;
    [
        place(&tree.members, members),
        place(&tree.child_start, tree.child_start.len()),
        place(&tree.children, tree.children.len()),
    ]
}

#[test]
fn any_changed_byte_of_the_tree_of_cpus_is_refused() {
    let machines = [
        "Package:2 Core:4 PU:2",
        "Package:2 NUMANode:1 L2Cache:4 Core:1 PU:2",
        "Package:3 L3Cache:5 Core:2 PU:3",
        "Package:2 Group:2 NUMANode:1 L3Cache:4 Core:4 PU:4",
    ];
    for machine in machines {
        let mut archive = to_bytes(&synthetic(machine)).unwrap();
        let columns = bytes_of_the_tree(&archive, open_archive(&archive).unwrap());
        for place in columns.into_iter().flatten() {
            let byte = archive[place];
            for value in [byte ^ 1, byte ^ 0x80, byte.wrapping_add(1), byte.wrapping_sub(1)] {
                archive[place] = value;
                let opened = open_archive(&archive);
                assert!(opened.is_err(), "{machine}: byte {place} is {value}, was {byte}");
            }
            archive[place] = byte;
        }
    }
}
