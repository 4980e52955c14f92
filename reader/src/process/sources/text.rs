//! A text that names PUs, read from its start, with errors that name the text and the position.

use super::error::SourceError;
use crate::topology::Topology;
use topobroker_layout::archive::INDEX_LIMIT;
use topobroker_layout::set::{Format, Set};

/// What is expected of an index.
pub(super) const BELOW_LIMIT: &str = "indexes below 131072, which is more than Linux can have";

/// The PUs of a text, by OS index, if the topology has all of them and they are any.
pub(super) fn known(topology: Topology<'_>, text: Text<'_>, set: Set) -> Result<Set, SourceError> {
    let pus = topology.root().cpuset().unwrap_or_default();
    match set.and_not(&pus).first() {
        _ if set.is_empty() => Err(text.empty()),
        None => Ok(set),
        Some(index) => Err(SourceError::NotInMachine {
            what: text.what,
            text: text.whole.to_owned(),
            object: "PU",
            numbering: "OS",
            index,
            expected: format!("the topology has {}", pus.to_text(Format::List)),
        }),
    }
}

/// A text that is read from its start, with the errors that name it.
#[derive(Clone, Copy)]
pub(super) struct Text<'t> {
    pub(super) what: &'static str,
    pub(super) whole: &'t str,
    pub(super) rest: &'t str,
}

impl<'t> Text<'t> {
    pub(super) fn new(what: &'static str, whole: &'t str) -> Self {
        Self { what, whole, rest: whole }
    }

    /// The same with another part still to be read.
    pub(super) fn at(self, rest: &'t str) -> Self {
        Self { rest, ..self }
    }

    pub(super) fn malformed(self, reason: &'static str, expected: &'static str) -> SourceError {
        let position = self.rest.as_ptr() as usize - self.whole.as_ptr() as usize;
        let (what, text) = (self.what, self.whole.to_owned());
        SourceError::Malformed { what, text, position, reason, expected }
    }

    pub(super) fn empty(self) -> SourceError {
        SourceError::Empty { what: self.what, text: self.whole.to_owned() }
    }

    /// The same without blanks in front.
    pub(super) fn trimmed(self) -> Self {
        self.at(self.rest.trim_start())
    }

    pub(super) fn strip(self, prefix: &str) -> Option<Self> {
        self.rest.strip_prefix(prefix).map(|rest| self.at(rest))
    }

    /// Takes a decimal number.
    pub(super) fn number(self, expected: &'static str) -> Result<(u32, Self), SourceError> {
        let end = self.rest.find(|letter: char| !letter.is_ascii_digit());
        let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        match digits.parse() {
            Ok(number) => Ok((number, self.at(rest))),
            Err(_) if digits.is_empty() => Err(self.malformed("no number", expected)),
            Err(_) => Err(self.malformed("a number that is too large", expected)),
        }
    }

    /// Takes the OS or logical index of a PU or a NUMA node.
    pub(super) fn index(self, expected: &'static str) -> Result<(u32, Self), SourceError> {
        match self.number(expected)? {
            (index, rest) if index < INDEX_LIMIT => Ok((index, rest)),
            _ => Err(self.malformed("an index that is too high", BELOW_LIMIT)),
        }
    }

    /// The parts between separators, each with its place.
    pub(super) fn split(self, separator: char) -> impl Iterator<Item = Self> + use<'t> {
        self.rest.split(separator).map(move |part| self.at(part))
    }

    /// Fails if something is left.
    pub(super) fn end(self, expected: &'static str) -> Result<(), SourceError> {
        match self.rest {
            "" => Ok(()),
            _ => Err(self.malformed("more than expected", expected)),
        }
    }
}
