//! Any segment of links is refused or makes a graph, any file of NCCL and any JSON declares links
//! or not, and paths in the graph end.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topobroker::links::{NcclFile, declared, json};
use topobroker_reader::links::{
    DeclaredLinks, Direction, Link, Links, Measure, Paths, SwitchModel, VertexId,
};

fn search(links: &Links<'_>) {
    assert!(links.links().iter().all(|link| link.one != link.other));
    let mut paths = Paths::new(links, true);
    for measure in [Measure::Bandwidth, Measure::Latency, Measure::Hops] {
        let all = paths.of(VertexId(0), Direction::Outgoing, measure);
        assert_eq!(all.len(), links.vertices().len());
        for to in links.vertex_ids().take(64) {
            let path = paths.between(VertexId(0), to, measure);
            let way: Vec<VertexId> = paths.way(to).collect();
            assert_eq!(way.len(), path.map_or(0, |path| usize::from(path.hops) + 1));
            for step in way.windows(2) {
                let is_step = |it: &Link| step == [it.one, it.other] || step == [it.other, it.one];
                assert!(links.links().iter().any(is_step));
            }
        }
    }
    let _ = json(links);
}

fuzz_target!(|data: &[u8]| {
    let (base, segment) = topobroker_fuzz::links(data);
    let topology = base.topology();
    let _ = DeclaredLinks::from_segment(topology, data);
    if let Ok(found) = DeclaredLinks::from_segment(topology, &segment)
        && let Ok(links) = topology.links_with_declared(SwitchModel::One, found)
    {
        search(&links);
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(file) = NcclFile::read(text) {
        for one in 0..file.devices.len().min(8) {
            let _ = file.path_class(one, file.devices.len() - 1);
        }
    }
    let known = topology.links(SwitchModel::Separate).expect("a small machine");
    if let Ok(links) = declared(&known, text) {
        search(&links.links);
    }
});
