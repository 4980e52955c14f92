//! DOT, which Graphviz draws.

use std::fmt::Write;
use topobroker_reader::links::{Link, Links, VertexKind};

/// The graph in the language of Graphviz.
#[must_use]
pub fn dot(links: &Links<'_>) -> String {
    let mut text = String::from("graph links {\n  node [shape=box];\n");
    // Writing to a string cannot fail.
    for (vertex, found) in links.vertex_ids().zip(links.vertices()) {
        let name = escaped(&links.name(vertex));
        let shape = shape(found.kind);
        let _ =
            writeln!(text, "  v{vertex} [label=\"{name}\\n{}\" shape={shape}];", found.kind.name());
    }
    for link in links.links() {
        let _ = writeln!(text, "  v{} -- v{} [label=\"{}\"];", link.one, link.other, label(link));
    }
    text + "}\n"
}

fn shape(kind: VertexKind) -> &'static str {
    match kind {
        VertexKind::Cpu | VertexKind::Mesh => "box3d",
        VertexKind::Memory => "cylinder",
        VertexKind::HostBridge | VertexKind::PciSwitch | VertexKind::NvSwitch => "diamond",
        VertexKind::NetSwitch | VertexKind::Remote => "hexagon",
        VertexKind::Gpu | VertexKind::Nic | VertexKind::Block => "box",
    }
}

fn label(link: &Link) -> String {
    let bandwidth = match (link.forward, link.backward) {
        (Some(forward), Some(backward)) if forward == backward => format!(" {forward} MB/s"),
        (None, None) => String::new(),
        (forward, backward) => {
            let text = |it: Option<u32>| it.map_or("?".to_owned(), |it| it.to_string());
            format!(" {}/{} MB/s", text(forward), text(backward))
        }
    };
    let count = link.links.filter(|count| *count > 1).map(|count| format!(" x{count}"));
    format!("{}{}{bandwidth}", link.class.name(), count.unwrap_or_default())
}

/// A text within quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
