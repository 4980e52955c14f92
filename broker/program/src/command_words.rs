//! Commands that users write without `--` in front of them: `run mpirun ./app`,
//! `bind core:0 hostname`.

use clap::{Arg, ArgAction, Command};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use topobroker::location::Location;

/// The words of a command line, with `--` before the command that one of ours is to run, if it
/// takes one and the user has not written it. Without `--`, clap would parse the options of that
/// command as those of topobroker.
pub(super) fn marked(mut words: Vec<OsString>, program: &Command) -> Vec<OsString> {
    let (names, names_end) = commands(&words, program);
    let own = names.last().copied().unwrap_or(program);
    let mut next = names_end;
    if ["ls", "draw"].contains(&own.get_name()) {
        words.iter_mut().for_each(standard_output);
        return words;
    }
    if !own.get_positionals().any(Arg::is_last_set) {
        return words;
    }
    let mut names = own.get_positionals().filter(|it| !it.is_last_set() && it.get_id() != LOCATION);
    let takes_locations = own.get_positionals().any(|it| it.get_id() == LOCATION);
    while let Some(word) = words.get(next) {
        // A name that is no text can only be that of a command, or a value that its option has
        // taken.
        let word = word.to_str().unwrap_or("\u{fffd}");
        let is_own = match word {
            "--" => return words,
            word if word.starts_with('-') && word.len() > 1 => true,
            word => (takes_locations && Location::parse(word).is_ok()) || names.next().is_some(),
        };
        // Before `--` stands a location, right or wrong, and not a command.
        let is_wrong = word.starts_with(|it: char| it.is_ascii_digit()) || next == names_end;
        if !is_own
            && takes_locations
            && is_wrong
            && words.get(next + 1).is_some_and(|it| it == "--")
        {
            return words;
        }
        if !is_own {
            words.insert(next, "--".into());
            return words;
        }
        next += if takes_next(own, word) { 2 } else { 1 };
    }
    words
}

/// lstopo's name of standard output in a format, `-.svg`, is no option.
fn standard_output(word: &mut OsString) {
    if word.to_str().is_some_and(|it| it.starts_with("-.")) {
        *word = Path::new(".").join(&*word).into();
    }
}

/// The words of a command line with the command in front that the name of the program is: links
/// have the names of hwloc's programs, which are then as lenient as those.
pub(super) fn by_name(mut words: Vec<OsString>) -> Vec<OsString> {
    let name = words.first().and_then(|it| Path::new(it).file_name()).map(OsStr::to_owned);
    let is_of_hwloc = |name: &OsString| HWLOC_NAMES.iter().any(|it| *name == **it);
    if let Some(name) = name.filter(is_of_hwloc) {
        words.insert(1, name);
    }
    let at = command_at(&words);
    let command = words.get(at).and_then(|word| word.to_str());
    // These two go on without what they do not find.
    if command.is_some_and(|word| ["hwloc-calc", "hwloc-info"].contains(&word)) {
        words.insert(at + 1, "--lenient".into());
    } else if command == Some("version") && words.len() == at + 1 {
        words.pop();
        words.push("--version".into());
    }
    words
}

/// The name of hwloc's that a command line begins with.
pub(super) fn hwloc_name(words: &[OsString]) -> Option<&'static str> {
    let command = words.get(command_at(words))?;
    HWLOC_NAMES.into_iter().find(|name| *command == **name)
}

/// The names of hwloc's programs, which are commands here.
pub(super) const HWLOC_NAMES: [&str; 10] = [
    "lstopo",
    "lstopo-no-graphics",
    "hwloc-ls",
    "hwloc-info",
    "hwloc-calc",
    "hwloc-distrib",
    "hwloc-bind",
    "hwloc-ps",
    "hwloc-diff",
    "hwloc-patch",
];

/// Names of the program and of the command that a command line is of.
pub(super) fn path(words: &[OsString], program: &Command) -> String {
    let (commands, _) = commands(words, program);
    commands.into_iter().map(Command::get_name).collect::<Vec<_>>().join(" ")
}

/// The program, and the command of each word that names one, as far as they are in front; and the
/// place behind them.
fn commands<'c>(words: &[OsString], program: &'c Command) -> (Vec<&'c Command>, usize) {
    let mut found = vec![program];
    let mut next = command_at(words);
    while let Some(below) = words.get(next).and_then(|word| found.last()?.find_subcommand(word)) {
        found.push(below);
        next += 1;
    }
    (found, next)
}

