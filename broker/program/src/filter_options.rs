//! Options that filter types of objects. As in lstopo, each option changes the filters that the
//! options before it have set.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use topobroker::description::{Filters, is_any_cache};
use topobroker::hwloc::TypeFilter;
use topobroker::location::{NamedLevel, is_word_for_pu};
use topobroker_reader::{ObjectType, TypeName};

/// The filters that the options ask for.
#[derive(Debug, Clone, Default)]
pub(super) struct FilterOptions {
    filters: Filters,
    leaves_out_pus: bool,
}

/// The effect of one option.
#[derive(Debug, Clone)]
enum Change {
    Io,
    Bridges,
    Caches,
    InstructionCaches,
    UselessCaches,
    Pus,
    WholeIo,
    Merge,
    Types(Vec<ObjectType>, TypeFilter),
}

const FLAGS: [(&str, Change, &str); 8] = [
    ("no-io", Change::Io, "Leave out bridges, PCI and OS devices"),
    ("no-bridges", Change::Bridges, "Leave out bridges"),
    ("no-caches", Change::Caches, "Leave out CPU caches"),
    ("no-icaches", Change::InstructionCaches, "Leave out instruction caches"),
    (
        "no-useless-caches",
        Change::UselessCaches,
        "Leave out CPU caches that add nothing to the structure",
    ),
    ("no-smt", Change::Pus, "Leave out PUs"),
    ("whole-io", Change::WholeIo, "Keep all bridges, PCI and OS devices, not only those of HPC"),
    ("merge", Change::Merge, "Leave out levels that add nothing to the structure"),
];

impl FilterOptions {
    pub(super) fn filters(&self) -> &Filters {
        &self.filters
    }

    /// Whether PUs are not printed. Every topology has them, so no filter leaves them out.
    pub(super) fn leaves_out_pus(&self) -> bool {
        self.leaves_out_pus
    }

    fn apply(&mut self, change: &Change) {
        let filters = &mut self.filters;
        match change {
            Change::Io => filters.set_io(TypeFilter::None),
            Change::Bridges => filters.set(ObjectType::Bridge, TypeFilter::None),
            Change::Caches => filters.set_caches(TypeFilter::None),
            Change::InstructionCaches => {
                let caches = ObjectType::ALL.into_iter().filter(|it| it.is_instruction_cache());
                caches.for_each(|object_type| filters.set(object_type, TypeFilter::None));
            }
            Change::UselessCaches => filters.set_caches(TypeFilter::Structure),
            Change::Pus => self.leaves_out_pus = true,
            Change::WholeIo => filters.set_io(TypeFilter::All),
            Change::Merge => {
                filters.set_all(TypeFilter::Structure);
                filters.set_io(TypeFilter::Important);
            }
            Change::Types(types, filter) => {
                types.iter().for_each(|object_type| filters.set(*object_type, *filter));
                let is_without = *filter == TypeFilter::None;
                self.leaves_out_pus |= is_without && types[..] == [ObjectType::PU];
            }
        }
    }
}

