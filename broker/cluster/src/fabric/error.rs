//! Why the description of a fabric cannot be used.

/// Why the description of a fabric cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FabricError {
    /// The file cannot be read.
    #[error("{file}: cannot be read")]
    Read {
        /// The file.
        file: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// No line is that of a known format.
    #[error(
        "{file}: is no output of ibnetdiscover (with or without -p) or of iblinkinfo (with or without --line); expected one of these"
    )]
    Format {
        /// The file.
        file: String,
    },
    /// A line is not as the format says.
    #[error("{file}, line {line}: found {found:?}, expected {expected}")]
    Line {
        /// The file.
        file: String,
        /// Number of the line, from 1.
        line: usize,
        /// What was found, at most its first 80 characters.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A link is there in one direction only.
    #[error(
        "{file}, line {line}: the link from port {from} to port {to} is not there in the other direction; the description is incomplete: make it again, with iblinkinfo without --switches-only"
    )]
    OneWay {
        /// The file.
        file: String,
        /// Number of the line.
        line: usize,
        /// The end that tells of the link: GUID and port.
        from: String,
        /// The end that does not.
        to: String,
    },
    /// A port is connected to itself.
    #[error("{file}, line {line}: port {port} is connected to itself")]
    ToItself {
        /// The file.
        file: String,
        /// Number of the line.
        line: usize,
        /// The port.
        port: String,
    },
    /// A GUID is that of a switch and of a port of a host.
    #[error(
        "{file}, line {line}: {guid:#018x} is a switch and a port of a host; expected one of them"
    )]
    Both {
        /// The file.
        file: String,
        /// Number of a line that has it.
        line: usize,
        /// The GUID.
        guid: u64,
    },
    /// A port is connected to two others.
    #[error(
        "{file}, line {line}: port {from} is connected to {one} and to {other}; expected one of them"
    )]
    Twice {
        /// The file.
        file: String,
        /// Number of the line.
        line: usize,
        /// The port.
        from: String,
        /// What it was connected to before.
        one: String,
        /// What this line says.
        other: String,
    },
}

impl FabricError {
    pub(super) fn line(file: &str, line: usize, found: &str, expected: &'static str) -> Self {
        let found = found.chars().take(80).collect();
        Self::Line { file: file.to_owned(), line, found, expected }
    }
}
