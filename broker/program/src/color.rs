//! Colours on a terminal: what is wrong is red, and kinds of objects look different. `--color`,
//! `NO_COLOR`, `CLICOLOR_FORCE` and a terminal without colours are obeyed.

use anstyle::{AnsiColor, Effects, Style};
use std::io::stdout;

/// When there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum When {
    /// On a terminal
    Auto,
    /// Also into files and pipes
    Always,
    /// Nowhere
    Never,
}

/// Obeys `--color` from now on.
pub(crate) fn set(when: When) {
    match when {
        When::Auto => anstream::ColorChoice::Auto,
        When::Always => anstream::ColorChoice::Always,
        When::Never => anstream::ColorChoice::Never,
    }
    .write_global();
}

/// The length of a sequence that sets a colour or ends it, if a text begins with one.
pub(crate) fn sequence_length(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\u{1b}[")?;
    let end = numbers.find(|it: char| !it.is_ascii_digit() && it != ';')?;
    // Those that are used here, and none that hides a text.
    let is_used =
        |number: &str| matches!(number, "0" | "1" | "2" | "31" | "32" | "33" | "34" | "35" | "36");
    let is_color =
        numbers.get(end..)?.starts_with('m') && numbers.get(..end)?.split(';').all(is_used);
    is_color.then_some("\u{1b}[".len() + end + 1)
}

/// Whether standard output has colours.
pub(crate) fn is_on() -> bool {
    anstream::AutoStream::choice(&stdout()) != anstream::ColorChoice::Never
}

const RED: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red))).bold();
const YELLOW: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow)));
const GREEN: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
const MAGENTA: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Magenta)));
const CYAN: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Cyan)));
const BOLD: Style = Style::new().effects(Effects::BOLD);
const DIM: Style = Style::new().effects(Effects::DIMMED);

/// Lines of `doctor`, `check` and `status`, with states in their colours.
pub(crate) fn states(text: String) -> String {
    if is_on() { words(&text, style_of_state) } else { text }
}

fn style_of_state(word: &str) -> Option<Style> {
    match word {
        "bad" | "gone" => Some(RED),
        "note" | "note:" => Some(YELLOW),
        "good" | "alive" => Some(GREEN),
        _ => None,
    }
}

/// A text in the colour of what is wrong.
pub(crate) fn wrong(text: &str) -> String {
    if is_on() { painted(text, RED) } else { text.to_owned() }
}

/// A topology as `ls` prints it: types in the colours of their kinds, what is in brackets dim.
pub(crate) fn tree(text: String) -> String {
    if !is_on() {
        return text;
    }
    let line = |line: &str| {
        let mut depth = 0;
        words(line, |word| {
            let is_inside = depth > 0 || word.starts_with('(');
            depth += word.matches('(').count();
            depth -= word.matches(')').count().min(depth);
            if is_inside { Some(DIM) } else { style_of_type(word) }
        })
    };
    text.split_inclusive('\n').map(line).collect()
}

fn style_of_type(word: &str) -> Option<Style> {
    match word {
        "Machine" | "Package" | "Die" => Some(BOLD),
        "NUMANode" | "MemCache" => Some(MAGENTA),
        "Core" | "PU" => Some(CYAN),
        "HostBridge" | "PCIBridge" | "PCI" => Some(DIM),
        _ if word.starts_with('"') => Some(GREEN),
        _ => None,
    }
}

/// A text with each word in a style, if it has one.
fn words(text: &str, mut style: impl FnMut(&str) -> Option<Style>) -> String {
    let split = text.split_inclusive([' ', '\n']);
    let paint = |piece: &str| {
        let word = piece.trim_end_matches([' ', '\n']);
        let end = piece.get(word.len()..).unwrap_or_default();
        match style(word) {
            Some(style) if !word.is_empty() => painted(word, style) + end,
            _ => piece.to_owned(),
        }
    };
    split.map(paint).collect()
}

fn painted(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_states_and_brackets_have_styles_and_other_words_stay() {
        let tree = words("Package L#0 (P#0 18GB)\n", style_of_type);
        assert_eq!(tree, "\u{1b}[1mPackage\u{1b}[0m L#0 (P#0 18GB)\n");
        assert_eq!(
            words("bad   segment\n", style_of_state),
            "\u{1b}[1m\u{1b}[31mbad\u{1b}[0m   segment\n"
        );
        assert_eq!(words("good\n", |_| None), "good\n");
    }
}
