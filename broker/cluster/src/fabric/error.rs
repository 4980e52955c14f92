//! Why the description of a fabric cannot be used.

use crate::located::{Located, Unexpected};

/// Why the description of a fabric cannot be used, and where.
pub type FabricError = Located<FabricErrorKind>;

/// Why the description of a fabric cannot be used. Ports are a GUID and a number.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum FabricErrorKind {
    /// The file cannot be read.
    #[error("cannot be read")]
    Read(#[from] std::io::Error),
    /// No line is that of a known format.
    #[error(
        "is no output of ibnetdiscover (with or without -p) or of iblinkinfo (with or without \
         --line); expected one of these"
    )]
    Format,
    /// A line is not as the format says.
    #[error(transparent)]
    Line(#[from] Unexpected),
    /// A link is there in one direction only.
    #[error(
        "the link from port {from} to port {to} is not there in the other direction; the \
         description is incomplete: make it again, with iblinkinfo without --switches-only"
    )]
    OneWay { from: String, to: String },
    /// A port is connected to itself.
    #[error("port {port} is connected to itself")]
    ToItself { port: String },
    /// A GUID is that of a switch and of a port of a host.
    #[error("{guid:#018x} is a switch and a port of a host; expected one of them")]
    Both { guid: u64 },
    /// A port is connected to two others.
    #[error("port {from} is connected to {one} and to {other}; expected one of them")]
    Twice { from: String, one: String, other: String },
}

/// A line that is not as its format says.
pub(super) fn wrong_line(
    file: &str,
    line: usize,
    found: &str,
    expected: &'static str,
) -> FabricError {
    Located::in_line(file, line, Unexpected::new(found, expected))
}
