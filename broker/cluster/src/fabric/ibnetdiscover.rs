//! `ibnetdiscover` without options: a block for each switch and each adapter.

use super::error::{FabricError, wrong_line};
use super::graph::{End, EndKind, FabricGraph};
use super::rate::mbps;
use std::collections::BTreeMap;

/// Whether a line is of this format.
pub(super) fn is_line(line: &str) -> bool {
    ["switchguid=", "caguid=", "rtguid=", "vendid="].iter().any(|key| line.starts_with(key))
        || Header::read(line).is_some()
}

/// What a block starts with: `Switch 36 "S-0008f10500108c9e" # "name" ...`.
struct Header<'t> {
    kind: EndKind,
    ports: u16,
    guid: u64,
    name: &'t str,
    lid: u16,
}

/// A port of a block.
struct Port<'t> {
    number: u16,
    /// GUID of the port of an adapter.
    own: Option<u64>,
    kind: EndKind,
    peer: u64,
    peer_port: u16,
    peer_guid: Option<u64>,
    comment: &'t str,
}

/// Adds the blocks of a text.
pub(super) fn read(graph: &mut FabricGraph, file: &str, text: &str) -> Result<(), FabricError> {
    // The ports of adapters first: a switch may name only the adapter and the number of the port.
    let mut guids = BTreeMap::new();
    let mut block: Option<Header<'_>> = None;
    for line in text.lines() {
        block = Header::read(line).or(block);
        if let (Some(header), Some(port)) = (&block, Port::read(line))
            && header.kind != EndKind::Switch
        {
            let guid = port.own.unwrap_or(header.guid);
            guids.insert((header.guid, port.number), guid);
            let vertex = graph.vertex(header.kind, guid);
            header.name.clone_into(&mut vertex.name);
            vertex.lid = lid(port.comment).unwrap_or(0);
            (vertex.ports, vertex.adapter) = (port.number, header.guid);
        }
    }
    let mut block: Option<Header<'_>> = None;
    for (line, number) in text.lines().zip(1..) {
        if let Some(header) = Header::read(line) {
            if header.kind == EndKind::Switch {
                let vertex = graph.vertex(EndKind::Switch, header.guid);
                header.name.clone_into(&mut vertex.name);
                (vertex.lid, vertex.ports) = (header.lid, header.ports);
            }
            block = Some(header);
        } else if line.starts_with('[') {
            let expected =
                "[PORT](GUID) \"S-GUID\"[PORT] # \"NAME\" lid LID WIDTHxSPEED, in a block";
            let bad = || wrong_line(file, number, line, expected);
            let header = block.as_ref().ok_or_else(bad)?;
            let port = Port::read(line).ok_or_else(bad)?;
            let own = match header.kind {
                EndKind::Switch => header.guid,
                EndKind::Host | EndKind::Router => port.own.unwrap_or(header.guid),
            };
            let known = guids.get(&(port.peer, port.peer_port)).copied();
            let peer = match port.kind {
                EndKind::Switch => port.peer,
                EndKind::Host | EndKind::Router => port.peer_guid.or(known).unwrap_or(port.peer),
            };
            let (from, to) =
                (End { guid: own, port: port.number }, End { guid: peer, port: port.peer_port });
            graph.connect(number, from, to, rate(port.comment))?;
        } else if !is_other(line) {
            return Err(wrong_line(file, number, line, "a block of ibnetdiscover"));
        }
    }
    Ok(())
}

/// Lines that are not read.
fn is_other(line: &str) -> bool {
    let keys = [
        "vendid=",
        "devid=",
        "sysimgguid=",
        "switchguid=",
        "caguid=",
        "rtguid=",
        "Chassis",
        "Non-Chassis",
        "DR path",
        "#",
    ];
    line.trim().is_empty() || keys.iter().any(|key| line.starts_with(key))
}

impl<'t> Header<'t> {
    fn read(line: &'t str) -> Option<Self> {
        let (word, rest) = line.split_once(char::is_whitespace)?;
        let kind = match word {
            "Switch" => EndKind::Switch,
            "Ca" => EndKind::Host,
            "Rt" => EndKind::Router,
            _ => return None,
        };
        let (ports, rest) = rest.trim_start().split_once(char::is_whitespace)?;
        let (_, guid, rest) = quoted_guid(rest.trim_start())?;
        let comment = rest.split_once('#')?.1;
        let (name, after) = quoted(comment)?;
        let (ports, lid) = (ports.parse().ok()?, lid(after).unwrap_or(0));
        Some(Self { kind, ports, guid, name, lid })
    }
}

impl<'t> Port<'t> {
    fn read(line: &'t str) -> Option<Self> {
        let (number, rest) = bracketed(line)?;
        let (own, rest) = parenthesised(rest);
        let (kind, peer, rest) = quoted_guid(rest.trim_start())?;
        let (peer_port, rest) = bracketed(rest)?;
        let (peer_guid, rest) = parenthesised(rest);
        let comment = rest.split_once('#').map_or("", |(_, comment)| comment);
        Some(Self { number, own, kind, peer, peer_port, peer_guid, comment })
    }
}

/// `"S-0008f10500108c9e"`: what it is, and its GUID.
fn quoted_guid(text: &str) -> Option<(EndKind, u64, &str)> {
    let rest = text.strip_prefix('"')?;
    let (id, rest) = rest.split_once('"')?;
    let (kind, guid) = id.split_once('-')?;
    let kind = match kind {
        "S" => EndKind::Switch,
        "R" => EndKind::Router,
        _ => EndKind::Host,
    };
    Some((kind, u64::from_str_radix(guid, 16).ok()?, rest))
}

/// `[12]`, and `[ext 3]` behind it.
fn bracketed(text: &str) -> Option<(u16, &str)> {
    let (number, rest) = text.strip_prefix('[')?.split_once(']')?;
    let rest = match rest.strip_prefix("[ext ") {
        Some(external) => external.split_once(']')?.1,
        None => rest,
    };
    Some((number.trim().parse().ok()?, rest))
}

/// `(8f10403961355)`, if it is there.
fn parenthesised(text: &str) -> (Option<u64>, &str) {
    let found = text.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    match found {
        Some((guid, rest)) => (u64::from_str_radix(guid, 16).ok(), rest),
        None => (None, text),
    }
}

/// The first text in quotes. It may have quotes inside: before `lid` or `base port` it ends.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let rest = text.trim_start().strip_prefix('"')?;
    let ends = ["\" base port", "\" enhanced port", "\" lid "];
    let end = ends.iter().filter_map(|end| rest.find(end)).min().or_else(|| rest.rfind('"'))?;
    Some((rest.get(..end)?, rest.get(end + 1..)?))
}

/// The number behind the first `lid` that is not in quotes.
fn lid(comment: &str) -> Option<u16> {
    let start = comment.find("lid ").filter(|at| !comment.get(..*at).unwrap_or("").contains('"'));
    let rest = comment.get(start? + 4..)?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The rate of a comment: its word such as `4xQDR`.
fn rate(comment: &str) -> Option<u32> {
    let words = comment.split_whitespace().rev();
    let mut rates = words.filter_map(|word| {
        let (width, speed) = word.split_at_checked(word.find('x')? + 1)?;
        width.strip_suffix('x')?.parse::<u32>().ok()?;
        Some(mbps(width, speed))
    });
    rates.next().flatten()
}
