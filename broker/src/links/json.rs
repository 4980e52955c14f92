//! JSON: node-link data as networkx reads it, and JSON Graph Format as Flux reads it.

use serde_json::{Value, json as value};
use topobroker_reader::links::{Link, Links, VertexKind};

/// The graph as node-link data: `networkx.node_link_graph(data, edges="edges")` makes a directed
/// multigraph of it. Each direction of a link is an edge. Bandwidths are in MB/s, latencies in
/// nanoseconds; what is not known is null.
#[must_use]
pub fn json(links: &Links<'_>) -> Value {
    let nodes = links.vertex_ids().zip(links.vertices()).map(|(vertex, found)| {
        value!({
            "id": links.name(vertex),
            "kind": found.kind.name(),
            "object": links.object(vertex).map(|it| it.type_name(false)),
        })
    });
    let both = links.links().iter().flat_map(|link| [*link, link.reversed()]);
    let edges = both.map(|link| edge(links, &link));
    value!({
        "directed": true,
        "multigraph": true,
        "graph": {},
        "nodes": nodes.collect::<Vec<_>>(),
        "edges": edges.collect::<Vec<_>>(),
    })
}

fn edge(links: &Links<'_>, link: &Link) -> Value {
    value!({
        "source": links.name(link.one),
        "target": links.name(link.other),
        "class": link.class.name(),
        "bandwidth": link.forward,
        "latency": link.latency,
        "links": link.links,
        "origin": link.origin.name(),
    })
}

/// The graph in JSON Graph Format. Edges are of a subsystem of their own, `links`, so that a Flux
/// resource graph can have them next to its own.
#[must_use]
pub fn jgf(links: &Links<'_>) -> Value {
    let nodes = links.vertex_ids().zip(links.vertices()).map(|(vertex, found)| {
        let name = links.name(vertex);
        value!({
            "id": vertex.to_string(),
            "label": name,
            "metadata": {
                "type": flux_type(found.kind),
                "basename": found.kind.name(),
                "name": name,
                "id": vertex.0,
                "uniq_id": vertex.0,
                "rank": -1,
                "exclusive": false,
                "unit": "",
                "size": 1,
                "paths": { "links": format!("/{name}") },
            },
        })
    });
    let both = links.links().iter().flat_map(|link| [*link, link.reversed()]);
    let edges = both.map(|link| {
        let mut metadata = edge(links, &link);
        if let Some(fields) = metadata.as_object_mut() {
            fields.remove("source");
            fields.remove("target");
            fields.insert("subsystem".to_owned(), "links".into());
        }
        value!({
            "source": link.one.to_string(),
            "target": link.other.to_string(),
            "relation": link.class.name(),
            "directed": true,
            "metadata": metadata,
        })
    });
    value!({
        "graph": {
            "directed": true,
            "type": "links",
            "nodes": nodes.collect::<Vec<_>>(),
            "edges": edges.collect::<Vec<_>>(),
        }
    })
}

/// Flux's word for a kind of vertex.
fn flux_type(kind: VertexKind) -> &'static str {
    match kind {
        VertexKind::Cpu | VertexKind::Mesh => "socket",
        VertexKind::Block => "storage",
        kind => kind.name(),
    }
}
