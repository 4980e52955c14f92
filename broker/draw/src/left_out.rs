//! What a box stands for that is not drawn: `Core L#1-6`, `PU L#2-13 P#1-6,9-14`, names of devices. The page
//! finds objects by it.

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
        match (label.split_once(" L#"), logical, physical) {
            (Some((kind, _)), Some(logical), physical) => {
                let (own, os) = self.indexes.entry(kind.to_owned()).or_default();
                own.insert(logical);
                physical.into_iter().for_each(|index| os.insert(index));
            }
            _ => self.names.extend(shape.look.text.first().cloned()),
        }
        shape.parts().for_each(|part| self.add(part));
    }

    /// A line for each kind, and one for the names.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |(kind, (own, os)): (&String, &(Set, Set))| {
            let os = match os.is_empty() {
                true => String::new(),
                false => format!(" P#{}", os.to_text(Format::List)),
            };
            format!("{kind} L#{}{os}", own.to_text(Format::List))
        };
        let mut lines: Vec<String> = self.indexes.iter().map(line).collect();
        lines.extend((!self.names.is_empty()).then(|| self.names.join(", ")));
        lines
    }
}

/// The number behind a mark of a label.
fn number_behind(label: &str, mark: &str) -> Option<u32> {
    let (_, rest) = label.split_once(mark)?;
    rest.split(|it: char| !it.is_ascii_digit()).next()?.parse().ok()
}
