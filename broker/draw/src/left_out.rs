//! What a box stands for that is not drawn: `Core L#1-6`, `PU P#1-6,9-14`, names of devices. The
//! page finds objects by it.

use crate::shape::NestedBox;
use std::collections::BTreeMap;
use topobroker_layout::set::{Format, Set};

/// Objects by what they are, with their indexes; and names.
#[derive(Default)]
pub(crate) struct LeftOut {
    indexes: BTreeMap<String, (Set, Set)>,
    names: Vec<String>,
}

impl LeftOut {
    /// What is left out with these boxes.
    pub(crate) fn of(boxes: &[NestedBox]) -> Self {
        let mut all = Self::default();
        boxes.iter().for_each(|it| all.add(it));
        all
    }

    fn add(&mut self, shape: &NestedBox) {
        let label = &shape.look.label;
        let logical = number_behind(label, " L#");
        let physical = number_behind(label, "P#");
        let kind = label.split([' ', '(']).next().unwrap_or_default();
        match (logical, physical) {
            (None, None) => self.names.extend(shape.look.text.first().cloned()),
            (logical, physical) => {
                let (own, os) = self.indexes.entry(kind.to_owned()).or_default();
                logical.into_iter().for_each(|index| own.insert(index));
                physical.into_iter().for_each(|index| os.insert(index));
            }
        }
        shape.parts().for_each(|part| self.add(part));
    }

    /// Lines for each kind and each sort of indexes, and for the names. None is too long to be
    /// kept.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (kind, (own, os)) in &self.indexes {
            for (mark, indexes) in [("L#", own), ("P#", os)] {
                if !indexes.is_empty() {
                    let list = indexes.to_text(Format::List);
                    let ranges: Vec<&str> = list.split(',').collect();
                    let parts = ranges.chunks(RANGES_OF_LINE).map(|part| part.join(","));
                    lines.extend(parts.map(|part| format!("{kind} {mark}{part}")));
                }
            }
        }
        lines.extend(self.names.chunks(NAMES_OF_LINE).map(|part| part.join(", ")));
        lines
    }
}

/// How many ranges and names a line has.
const RANGES_OF_LINE: usize = 60;
const NAMES_OF_LINE: usize = 12;

/// The number behind a mark of a label.
fn number_behind(label: &str, mark: &str) -> Option<u32> {
    let (_, rest) = label.split_once(mark)?;
    rest.split(|it: char| !it.is_ascii_digit()).next()?.parse().ok()
}
