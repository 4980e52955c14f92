//! Links of GPUs as the table of `nvidia-smi topo -m` has them, which people attach, and the own
//! table.

use super::nccl::device_number;
use super::new_links::{LinksReadError, NewLinks};
use topobroker_reader::links::{LinkClass, Vertex, VertexId, VertexKind};

/// The most NVLinks that a GPU has. Pairs that have more together have them by switches.
const MOST_NVLINKS: u32 = 18;

/// Whether a text has such a table.
pub(super) fn is_table(text: &str) -> bool {
    head(text).is_some()
}

/// The line with the names of the columns, by its number from 1, and the names of the devices in
/// it.
fn head(text: &str) -> Option<(usize, Vec<String>)> {
    let mut lines = (1..).zip(text.lines()).map(|(number, line)| (number, cells(line)));
    lines.find_map(|(number, cells)| {
        let is_affinity = |cell: &String| cell.contains("Affinity") || cell.contains("NUMA ID");
        let end = cells.iter().position(is_affinity)?;
        let names: Vec<String> = cells.into_iter().take(end).filter(|it| !it.is_empty()).collect();
        (!names.is_empty()).then_some((number, names))
    })
}

/// The cells of a line: between tabs, or where it was pasted without them, between two blanks or
/// more.
fn cells(line: &str) -> Vec<String> {
    let plain = without_escapes(line);
    let cells: Vec<&str> = match plain.contains('\t') {
        true => plain.split('\t').collect(),
        false => plain.trim().split("  ").filter(|it| !it.trim().is_empty()).collect(),
    };
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

/// A line without the codes by which terminals underline.
fn without_escapes(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

/// The links of two GPUs as a cell has them: `NV18`, `XGMI2`.
fn link(cell: &str) -> Option<(LinkClass, Option<u16>)> {
    let end = cell.find(|it: char| it.is_ascii_digit()).unwrap_or(cell.len());
    let (word, number) = cell.split_at(end);
    let class = match word {
        "NV" => LinkClass::NvLink,
        "XGMI" => LinkClass::Xgmi,
        "XE" => LinkClass::XeLink,
        _ => return None,
    };
    match number {
        "" => Some((class, None)),
        number => Some((class, Some(number.parse().ok().filter(|it| *it > 0)?))),
    }
}

/// What a cell says where it names no link.
const PATHS: [&str; 10] = ["X", "LOC", "PIX", "PXB", "PHB", "NODE", "SYS", "SOC", "PSB", "N/A"];

impl NewLinks<'_, '_> {
    /// Reads a table.
    pub(super) fn table(&mut self, text: &str) -> Result<(), LinksReadError> {
        let Some((start, names)) = head(text) else { return Ok(()) };
        let mut rows: Vec<(usize, Vec<String>)> = Vec::new();
        for (number, line) in (1..).zip(text.lines()).skip(start) {
            let mut row = cells(line);
            if row.first().is_none_or(|name| names.get(rows.len()) != Some(name)) {
                break;
            }
            row.remove(0);
            rows.push((number, row));
        }
        let vertices: Vec<Option<VertexId>> =
            names.iter().map(|name| self.end(name)).collect::<Result<_, _>>()?;
        let mut found = Vec::new();
        for (one, (line, row)) in rows.iter().enumerate() {
            for (other, cell) in row.iter().take(names.len()).enumerate() {
                let wrong = |expected| {
                    let (line, cell) = (*line, cell.clone());
                    Err(LinksReadError::Cell { line, column: other + 1, cell, expected })
                };
                let Some(link) = link(cell) else {
                    if PATHS.contains(&&**cell) || cell.is_empty() {
                        continue;
                    }
                    return wrong("NV with the number of links, or X, PIX, PXB, PHB, NODE or SYS");
                };
                if one == other {
                    return wrong("X where a device meets itself");
                }
                let back = rows.get(other).and_then(|(_, row)| row.get(one));
                if back != Some(cell) {
                    return wrong("the same as where row and column are exchanged");
                }
                if let (Some(one), Some(other), true) = (
                    vertices.get(one).copied().flatten(),
                    vertices.get(other).copied().flatten(),
                    one < other,
                ) {
                    found.push((one, other, link.0, link.1));
                }
            }
        }
        if found.is_empty() {
            return Err(LinksReadError::NoLinksInTable);
        }
        self.between_gpus(&found);
        Ok(())
    }

    /// The device of a name: `GPU1` is the second as `nvidia-smi` numbers them. `None` for a NIC of
    /// the table.
    fn end(&mut self, name: &str) -> Result<Option<VertexId>, LinksReadError> {
        if let Some(known) = self.known.find(name) {
            let vertex = self.known.vertex(known).filter(|it| it.kind == VertexKind::Gpu).cloned();
            return Ok(vertex.map(|it| self.add(it)));
        }
        let Some(number) = name.strip_prefix("GPU").and_then(|it| it.parse::<usize>().ok()) else {
            return Ok(None);
        };
        let is_gpu = |vertex: &VertexId| {
            self.known.vertex(*vertex).is_some_and(|it| it.kind == VertexKind::Gpu)
        };
        let gpus: Vec<VertexId> = self.known.vertex_ids().filter(is_gpu).collect();
        let gpu = gpus.iter().find(|gpu| device_number(self.known, **gpu) as usize == number);
        let gpu = gpu.and_then(|gpu| self.known.vertex(*gpu)).cloned();
        let gpu =
            gpu.ok_or_else(|| LinksReadError::Gpus { name: name.to_owned(), found: gpus.len() })?;
        Ok(Some(self.add(gpu)))
    }

    /// Adds links of pairs: to each other, or to a switch if a GPU cannot have so many.
    fn between_gpus(&mut self, pairs: &[(VertexId, VertexId, LinkClass, Option<u16>)]) {
        let links_of = |gpu: VertexId| {
            let own = pairs.iter().filter(|(one, other, ..)| [*one, *other].contains(&gpu));
            own.map(|(.., count)| u32::from(count.unwrap_or(0))).sum::<u32>()
        };
        let is_nvlink = pairs.iter().all(|(_, _, class, _)| *class == LinkClass::NvLink);
        let ends = || pairs.iter().flat_map(|(one, other, ..)| [*one, *other]);
        if !is_nvlink || ends().all(|gpu| links_of(gpu) <= MOST_NVLINKS) {
            for (one, other, class, count) in pairs {
                self.link(*one, *other, *class, *count, None);
            }
            return;
        }
        let switch = self.add(Vertex {
            kind: VertexKind::NvSwitch,
            object: None,
            name: Some(Vertex::ALL_SWITCHES.into()),
        });
        let mut gpus: Vec<VertexId> = ends().collect();
        gpus.sort_by_key(|gpu| gpu.0);
        gpus.dedup();
        for gpu in gpus {
            let own = pairs.iter().filter(|(one, other, ..)| [*one, *other].contains(&gpu));
            let count = own.filter_map(|(.., count)| *count).max();
            self.link(gpu, switch, LinkClass::NvLink, count, None);
        }
    }
}
