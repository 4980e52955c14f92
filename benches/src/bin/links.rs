//! What the graph of links costs: `links` builds it, asks for one pair and for all pairs, and lets
//! networkx answer the same from the JSON that is exported.
#![forbid(unsafe_code)]

use anyhow::Context;
use std::hint::black_box;
use std::io::Write;
use std::process::{Command, Stdio};
use topobroker::hwloc::{Input, LoadOptions, capture, load};
use topobroker::links::json;
use topobroker_benches::times::best;
use topobroker_layout::encode::to_bytes;
use topobroker_reader::{
    Archive,
    links::{Direction, Links, Measure, Paths, SwitchModel, VertexId, VertexKind},
};
use topobroker_samples::shared_folder;

/// Times building, one pair, and the widest paths of all pairs in a directed multigraph, in
/// microseconds. It knows no rules of transit.
const NETWORKX: &str = "
import json, sys, time
import networkx as nx
data = json.load(sys.stdin)
def least(ask):
    times = []
    for _ in range(3):
        start = time.perf_counter()
        ask()
        times.append((time.perf_counter() - start) * 1e6)
    return min(times)
def build():
    try:
        return nx.node_link_graph(data, edges='edges')
    except TypeError:
        return nx.node_link_graph(data, link='edges')
graph = build()
one, other = sys.argv[1:]
print(round(least(build)), round(least(lambda: nx.shortest_path(graph, one, other))),
      round(least(lambda: dict(nx.all_pairs_shortest_path_length(graph)))))
";

/// How often each call is timed.
const RUNS: u32 = 300;

fn main() -> anyhow::Result<()> {
    let Some(shared) = shared_folder() else { anyhow::bail!("no reference data") };
    println!(
        "| machine | vertices, links | built us | one pair us: bandwidth, latency, hops | all pairs us: bandwidth, latency, hops | networkx, without rules of transit: built us | hops of a pair | hops of all pairs |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for name in ["flux-core__ipa20", "flux-core__tuo.CPX", "hwloc-v2.x__nvidiaDGX2"] {
        let input = Input::Xml(shared.join(format!("topologies/{name}.xml")));
        let archive = to_bytes(&capture(&load(&input, &LoadOptions::default())?)?)?;
        let opened = Archive::open(&archive)?;
        let topology = opened.topology();
        let built = best(RUNS, || _ = black_box(topology.links(black_box(SwitchModel::One))));
        let links = topology.links(SwitchModel::One)?;
        let gpus: Vec<VertexId> = links
            .vertex_ids()
            .zip(links.vertices())
            .filter(|(_, it)| it.kind == VertexKind::Gpu)
            .map(|(vertex, _)| vertex)
            .collect();
        let memory = links.vertices().iter().position(|it| it.kind == VertexKind::Memory);
        let memory = memory.and_then(VertexId::at);
        let (from, to) = gpus.last().copied().zip(memory).context("a GPU and memory")?;
        let mut paths = Paths::new(&links, false);
        let measures = [Measure::Bandwidth, Measure::Latency, Measure::Hops];
        let pair = measures.map(|measure| {
            best(RUNS, || _ = black_box(paths.between(black_box(from), black_box(to), measure)))
        });
        let all = measures.map(|measure| {
            best(RUNS, || {
                for vertex in links.vertex_ids() {
                    black_box(paths.of(vertex, Direction::Outgoing, measure));
                }
            })
        });
        let theirs = networkx(&links, from, to).unwrap_or_else(|| vec!["-".to_owned(); 3]);
        println!(
            "| {name} | {}, {} | {built:.0} | {:.1}, {:.1}, {:.1} | {:.0}, {:.0}, {:.0} | {} |",
            links.vertices().len(),
            links.links().len(),
            pair[0],
            pair[1],
            pair[2],
            all[0],
            all[1],
            all[2],
            theirs.join(" | "),
        );
    }
    Ok(())
}

fn networkx(links: &Links<'_>, from: VertexId, to: VertexId) -> Option<Vec<String>> {
    let mut command = Command::new("/usr/bin/python3");
    command.args(["-c", NETWORKX]).args([from, to].map(|it| links.name(it).into_owned()));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut running = command.spawn().ok()?;
    running.stdin.take()?.write_all(json(links).to_string().as_bytes()).ok()?;
    let output = running.wait_with_output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.split_whitespace().map(str::to_owned).collect())
}
