//! Options that hold for the locations behind them, as in hwloc's programs: whether indexes are
//! logical or those of the operating system, whether masks are of PUs or of NUMA nodes.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// What options before a location say of it.
pub(crate) trait Manner: Clone + Copy + Default + Send + Sync + 'static {
    /// The options.
    const SWITCHES: &'static [Switch<Self>];
    /// What the help says of locations.
    const LOCATIONS: &'static str;
}

/// An option that changes how locations behind it are read.
pub(crate) struct Switch<M> {
    pub(crate) name: &'static str,
    pub(crate) short: Option<char>,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) change: fn(&mut M),
    pub(crate) help: &'static str,
}

/// The locations in order, each with the manner that the options before it set, and the manner that
/// all options together set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inputs<M> {
    pub(crate) locations: Vec<(String, M)>,
    pub(crate) manner: M,
}

/// A word of the command line.
enum Word<M> {
    Location(String),
    Switch(fn(&mut M)),
}

impl<M: Manner> Args for Inputs<M> {
    fn augment_args(command: Command) -> Command {
        let command = M::SWITCHES.iter().fold(command, |command, switch| {
            let option = Arg::new(switch.name).long(switch.name).short(switch.short);
            let option = option.help(switch.help).action(ArgAction::Append);
            let option = option.num_args(0).default_missing_value("");
            command.arg(option.visible_aliases(switch.aliases.iter().copied()))
        });
        command.arg(
            Arg::new("location")
                .value_name("LOCATION")
                .action(ArgAction::Append)
                .num_args(0..)
                .help(M::LOCATIONS),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<M: Manner> FromArgMatches for Inputs<M> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut inputs = Self::default();
        inputs.update_from_arg_matches(matches)?;
        Ok(inputs)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let indices = |name| matches.indices_of(name).into_iter().flatten();
        let mut words: Vec<(usize, Word<M>)> = Vec::new();
        for switch in M::SWITCHES {
            words.extend(indices(switch.name).map(|index| (index, Word::Switch(switch.change))));
        }
        let locations = matches.get_many::<String>("location").into_iter().flatten();
        let locations = indices("location").zip(locations);
        words.extend(locations.map(|(index, text)| (index, Word::Location(text.clone()))));
        words.sort_by_key(|(index, _)| *index);
        for (_, word) in words {
            match word {
                Word::Location(location) => self.locations.push((location, self.manner)),
                Word::Switch(change) => change(&mut self.manner),
            }
        }
        Ok(())
    }
}
