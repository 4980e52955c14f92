//! Compares paths of a Summit node with its public figures.

use crate::links::any_topology;
use std::path::Path;
use topobroker_reader::links::{
    Link, LinkClass, LinkOrigin, Links, Measure, Paths, Vertex, VertexId, VertexKind,
};
use topobroker_samples::shared;

/// The node of Summit with the figures that its owners have published, and the names of its
/// vertices.
fn summit(shared: &Path) -> (Links<'static>, Vec<String>) {
    let text = std::fs::read_to_string(shared.join("oracles/summit-node.tsv")).unwrap();
    let (mut vertices, mut names, mut links) = (Vec::new(), Vec::new(), Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split('\t').collect();
        if words[0] == "V" {
            let kind = match words[2] {
                "package" => VertexKind::Cpu,
                "numanode" => VertexKind::Memory,
                "gpu" => VertexKind::Gpu,
                "openfabrics" => VertexKind::Nic,
                "block" => VertexKind::Block,
                "switch" => VertexKind::NetSwitch,
                other => panic!("{other}"),
            };
            vertices.push(Vertex { kind, object: None, name: Some(words[1].into()) });
            names.push(words[1].to_owned());
            continue;
        }
        let vertex =
            |name: &str| VertexId::at(names.iter().position(|it| it == name).unwrap()).unwrap();
        let class = match words[4] {
            "DDR4" | "HBM2" => LinkClass::Mem,
            "NVLink2" => LinkClass::NvLink,
            "X-Bus" => LinkClass::Smp,
            "PCIe4x8" | "PCIe4x4" => LinkClass::Pci,
            "EDR-IB" => LinkClass::Fabric,
            other => panic!("{other}"),
        };
        let bandwidth = words[3].parse().ok();
        let plain = Link::between(vertex(words[1]), vertex(words[2]), class, LinkOrigin::Declared);
        links.push(Link { forward: bandwidth, backward: bandwidth, ..plain });
    }
    (Links::new(any_topology(), vertices, links).unwrap(), names)
}

#[test]
fn all_pairs_of_a_summit_node_have_the_widest_paths_and_hops_that_are_recorded() {
    let Some(shared) = shared() else { return };
    let (links, names) = summit(&shared);
    let table = std::fs::read_to_string(shared.join("oracles/summit-pairs.tsv")).unwrap();
    let mut search = Paths::new(&links, false);
    let mut pairs = 0;
    for line in table.lines().skip(1) {
        let [_, from, to, widest, hops] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!()
        };
        let vertex =
            |name: &str| VertexId::at(names.iter().position(|it| it == name).unwrap()).unwrap();
        let (from, to) = (vertex(from), vertex(to));
        let wide = search.between(from, to, Measure::Bandwidth);
        let few = search.between(from, to, Measure::Hops);
        let found =
            (wide.map_or(0, |it| it.bandwidth.unwrap()), few.map_or(-1, |it| i32::from(it.hops)));
        assert_eq!(found, (widest.parse().unwrap(), hops.parse().unwrap()), "{line}");
        pairs += 1;
    }
    assert_eq!(pairs, 171);
}