impl Args for FilterOptions {
    fn augment_args(command: Command) -> Command {
        let command = FLAGS.into_iter().fold(command, |command, (name, _, help)| {
            let flag = Arg::new(name).long(name).help(help).action(ArgAction::Append);
            command.arg(flag.num_args(0).default_missing_value(""))
        });
        let command = command.arg(
            Arg::new("ignore")
                .long("ignore")
                .value_name("TYPE")
                .action(ArgAction::Append)
                .value_parser(ignored)
                .help("Leave out objects of a type. Repeat for others"),
        );
        command.arg(
            Arg::new("filter")
                .long("filter")
                .value_name("TYPE:KIND")
                .action(ArgAction::Append)
                .value_parser(type_filter)
                .help(
                    "Filter a type: TYPE:none, TYPE:all, TYPE:structure or TYPE:important; \
                     TYPE may be all, io, cache or icache",
                ),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FilterOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = Self::default();
        options.update_from_arg_matches(matches)?;
        Ok(options)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let indices = |name| matches.indices_of(name).into_iter().flatten();
        let mut changes: Vec<(usize, Change)> = Vec::new();
        for (name, change, _) in FLAGS {
            changes.extend(indices(name).map(|index| (index, change.clone())));
        }
        for name in ["filter", "ignore"] {
            let types = matches.get_many::<Change>(name).into_iter().flatten().cloned();
            changes.extend(indices(name).zip(types));
        }
        changes.sort_by_key(|(index, _)| *index);
        changes.iter().for_each(|(_, change)| self.apply(change));
        Ok(())
    }
}

/// Names of types, for messages.
pub(super) const TYPES: &str = "Machine, Package, Die, Core, PU, L1 to L5, L1i to L3i, Group, \
                                NUMANode, MemCache, Bridge, PCIDev, OSDev, Misc";

pub(super) fn type_name(name: &str) -> Result<TypeName, String> {
    TypeName::parse(name).ok_or_else(|| match instead(name) {
        Some(other) => format!("no such type of object; hwloc's word is {other}"),
        None => format!("no such type of object; expected one of {TYPES}"),
    })
}

/// hwloc's name of a type for a word that is none, such as `cores` and `cpu`.
fn instead(name: &str) -> Option<&str> {
    match name.to_ascii_lowercase().trim_end_matches('s') {
        _ if is_word_for_pu(name) => Some("pu"),
        "chip" | "socket" => Some("package"),
        "llc" => Some("l3"),
        "device" => Some("osdev"),
        "card" => Some("pcidev"),
        _ => name.strip_suffix('s').filter(|one| TypeName::parse(one).is_some()),
    }
}

/// Parses the value of an option that takes a type or a depth.
pub(super) fn level(text: &str) -> Result<NamedLevel, String> {
    let expected = || match instead(text) {
        Some(other) => format!("no such type of object, nor a depth; hwloc's word is {other}"),
        None => format!("no such type of object, nor a depth; expected one of {TYPES}"),
    };
    NamedLevel::parse(text).ok_or_else(expected)
}

fn ignored(text: &str) -> Result<Change, String> {
    Ok(Change::Types(vec![type_name(text)?.object_type], TypeFilter::None))
}

fn type_filter(text: &str) -> Result<Change, String> {
    let (name, kind) = text.split_once(':').unwrap_or((text, "all"));
    let filter = match kind {
        "none" => TypeFilter::None,
        "all" => TypeFilter::All,
        "structure" => TypeFilter::Structure,
        "important" => TypeFilter::Important,
        _ => return Err("expected none, all, structure or important after the colon".to_owned()),
    };
    let of = |wanted: fn(ObjectType) -> bool| {
        ObjectType::ALL.into_iter().filter(|object_type| wanted(*object_type)).collect()
    };
    let types = match name {
        "all" => of(|_| true),
        "io" => of(ObjectType::is_io),
        "cache" => of(is_any_cache),
        "icache" => of(ObjectType::is_instruction_cache),
        _ => vec![type_name(name)?.object_type],
    };
    Ok(Change::Types(types, filter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: FilterOptions,
    }

    fn filter(line: &str, object_type: ObjectType) -> TypeFilter {
        let words = ["test"].into_iter().chain(line.split(' '));
        Line::parse_from(words).options.filters().get(object_type)
    }

    #[test]
    fn of_two_filter_options_the_later_wins() {
        assert_eq!(filter("--merge --no-io", ObjectType::Bridge), TypeFilter::None);
        assert_eq!(filter("--no-io --merge", ObjectType::Bridge), TypeFilter::Important);
        assert_eq!(filter("--filter core:none --merge", ObjectType::Core), TypeFilter::Structure);
        assert_eq!(filter("--merge --filter core:none", ObjectType::Core), TypeFilter::None);
    }

    #[test]
    fn types_that_must_stay_are_not_filtered() {
        for object_type in [ObjectType::Machine, ObjectType::PU, ObjectType::NUMANode] {
            assert_eq!(filter("--filter all:none", object_type), TypeFilter::All);
        }
    }
}
