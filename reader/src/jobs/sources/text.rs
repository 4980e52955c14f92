//! Reads a text that names PUs, from its start. Errors name the text and the position.

use super::error::SourceError;
use crate::topology::Topology;
use alloc::borrow::ToOwned;
use alloc::format;
use topobroker_layout::archive::INDEX_LIMIT;
use topobroker_layout::set::{Format, Set};

/// For errors: the indexes that are expected.
pub(super) const BELOW_LIMIT: &str = "indexes below 131072, which is more than Linux can have";

/// Checks the PUs that a text names, by OS index: there must be one, and all must be in the
/// topology.
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

/// A text, and the rest of it that is still to be read. Its errors name the text.
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

    /// This text with another rest.
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

    /// This text without the blanks at the start of its rest.
    pub(super) fn trimmed(self) -> Self {
        self.at(self.rest.trim_start())
    }

    pub(super) fn strip(self, prefix: &str) -> Option<Self> {
        self.rest.strip_prefix(prefix).map(|rest| self.at(rest))
    }

    /// Reads a decimal number. Returns it and what follows.
    pub(super) fn number(self, expected: &'static str) -> Result<(u32, Self), SourceError> {
        let end = self.rest.find(|letter: char| !letter.is_ascii_digit());
        let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        match digits.parse() {
            Ok(number) => Ok((number, self.at(rest))),
            Err(_) if digits.is_empty() => Err(self.malformed("no number", expected)),
            Err(_) => Err(self.malformed("a number that is too large", expected)),
        }
    }

    /// Reads the OS or logical index of a PU or a NUMA node. Returns it and what follows.
    pub(super) fn index(self, expected: &'static str) -> Result<(u32, Self), SourceError> {
        match self.number(expected)? {
            (index, rest) if index < INDEX_LIMIT => Ok((index, rest)),
            _ => Err(self.malformed("an index that is too high", BELOW_LIMIT)),
        }
    }

    /// The parts between separators. Errors about a part have its position in the whole text.
    pub(super) fn split(self, separator: char) -> impl Iterator<Item = Self> + use<'t> {
        self.rest.split(separator).map(move |part| self.at(part))
    }

    /// Fails if there is a rest.
    pub(super) fn end(self, expected: &'static str) -> Result<(), SourceError> {
        match self.rest {
            "" => Ok(()),
            _ => Err(self.malformed("more than expected", expected)),
        }
    }
}
