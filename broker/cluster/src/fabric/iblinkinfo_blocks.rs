//! `iblinkinfo` without options: a block for each switch and each adapter, whose lines name the
//! other end by its LID alone.

use super::error::{FabricError, wrong_line};
use super::graph::{End, EndKind, FabricGraph};
use super::rate::{mbps, speed_of};
use std::collections::BTreeMap;

/// Whether a line is of this format: it begins a block.
pub(super) fn is_line(line: &str) -> bool {
    Block::read(line).is_some()
}

/// What a block begins with: `Switch: 0x00000000000000a1 leaf1:` or `CA: n1 HCA-1:`.
#[derive(Clone, Copy)]
struct Block<'t> {
    kind: EndKind,
    /// Of a switch; the lines of an adapter have the GUIDs of its ports.
    guid: Option<u64>,
    name: &'t str,
}

/// A line of a block.
struct Row<'t> {
    line: usize,
    block: Block<'t>,
    own: End,
    lid: u16,
    state: &'t str,
    /// LID and number of the port at the other end, if there is one.
    peer: Option<(u16, u16)>,
}

/// Adds the blocks of a text.
pub(super) fn read(graph: &mut FabricGraph, file: &str, text: &str) -> Result<(), FabricError> {
    let mut block = None;
    let mut rows = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(next) = Block::read(line) {
            block = Some(next);
            continue;
        }
        let expected =
            "[0xGUID] LID PORT[] ==( WIDTH SPEED Gbps STATE)==> LID PORT[] \"NAME\", in a block";
        let row = block.and_then(|block| row(number, block, line));
        rows.push(row.ok_or_else(|| wrong_line(file, number, line, expected))?);
    }
    let mut by_lid: BTreeMap<u16, u64> = BTreeMap::new();
    for row in &rows {
        let known = *by_lid.entry(row.lid).or_insert(row.own.guid);
        if known != row.own.guid {
            let found = format!("LID {} of {:#018x} and {known:#018x}", row.lid, row.own.guid);
            return Err(wrong_line(file, row.line, &found, "a LID for each switch and port"));
        }
    }
    for row in &rows {
        let vertex = graph.vertex(row.block.kind, row.own.guid);
        row.block.name.clone_into(&mut vertex.name);
        (vertex.lid, vertex.adapter) = (row.lid, row.own.guid);
        vertex.ports = vertex.ports.max(row.own.port);
    }
    for row in rows {
        let Some((lid, port)) = row.peer else { continue };
        let Some(guid) = by_lid.get(&lid) else {
            let expected = "the LID of a port of the file; was it made with --switches-only?";
            return Err(wrong_line(file, row.line, &format!("LID {lid}"), expected));
        };
        let mut words = row.state.split_whitespace();
        let (width, speed) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let peer = End { guid: *guid, port };
        graph.connect(row.line, row.own, peer, mbps(width, speed_of(speed)))?;
    }
    Ok(())
}

impl<'t> Block<'t> {
    fn read(line: &'t str) -> Option<Self> {
        let (word, rest) = line.split_once(": ")?;
        let name = rest.trim_end().strip_suffix(':')?;
        match word {
            "Switch" => {
                let (guid, name) = name.split_once(' ')?;
                Some(Self { kind: EndKind::Switch, guid: Some(number(guid)?), name: name.trim() })
            }
            "CA" => Some(Self { kind: EndKind::Host, guid: None, name: name.trim() }),
            "RT" | "Router" => Some(Self { kind: EndKind::Router, guid: None, name: name.trim() }),
            _ => None,
        }
    }
}

fn row<'t>(line: usize, block: Block<'t>, text: &'t str) -> Option<Row<'t>> {
    let (own, rest) = text.split_once("==(")?;
    let (state, peer) = rest.split_once(")==>")?;
    let (guid, own) = match block.guid {
        Some(guid) => (guid, own.trim()),
        None => {
            let (guid, rest) = own.trim().split_once(' ')?;
            (number(guid)?, rest)
        }
    };
    let (lid, port) = lid_and_port(own)?;
    let own = End { guid, port };
    Some(Row { line, block, own, lid, state, peer: lid_and_port(peer) })
}

/// `11    1[  ] "n1 HCA-1"`: a LID and the number of a port. `None` if there is nothing at the
/// other end.
fn lid_and_port(text: &str) -> Option<(u16, u16)> {
    let (numbers, _) = text.split_once('[')?;
    let mut words = numbers.split_whitespace();
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

fn number(guid: &str) -> Option<u64> {
    u64::from_str_radix(guid.strip_prefix("0x")?, 16).ok()
}
