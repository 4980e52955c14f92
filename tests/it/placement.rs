//! Placement of ranks against the maps that Open MPI printed.

use std::collections::BTreeMap;
use topobroker::hwloc::Input;
use topobroker::placement::{Policy, place, report};
use topobroker_layout::build::{AlignedVec, to_bytes};
use topobroker_reader::Archive;
use topobroker_tests::{describe, shared};

#[test]
fn ranks_are_mapped_as_open_mpi_maps_them() {
    let Some(shared) = shared() else { return };
    let table = std::fs::read_to_string(shared.join("oracles/report-bindings.tsv")).unwrap();
    let mut archives: BTreeMap<&str, AlignedVec> = BTreeMap::new();
    let (mut same, mut different) = (0, Vec::new());
    for line in table.lines().skip(1) {
        let [xml, map_by, rank, locale] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("four columns: {line}");
        };
        let archive = archives.entry(xml).or_insert_with(|| {
            to_bytes(&describe(&Input::Xml(shared.join("topologies").join(xml)))).unwrap()
        });
        let opened = Archive::open(archive).unwrap();
        let topology = opened.topology();
        let bind_to = format!("{map_by}:overload-allowed");
        let policy = Policy::parse(map_by, Some(&bind_to)).unwrap();
        let rank: usize = rank.parse().unwrap();
        let placed = place(topology, &policy, rank + 1, &[]).map(|ranks| ranks[rank].clone());
        let found = match &placed {
            Ok(cpuset) => report::locale(topology, cpuset),
            Err(error) => Some(error.to_string()),
        };
        // Without packages Open MPI draws nothing.
        let found = found.unwrap_or_else(|| "Binding: UNBOUND".to_owned());
        if found == locale {
            same += 1;
        } else {
            different.push(format!("{line}\n  found {found}"));
        }
    }
    different.iter().for_each(|line| println!("{line}"));
    println!("report-bindings.tsv: {same} of {} identical", same + different.len());
    assert!(same * 100 >= (same + different.len()) * 99, "{}", different.join("\n"));
}