/// The place of the command: the options of all commands may be in front of it.
fn command_at(words: &[OsString]) -> usize {
    let mut at = 1;
    while let Some(word) = words.get(at).and_then(|word| word.to_str()) {
        at += match word {
            "-q" | "--quiet" => 1,
            "--color" => 2,
            word if word.starts_with("--color=") => 1,
            _ => break,
        };
    }
    at
}

/// The argument that has places to bind to.
const LOCATION: &str = "location";

/// Whether the word behind this one is the value of an option.
fn takes_next(own: &Command, word: &str) -> bool {
    let of_long = |name: &str, it: &Arg| {
        it.get_long() == Some(name) || it.get_all_aliases().unwrap_or_default().contains(&name)
    };
    let option = match (word.strip_prefix("--"), word.strip_prefix('-')) {
        (Some(name), _) => own.get_arguments().find(|it| of_long(name, it)),
        // Of several in one word, the last may have a value; behind the first that has one it is
        // there.
        (None, Some(letters)) => {
            let of_short = |letter: char| {
                own.get_arguments().find(move |it| it.get_short() == Some(letter) && has_value(it))
            };
            let mut rest = letters.chars();
            let with_value = rest.find_map(of_short);
            with_value.filter(|_| rest.next().is_none())
        }
        (None, None) => None,
    };
    option.is_some_and(has_value)
}

/// Whether an option needs a value in a word of its own.
fn has_value(option: &Arg) -> bool {
    let is_set = matches!(option.get_action(), ArgAction::Set | ArgAction::Append);
    let least = option.get_num_args().map_or(1, |it| it.min_values());
    is_set && least > 0 && !option.is_require_equals_set()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::arg;

    fn marked_text(text: &str) -> String {
        let run = Command::new("run").args([
            arg!(-i --input <INPUT>).aliases(["in"]),
            arg!(-v - -verbose),
            arg!([command]).last(true),
        ]);
        let exec = Command::new("exec").args([
            arg!([name]),
            arg!(--rank <RANK>),
            arg!([command]).last(true),
        ]);
        let bind = Command::new("bind").alias("hwloc-bind").args([
            arg!([location] ...),
            arg!(--membind).action(ArgAction::Append).num_args(0),
            arg!(-p - -physical),
            arg!([command]).last(true),
        ]);
        let program =
            Command::new("it").subcommands([run, bind, Command::new("job").subcommand(exec)]);
        let mut program = program.subcommand(Command::new("ls").arg(arg!([file])));
        program.build();
        let words = text.split(' ').map(OsString::from).collect();
        let marked = marked(words, &program);
        marked.iter().map(|it| it.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_command_is_marked_before_its_first_word_and_no_value_is_taken_for_it() {
        for (given, expected) in [
            ("it run mpirun -n 2 ./app", "it run -- mpirun -n 2 ./app"),
            ("it run -i x.xml app -i", "it run -i x.xml -- app -i"),
            ("it run -vi x.xml app", "it run -vi x.xml -- app"),
            ("it bind 0-1 -- app", "it bind 0-1 -- app"),
            ("it bind eth0 -- app", "it bind eth0 -- app"),
            ("it bind core:0 sh -c x -- y", "it bind core:0 -- sh -c x -- y"),
            ("it bind core:0 echo a -- b", "it bind core:0 -- echo a -- b"),
            ("it run -ix.xml app", "it run -ix.xml -- app"),
            ("it run --in x.xml app", "it run --in x.xml -- app"),
            ("it run --input=x.xml app", "it run --input=x.xml -- app"),
            ("it -q --color never run -v app -n", "it -q --color never run -v -- app -n"),
            ("it run -v -- app", "it run -v -- app"),
            ("it bind core:0 --membind numa:0 ls -l", "it bind core:0 --membind numa:0 -- ls -l"),
            ("it hwloc-bind -p 0x1 ls", "it hwloc-bind -p 0x1 -- ls"),
            ("it bind core:0", "it bind core:0"),
            ("it job exec mine --rank 0 ls -l", "it job exec mine --rank 0 -- ls -l"),
            ("it ls file", "it ls file"),
            ("it", "it"),
        ] {
            assert_eq!(marked_text(given), expected);
        }
    }
}
