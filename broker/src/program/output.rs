//! What the program prints, and what it says on standard error.

use super::closed;
use anyhow::{Context, anyhow, ensure};
use std::io::{self, Write};
use std::process::ExitCode;

/// Says something on standard error. If that cannot be written to, nobody is left to tell.
pub(super) fn say(message: &str) {
    let _ = writeln!(io::stderr(), "topobroker: {message}");
}

/// Prints to standard output; a reader that went away is told by the error.
pub(super) fn print(text: &str) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context(STANDARD_OUTPUT)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints what somebody must have read: with keys that nobody got, nothing is found. A reader that went away is a
/// fault here, and so is a standard output that was closed.
pub(super) fn hand_over(text: &str) -> anyhow::Result<ExitCode> {
    ensure!(!closed::was_standard_output_closed(), "{STANDARD_OUTPUT}: is closed");
    print(text).map_err(|error| anyhow!(whole_message(&error)))
}

pub(super) const STANDARD_OUTPUT: &str = "standard output";

/// An error with its causes.
pub(super) fn whole_message(error: &anyhow::Error) -> String {
    format!("{error:#}")
}

/// An error of a library with its causes.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
