//! The maps of PRRTE's own tests.

use std::path::{Path, PathBuf};
use topobroker::placement::report;
use topobroker_layout::set::Set;
use topobroker_reader::Topology;

/// Where PRRTE places the ranks of a job.
#[derive(Debug, Clone)]
pub struct GoldenMap {
    /// The XML file of each node.
    pub machine: PathBuf,
    /// The nodes and their slots: `node0:8,node1:4`.
    pub hosts: String,
    /// What `--map-by` is.
    pub map_by: String,
    /// What `--rank-by` is.
    pub rank_by: String,
    /// What `--bind-to` is.
    pub bind_to: String,
    /// Number of ranks, if it is asked for.
    pub count: Option<usize>,
    /// Each rank, its node, its PUs ([`golden_pus`]), and its devices if it has any.
    pub ranks: Vec<String>,
    /// Name of the map.
    pub case: String,
}

/// Reads the maps in the reference data.
pub fn golden_maps(shared: &Path) -> Vec<GoldenMap> {
    let table = std::fs::read_to_string(shared.join("oracles/prrte-golden.tsv")).unwrap();
    let maps = table.lines().skip(1).map(|line| {
        let columns = line.split('\t').map(str::to_owned).collect::<Vec<String>>();
        let [xml, hosts, map_by, rank_by, bind_to, count, ranks, case] =
            columns.try_into().expect("eight columns");
        GoldenMap {
            machine: shared.join("topologies").join(xml),
            hosts,
            map_by,
            rank_by,
            bind_to,
            count: count.parse().ok(),
            ranks: ranks.split("; ").map(str::to_owned).collect(),
            case,
        }
    });
    maps.collect()
}

/// The PUs of a rank as the maps have them.
pub fn golden_pus(topology: Topology<'_>, pus: Option<&Set>) -> String {
    let Some(pus) = pus else { return "N/A".to_owned() };
    let line = report::prrte(topology, 0, pus);
    line.split_once(" bound to ").unwrap().1.replace("hwt", "core")
}
