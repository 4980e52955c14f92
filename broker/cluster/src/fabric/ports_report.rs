//! `ibnetdiscover -p`: a line for each port.

use super::error::{FabricError, wrong_line};
use super::graph::{End, EndKind, FabricGraph};
use super::rate::mbps;

/// Whether a line is of this format.
pub(super) fn is_line(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let kind = words.next().and_then(kind);
    kind.is_some()
        && words.next().is_some_and(|lid| lid.parse::<u32>().is_ok())
        && words.next().is_some_and(|port| port.parse::<u16>().is_ok())
        && words.next().is_some_and(|guid| guid.starts_with("0x"))
}

/// Adds the ports of a text. Lines of what the tool did (`DR path ...`) and comments are left out.
pub(super) fn read(graph: &mut FabricGraph, file: &str, text: &str) -> Result<(), FabricError> {
    for (line, number) in text.lines().zip(1..) {
        let rest = line.trim();
        if rest.is_empty() || rest.starts_with('#') || rest.starts_with("DR path") {
            continue;
        }
        let expected =
            "SW|CA|RT LID PORT 0xGUID WIDTH SPEED - TYPE LID PORT 0xGUID ( 'NAME' - 'NAME' )";
        let bad = || wrong_line(file, number, line, expected);
        port(graph, number, rest, bad)?;
    }
    Ok(())
}

/// A port: the kind of its vertex, its LID, and its end.
struct Port {
    kind: EndKind,
    lid: u16,
    end: End,
}

fn port(
    graph: &mut FabricGraph,
    number: usize,
    line: &str,
    bad: impl Fn() -> FabricError,
) -> Result<(), FabricError> {
    let (own, rest) = take_port(line).ok_or_else(&bad)?;
    let (width, rest) = word(rest).ok_or_else(&bad)?;
    let (speed, rest) = word(rest).ok_or_else(&bad)?;
    let peer = match rest.strip_prefix("- ") {
        None => {
            let name = rest.strip_prefix('\'').and_then(|name| name.strip_suffix('\''));
            note(graph, &own, name.ok_or_else(&bad)?);
            return Ok(());
        }
        Some(rest) => rest,
    };
    let (peer, rest) = take_port(peer).ok_or_else(&bad)?;
    let names = rest.strip_prefix("( '").and_then(|names| names.strip_suffix("' )"));
    // A name may have quotes inside: the last place where both can end is taken.
    let (name, peer_name) = names.and_then(|names| names.rsplit_once("' - '")).ok_or_else(&bad)?;
    note(graph, &own, name);
    note(graph, &peer, peer_name);
    graph.connect(number, own.end, peer.end, mbps(width, speed))
}

fn note(graph: &mut FabricGraph, port: &Port, name: &str) {
    let vertex = graph.vertex(port.kind, port.end.guid);
    name.clone_into(&mut vertex.name);
    vertex.lid = port.lid;
    vertex.ports = vertex.ports.max(port.end.port);
}

fn take_port(text: &str) -> Option<(Port, &str)> {
    let (first, rest) = word(text)?;
    let (lid, rest) = word(rest)?;
    let (port, rest) = word(rest)?;
    let (guid, rest) = word(rest)?;
    let guid = u64::from_str_radix(guid.strip_prefix("0x")?, 16).ok()?;
    let end = End { guid, port: port.parse().ok()? };
    Some((Port { kind: kind(first)?, lid: lid.parse().ok()?, end }, rest))
}

fn kind(word: &str) -> Option<EndKind> {
    match word {
        "SW" => Some(EndKind::Switch),
        "CA" => Some(EndKind::Host),
        "RT" => Some(EndKind::Router),
        _ => None,
    }
}

/// The first word of a text, and what follows without the blanks before it.
fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (!word.is_empty()).then_some((word, rest.trim_start()))
}
