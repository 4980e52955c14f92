//! `iblinkinfo --line`: a line for each port.

use super::error::{FabricError, wrong_line};
use super::graph::{End, EndKind, FabricGraph};
use super::rate::{mbps, speed_of};
use std::collections::BTreeMap;

/// Whether a line is of this format.
pub(super) fn is_line(line: &str) -> bool {
    line.starts_with("0x") && line.contains("==(") && line.contains(")==>")
}

/// One end as a line has it.
struct EndOfLine<'t> {
    end: End,
    name: &'t str,
    lid: u16,
}

/// Adds the ports of a text. The format does not say what a switch is: it is what has more than two
/// ports, because all of a switch are listed, connected or not.
pub(super) fn read(graph: &mut FabricGraph, file: &str, text: &str) -> Result<(), FabricError> {
    let mut links = Vec::new();
    let mut ports: BTreeMap<u64, (u16, u32)> = BTreeMap::new();
    for (line, number) in text.lines().zip(1..) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let expected =
            "0xGUID \"NAME\" LID PORT[] ==( WIDTH SPEED Gbps STATE)==> 0xGUID LID PORT[] \"NAME\"";
        let (own, state, peer) =
            split(line).ok_or_else(|| wrong_line(file, number, line, expected))?;
        let known = ports.entry(own.end.guid).or_default();
        *known = (known.0.max(own.end.port), known.1 + 1);
        links.push((number, own, state, peer));
    }
    let kind = |guid: u64| match ports.get(&guid) {
        Some((_, count)) if *count > 2 => EndKind::Switch,
        _ => EndKind::Host,
    };
    for (number, own, state, peer) in links {
        let all = [Some(&own), peer.as_ref()];
        for one in all.into_iter().flatten() {
            let vertex = graph.vertex(kind(one.end.guid), one.end.guid);
            one.name.clone_into(&mut vertex.name);
            (vertex.lid, vertex.adapter) = (one.lid, one.end.guid);
            vertex.ports = vertex.ports.max(one.end.port);
        }
        if let Some(peer) = peer {
            let mut words = state.split_whitespace();
            let (width, speed) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
            graph.connect(number, own.end, peer.end, mbps(width, speed_of(speed)))?;
        }
    }
    Ok(())
}

/// Both ends of a line, and what is between them; no other end if the port is down.
fn split(line: &str) -> Option<(EndOfLine<'_>, &str, Option<EndOfLine<'_>>)> {
    let (own, rest) = line.split_once("==(")?;
    let (state, peer) = rest.split_once(")==>")?;
    let (guid, rest) = own.split_once('"')?;
    let (name, numbers) = rest.rsplit_once('"')?;
    let own = end_of_line(guid, name, numbers)?;
    let peer = peer.trim();
    if !peer.starts_with("0x") {
        return Some((own, state, None));
    }
    let (numbers, rest) = peer.split_once('"')?;
    let (name, _) = rest.rsplit_once('"')?;
    let (guid, numbers) = numbers.split_once(char::is_whitespace)?;
    Some((own, state, Some(end_of_line(guid, name, numbers)?)))
}

fn end_of_line<'t>(guid: &str, name: &'t str, numbers: &str) -> Option<EndOfLine<'t>> {
    let guid = u64::from_str_radix(guid.trim().strip_prefix("0x")?, 16).ok()?;
    let mut words = numbers.split(['[', ' ', '\t']).filter(|word| !word.is_empty());
    let lid = words.next()?.parse().ok()?;
    let port = words.next()?.parse().ok()?;
    Some(EndOfLine { end: End { guid, port }, name: name.trim(), lid })
}
