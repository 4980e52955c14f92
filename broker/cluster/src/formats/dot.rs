//! The fabric of a cluster for Graphviz.

use std::fmt::Write;
use topobroker_reader::cluster::{Fabric, FabricVertex};

/// Switches, ports and links as DOT. Parallel links are one edge with their number.
#[must_use]
pub fn dot(fabric: Fabric<'_>) -> String {
    let mut text = "graph fabric {\n".to_owned();
    let all = || fabric.switches().chain(fabric.ports());
    for vertex in all() {
        let shape = if vertex.is_switch() { "box" } else { "ellipse" };
        let name = vertex.node().map_or(vertex.name(), |node| node.name());
        let _ = writeln!(text, "  {} [shape={shape}, label={}];", id(vertex), quoted(name));
    }
    for vertex in all() {
        let mut peers: Vec<FabricVertex<'_>> = vertex.links().map(|link| link.peer).collect();
        peers.retain(|peer| vertex.guid() < peer.guid());
        peers.sort_by_key(|peer| peer.guid());
        for same in peers.chunk_by(|one, other| one == other) {
            let Some(peer) = same.first() else { continue };
            let label = match same.len() {
                1 => String::new(),
                count => format!(" [label=\"{count}\"]"),
            };
            let _ = writeln!(text, "  {} -- {}{label};", id(vertex), id(*peer));
        }
    }
    text + "}\n"
}

/// A text in quotes. DOT knows no escapes but that of a quote; a backslash before another letter
/// has a meaning of its own in labels.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn id(vertex: FabricVertex<'_>) -> String {
    format!("v{:016x}", vertex.guid())
}
