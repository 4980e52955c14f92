//! The commands in groups, as the help of the program lists them.

use clap::Command;

/// Groups of commands, those of every day first.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Look at a node", &["ls", "draw", "info", "devices", "networks", "ports", "links", "doctor"]),
    ("Place and bind", &["bind", "calc", "distrib", "ps", "scope", "job", "check"]),
    ("Share a topology", &["run", "publish", "serve", "load", "status", "unpublish", "audit"]),
    ("Many nodes", &["cluster"]),
    ("Files and upkeep", &["export", "diff", "patch", "completions", "help"]),
];

/// Heading of options that say which topology a command is about.
const TOPOLOGY: &str = "Which topology, and which part of it";

/// Letters of a line at most, and those before what a command does.
const WIDTH: usize = 80;
const INDENT: usize = 15;

/// The program, with its commands in groups in its help.
pub(crate) fn with_groups(program: Command) -> Command {
    let text = GROUPS.iter().map(|(heading, names)| {
        let lines = names.iter().map(|name| line(&program, name));
        format!("{heading}:\n{}\n", lines.collect::<String>())
    });
    let text: String = text.collect();
    with_topology_last(program).help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} \
         {{usage}}\n\n{text}Options:\n{{options}}{{after-help}}"
    ))
}

/// Commands with the options that say which topology they are about below a heading of their own,
/// the last.
fn with_topology_last(command: Command) -> Command {
    const OPTIONS: [&str; 8] =
        ["input", "format", "disallowed", "adopted", "restrict", "restrict_flags", "job", "view"];
    let has_input = command.get_arguments().any(|it| it.get_id() == "input");
    let command =
        command.mut_args(|it| match has_input && OPTIONS.contains(&it.get_id().as_str()) {
            true => it.help_heading(TOPOLOGY),
            false => it,
        });
    command.mut_subcommands(with_topology_last)
}

/// What a command does, below its name.
fn line(program: &Command, name: &str) -> String {
    let about = program.find_subcommand(name).and_then(Command::get_about);
    let about = about.map(ToString::to_string).unwrap_or_default();
    let mut text = format!("  {name:<width$}", width = INDENT - 2);
    let mut length = INDENT;
    for word in about.split(' ') {
        if length + word.len() + 1 > WIDTH {
            text += &format!("\n{:INDENT$}", "");
            length = INDENT;
        }
        let space = if length == INDENT { "" } else { " " };
        text += &format!("{space}{word}");
        length += space.len() + word.len();
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::program;

    #[test]
    fn each_command_is_in_one_group_of_the_help_and_lines_have_80_letters_at_most() {
        let mut named: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        named.sort_unstable();
        let program = program();
        let is_shown = |it: &&Command| !it.is_hide_set();
        let mut all: Vec<&str> =
            program.get_subcommands().filter(is_shown).map(Command::get_name).collect();
        all.sort_unstable();
        assert_eq!(named, all);
        let help = with_groups(program).term_width(80).render_help().to_string();
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
        assert!(help.contains("Look at a node:\n  ls ") && help.contains("\nOptions:\n"), "{help}");
    }
}
