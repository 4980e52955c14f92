//! The output of the program: results on standard output, messages on standard error.

use super::{closed_stdout, color};
use anyhow::{Context, anyhow, ensure};
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use topobroker_cluster::write_file;

/// Whether the terminal shows how far work is, in a line that a message takes the place of.
pub(super) static IS_LINE_SHOWN: AtomicBool = AtomicBool::new(false);

/// Whether notes are left out.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Leaves out notes from now on.
pub(super) fn be_quiet() {
    IS_QUIET.store(true, Ordering::Relaxed);
}

/// Whether notes are left out.
pub(super) fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// Writes a note to standard error, unless the user wants none.
pub(super) fn say(message: &str) {
    if !is_quiet() {
        complain(message);
    }
}

/// Writes a message to standard error, without what a terminal would obey. If that fails, there is
/// nowhere left to report it.
pub(super) fn complain(message: &str) {
    let start = if IS_LINE_SHOWN.load(Ordering::Relaxed) { "\r\u{1b}[K" } else { "" };
    let _ = writeln!(io::stderr(), "{start}topobroker: {}", harmless(message, |_| None));
}

/// A text with the escape of each control character in its place: names and messages of others may
/// have sequences that a terminal obeys. `kept` is the length of a sequence at the start of a text
/// that stays.
fn harmless(text: &str, kept: impl Fn(&str) -> Option<usize>) -> Cow<'_, str> {
    let is_harmful = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    if !text.contains(is_harmful) {
        return text.into();
    }
    let mut harmless = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = if is_harmful(letter) { kept(rest) } else { Some(letter.len_utf8()) };
        let (start, behind) = rest.split_at(length.unwrap_or(letter.len_utf8()));
        match length {
            Some(_) => harmless.push_str(start),
            None => harmless.extend(letter.escape_default()),
        }
        rest = behind;
    }
    harmless.into()
}

/// A name of others without what would end the line or steer a terminal.
pub(super) fn in_line(name: &str) -> Cow<'_, str> {
    match name.contains(char::is_control) {
        true => name.replace(char::is_control, "?").into(),
        false => name.into(),
    }
}

/// Prints text to standard output, without what a terminal would obey but colours. If the reader
/// has gone away, the error is that of a broken pipe. XML and keys are not printed but written,
/// byte for byte.
pub(super) fn print(text: &str) -> anyhow::Result<ExitCode> {
    let color = |text: &str| color::sequence_length(text).filter(|_| color::is_on());
    write(None, harmless(text, color).as_bytes(), false)
}

/// Whether a file's name is that of standard output: `-`, `-.svg` and the like, as in lstopo, and
/// the names that the system has. To open those again would begin at the start of the file that
/// standard output is.
pub(super) fn is_standard(file: &Path) -> bool {
    const NAMES: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    let folder = file.parent().unwrap_or(file);
    let is_here = ["", "."].iter().any(|own| folder == Path::new(own));
    NAMES.iter().any(|name| file.as_os_str() == *name)
        || (is_here && file.extension().is_some() && file.file_stem().is_some_and(|it| it == "-"))
}

/// The file whose name says a format: not standard output, if its name has no ending.
pub(super) fn with_format(file: Option<&Path>) -> Option<&Path> {
    file.filter(|file| !is_standard(file) || file.extension().is_some())
}

/// Writes what a command makes, whole: to a file, or to standard output.
pub(super) fn write(file: Option<&Path>, bytes: &[u8], force: bool) -> anyhow::Result<ExitCode> {
    write_with_mode(file, bytes, 0o644, force)
}

/// [`write`], with the mode of a new file.
pub(super) fn write_with_mode(
    file: Option<&Path>,
    bytes: &[u8],
    mode: u32,
    force: bool,
) -> anyhow::Result<ExitCode> {
    match file.filter(|file| !is_standard(file)) {
        Some(file) => write_file(file, bytes, mode, force)?,
        None => {
            let mut out = io::stdout().lock();
            out.write_all(bytes).and_then(|()| out.flush()).context(STANDARD_OUTPUT)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints text that must reach its reader, such as keys: without them the segment cannot be found.
/// It is an error here if the reader has gone away or if standard output was closed at the start.
pub(super) fn hand_over(text: &str) -> anyhow::Result<ExitCode> {
    ensure!(!closed_stdout::was_standard_output_closed(), "{STANDARD_OUTPUT}: is closed");
    write(None, text.as_bytes(), false).map_err(|error| anyhow!(whole_message(&error)))
}

pub(super) const STANDARD_OUTPUT: &str = "standard output";

/// The message of an error and of its causes.
pub(super) fn whole_message(error: &anyhow::Error) -> String {
    format!("{error:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_of_a_message_do_not_reach_the_terminal() {
        assert_eq!(
            harmless("n1: \u{1b}[31mred\r\u{9b}2J\tü\n", |_| None),
            "n1: \\u{1b}[31mred\\r\\u{9b}2J\tü\n"
        );
        // Colours stay on standard output, and what hides a text does not.
        assert_eq!(
            harmless("\u{1b}[1;31mred\u{1b}[0m\u{1b}[8mhidden", color::sequence_length),
            "\u{1b}[1;31mred\u{1b}[0m\\u{1b}[8mhidden"
        );
        assert_eq!(in_line("X\n\u{1b}Y"), "X??Y");
    }
}
