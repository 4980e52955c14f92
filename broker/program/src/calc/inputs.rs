//! The locations of `calc`. The options before a location decide how it is read: logical or OS
//! indexes, sets of PUs or of NUMA nodes.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// How locations are read and results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Manner {
    /// Whether indexes in locations are OS indexes.
    pub(crate) physical_input: bool,
    /// Whether printed indexes are OS indexes.
    pub(crate) physical_output: bool,
    /// Whether masks are sets of NUMA nodes.
    pub(crate) nodeset_input: bool,
    /// Whether locations are combined into a set of NUMA nodes.
    pub(crate) nodeset_output: bool,
}

/// The locations in order, each with the manner that the options before it set, and the manner that
/// all options together set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inputs {
    pub(crate) locations: Vec<(String, Manner)>,
    pub(crate) manner: Manner,
}

type Change = fn(&mut Manner);

/// The options: long name, short name, alias, effect on the manner, help text.
const OPTIONS: [(&str, Option<char>, &str, Change, &str); 9] = [
    (
        "logical",
        Some('l'),
        "",
        |manner| (manner.physical_input, manner.physical_output) = (false, false),
        "Take and print logical indexes (default)",
    ),
    (
        "physical",
        Some('p'),
        "",
        |manner| (manner.physical_input, manner.physical_output) = (true, true),
        "Take and print indexes of the operating system",
    ),
    (
        "logical-input",
        None,
        "li",
        |manner| manner.physical_input = false,
        "Take logical indexes (default)",
    ),
    (
        "physical-input",
        None,
        "pi",
        |manner| manner.physical_input = true,
        "Take indexes of the operating system",
    ),
    (
        "logical-output",
        None,
        "lo",
        |manner| manner.physical_output = false,
        "Print logical indexes (default)",
    ),
    (
        "physical-output",
        None,
        "po",
        |manner| manner.physical_output = true,
        "Print indexes of the operating system",
    ),
    (
        "nodeset",
        Some('n'),
        "",
        |manner| (manner.nodeset_input, manner.nodeset_output) = (true, true),
        "Take and print sets of NUMA nodes",
    ),
    ("nodeset-input", None, "ni", |manner| manner.nodeset_input = true, "Take masks of NUMA nodes"),
    (
        "nodeset-output",
        None,
        "no",
        |manner| manner.nodeset_output = true,
        "Combine and print sets of NUMA nodes",
    ),
];

impl Args for Inputs {
    fn augment_args(command: Command) -> Command {
        let command =
            OPTIONS.into_iter().fold(command, |command, (name, short, alias, _, help)| {
                let mut option = Arg::new(name).long(name).help(help).action(ArgAction::Append);
                option = option.num_args(0).default_missing_value("");
                if let Some(short) = short {
                    option = option.short(short);
                }
                if !alias.is_empty() {
                    option = option.visible_alias(alias);
                }
                command.arg(option)
            });
        command.arg(
            Arg::new("location")
                .value_name("LOCATION")
                .action(ArgAction::Append)
                .num_args(0..)
                .help(
                    "Objects (core:2-3, package:1.pu:all, os=eth0, pci=0000:03:00.1), masks \
                     (0x0000000f) or all; after ~ taken out, after x intersected, after ^ toggled; \
                     without any, the words of each line of standard input",
                ),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Inputs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut inputs = Self::default();
        inputs.update_from_arg_matches(matches)?;
        Ok(inputs)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let indices = |name| matches.indices_of(name).into_iter().flatten();
        let mut words: Vec<(usize, Result<String, Change>)> = Vec::new();
        for (name, _, _, change, _) in OPTIONS {
            words.extend(indices(name).map(|index| (index, Err(change))));
        }
        let locations = matches.get_many::<String>("location").into_iter().flatten();
        let locations = indices("location").zip(locations);
        words.extend(locations.map(|(index, text)| (index, Ok(text.clone()))));
        words.sort_by_key(|(index, _)| *index);
        for (_, word) in words {
            match word {
                Ok(location) => self.locations.push((location, self.manner)),
                Err(change) => change(&mut self.manner),
            }
        }
        Ok(())
    }
}
