//! What is wrong in a file, and where.

use std::error::Error;
use std::fmt;

/// What is wrong in a file that was read, with the place.
#[derive(Debug)]
pub struct Located<Kind> {
    /// The file.
    pub file: String,
    /// Number of the line, from 1; `None` if the file as a whole is wrong.
    pub line: Option<usize>,
    /// What is wrong.
    pub kind: Kind,
}

impl<Kind> Located<Kind> {
    pub(crate) fn in_line(file: &str, line: usize, kind: impl Into<Kind>) -> Self {
        Self { file: file.to_owned(), line: Some(line), kind: kind.into() }
    }

    pub(crate) fn in_file(file: &str, kind: impl Into<Kind>) -> Self {
        Self { file: file.to_owned(), line: None, kind: kind.into() }
    }
}

impl<Kind: Error> fmt::Display for Located<Kind> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, kind } = self;
        match line {
            Some(line) => write!(f, "{file}, line {line}: {kind}"),
            None => write!(f, "{file}: {kind}"),
        }
    }
}

impl<Kind: Error> Error for Located<Kind> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.kind.source()
    }
}

/// What was found in a line, and what was expected.
#[derive(Debug, thiserror::Error)]
#[error("found {found:?}, expected {expected}")]
#[allow(missing_docs, reason = "the message says what the fields are")]
pub struct Unexpected {
    pub found: String,
    pub expected: &'static str,
}

impl Unexpected {
    /// Quotes the first 80 characters of what was found.
    pub(crate) fn new(found: &str, expected: &'static str) -> Self {
        Self { found: found.chars().take(80).collect(), expected }
    }
}
