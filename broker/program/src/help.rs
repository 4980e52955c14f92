//! `topobroker help`: the help of a command, or of a topic that several commands share.

use super::output;
use anyhow::bail;
use clap::{Args, Command};
use std::process::ExitCode;

/// Print the help of a command, or of a topic: keys, views, jobs, locations, inputs
#[derive(Debug, Args)]
pub(super) struct Help {
    /// A command, such as `job add`, or a topic
    words: Vec<String>,
}

/// Topics and their texts.
const TOPICS: [(&str, &str); 5] = [
    ("keys", include_str!("topics/keys.txt")),
    ("views", include_str!("topics/views.txt")),
    ("jobs", include_str!("topics/jobs.txt")),
    ("locations", include_str!("topics/locations.txt")),
    ("inputs", include_str!("topics/inputs.txt")),
];

impl Help {
    pub(super) fn run(&self, mut program: Command) -> anyhow::Result<ExitCode> {
        program.build();
        let topic = |word: &String| TOPICS.iter().find(|(name, _)| name == word);
        if let [word] = &self.words[..]
            && let Some((_, text)) = topic(word)
        {
            return output::print(text);
        }
        let mut command = &mut program;
        for word in &self.words {
            let Some(below) = command.find_subcommand_mut(word) else {
                let topics: Vec<&str> = TOPICS.iter().map(|(name, _)| *name).collect();
                bail!(
                    "no command and no topic is named '{}'; topics are {}, and `topobroker \
                     --help` lists the commands",
                    self.words.join(" "),
                    topics.join(", ")
                );
            };
            command = below;
        }
        output::print(&command.render_long_help().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_fit_into_80_letters_and_name_commands_that_are_there() {
        let program = crate::program::program();
        for (name, text) in TOPICS {
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{name}");
            for (_, command) in
                text.match_indices("topobroker ").map(|(at, it)| text.split_at(at + it.len()))
            {
                let word = command.split(|it: char| !it.is_ascii_lowercase()).next().unwrap();
                assert!(
                    word.is_empty() || program.find_subcommand(word).is_some(),
                    "{name}: {word}"
                );
            }
        }
    }
}
