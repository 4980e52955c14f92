//! The `main` function of the `topobroker` program, and its list of commands.

use super::command_words;
use super::help_groups::with_groups;
use super::output::{self, complain, whole_message};
use super::{
    audit, bind, calc, check, cluster, color, completions, devices, difference, distrib, doctor,
    draw, examples, export, help, info, job, links, load, ls, manual, networks, ports, ps, publish,
    run, scope, serve, signals, status, unpacked, unpublish, usage,
};
use anyhow::Context;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::process::ExitCode;
use topobroker::hwloc::{BUILT_WITH, library_version};

/// Publish a node's hwloc topology once, in shared memory, for every process to adopt.
#[derive(Debug, Parser)]
#[command(name = "topobroker", version, propagate_version = true, disable_help_subcommand = true)]
struct Program {
    /// Print no notes on standard error, only errors
    #[arg(short, long, global = true, display_order = 900)]
    quiet: bool,
    /// When to print in colours
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        display_order = 901
    )]
    color: color::When,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Publish(publish::Publish),
    Unpublish(unpublish::Unpublish),
    Status(status::Status),
    Run(run::Run),
    Serve(serve::Serve),
    Load(load::Load),
    Audit(audit::Audit),
    Scope(scope::Scope),
    Job(job::Job),
    // The names that people know from hwloc work, and are not listed.
    #[command(aliases = ["lstopo", "lstopo-no-graphics", "hwloc-ls"])]
    Ls(ls::Ls),
    #[command(alias = "hwloc-info")]
    Info(info::Info),
    #[command(alias = "hwloc-calc")]
    Calc(calc::Calc),
    #[command(alias = "hwloc-distrib")]
    Distrib(distrib::Distrib),
    #[command(alias = "hwloc-bind")]
    Bind(bind::Bind),
    #[command(alias = "hwloc-ps")]
    Ps(ps::Ps),
    Draw(draw::Draw),
    Devices(devices::Devices),
    Networks(networks::Networks),
    Ports(ports::Ports),
    Links(links::Links),
    Cluster(cluster::Cluster),
    Check(check::Check),
    Doctor(doctor::Doctor),
    Export(export::Export),
    #[command(alias = "hwloc-diff")]
    Diff(difference::Diff),
    #[command(alias = "hwloc-patch")]
    Patch(difference::Patch),
    Help(help::Help),
    Manual(manual::Manual),
    Completions(completions::Completions),
}

/// Runs the program. The exit status is 0, 1 after an error (with one line on standard error), or 2
/// on wrong usage. `run` and `audit` exit with the status of their command.
#[must_use]
pub fn main() -> ExitCode {
    completions::answer(program);
    let words = command_words::by_name(std::env::args_os().collect());
    match unpacked::run_again(&words) {
        Ok(None) => {}
        Ok(Some(code)) => return code,
        Err(error) => return exit(Err(error)),
    }
    // It is never dropped: that takes a tenth of the instructions of a short command.
    let mut all = ManuallyDrop::new(if asks_for_help(&words) { with_help() } else { program() });
    let words = command_words::marked(words, &all);
    let path = command_words::path(&words, &all);
    let parsed = all.try_get_matches_from_mut(&words);
    let program = match parsed.and_then(|found| Program::from_arg_matches(&found)) {
        Ok(program) => program,
        Err(usage) => return exit(answered(usage, &words, &path)),
    };
    if let Err(error) = signals::outlive_full_files() {
        return exit(Err(error.into()));
    }
    if program.quiet {
        output::be_quiet();
    }
    color::set(program.color);
    exit(match program.command {
        Command::Publish(publish) => publish.run(),
        Command::Unpublish(unpublish) => unpublish.run(),
        Command::Status(status) => status.run(),
        Command::Run(run) => run.run(),
        Command::Serve(serve) => serve.run(),
        Command::Load(load) => load.run(),
        Command::Audit(audit) => audit.run(),
        Command::Scope(scope) => scope.run(),
        Command::Job(job) => job.run(),
        Command::Ls(ls) => ls.run(),
        Command::Info(info) => info.run(),
        Command::Calc(calc) => calc.run(),
        Command::Distrib(distrib) => distrib.run(),
        Command::Bind(bind) => bind.run(),
        Command::Ps(ps) => ps.run(),
        Command::Draw(draw) => draw.run(),
        Command::Devices(devices) => devices.run(),
        Command::Networks(networks) => networks.run(),
        Command::Ports(ports) => ports.run(),
        Command::Links(links) => links.run(),
        Command::Cluster(cluster) => cluster.run(),
        Command::Check(check) => check.run(),
        Command::Doctor(doctor) => doctor.run(),
        Command::Export(export) => export.run(),
        Command::Diff(diff) => diff.run(),
        Command::Patch(patch) => patch.run(),
        Command::Help(help) => help.run(with_help()),
        Command::Manual(manual) => manual.run(Program::command()),
        Command::Completions(completions) => completions.run(),
    })
}

/// The program as clap knows it.
pub(crate) fn program() -> clap::Command {
    Program::command()
}

/// Whether the help may be asked for: the word may also be one of a command that is to be run.
fn asks_for_help(words: &[OsString]) -> bool {
    words.iter().any(|word| ["-h", "--help"].iter().any(|help| word == help))
}

/// The program with all that its help has. It is made only if it is printed, because it takes
/// longer than most commands do.
fn with_help() -> clap::Command {
    with_groups(examples::with_examples(program()))
}

fn exit(outcome: anyhow::Result<ExitCode>) -> ExitCode {
    match outcome {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&whole_message(&error));
            ExitCode::FAILURE
        }
    }
}

/// Prints the message of clap: help to standard output, a usage error to standard error. The
/// version begins with that of hwloc if the command has a name of hwloc's.
fn answered(error: clap::Error, words: &[OsString], command: &str) -> anyhow::Result<ExitCode> {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    let printed = match error.kind() {
        DisplayHelp => error.print(),
        DisplayHelpOnMissingArgumentOrSubcommand => {
            with_help().try_get_matches_from(words).map_or_else(|help| help.print(), |_| Ok(()))
        }
        DisplayVersion => print_version(&error, words),
        _ => {
            complain(&usage::message(&error, command));
            return Ok(ExitCode::from(2));
        }
    };
    if error.use_stderr() {
        return Ok(ExitCode::from(2));
    }
    printed.and_then(|()| io::stdout().flush()).context(output::STANDARD_OUTPUT)?;
    Ok(ExitCode::SUCCESS)
}

fn print_version(own: &clap::Error, words: &[OsString]) -> io::Result<()> {
    let version = library_version();
    if let Some(name) = command_words::hwloc_name(words) {
        writeln!(io::stdout(), "{name} {version}")?;
    }
    own.print()?;
    writeln!(io::stdout(), "hwloc {version} (built with {BUILT_WITH})")
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of a command line: what is within quotes is one. What the shell does with the command,
    /// and a comment, end it.
    fn words(line: &str) -> Vec<std::ffi::OsString> {
        let mut words = Vec::new();
        for (number, part) in line.split(['"', '\'']).enumerate() {
            if number % 2 == 1 {
                words.push(part.into());
                continue;
            }
            let ends = [part.find(['|', '>', ';', '&']), part.find(" #")];
            let end = ends.into_iter().flatten().min();
            words.extend(part[..end.unwrap_or(part.len())].split_whitespace().map(Into::into));
            if end.is_some() {
                break;
            }
        }
        words
    }

    #[test]
    fn examples_are_command_lines_of_their_commands() {
        for (command, line) in examples::all() {
            let all = examples::with_examples(Program::command());
            let words = command_words::marked(words(line), &all);
            let parsed = all.try_get_matches_from(words);
            assert!(parsed.is_ok(), "{line}: {parsed:?}");
            assert!(line.starts_with(command), "{line}");
        }
    }

    #[test]
    fn each_command_line_of_the_pages_is_one_that_the_program_takes() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folders = ["", "docs", "docs/book", "docs/json", "docs/upstream"];
        let files = folders.iter().flat_map(|folder| root.join(folder).read_dir().unwrap());
        let pages = files.map(|file| file.unwrap().path());
        let mut count = 0;
        for page in pages.filter(|page| page.extension().is_some_and(|it| it == "md")) {
            let text = std::fs::read_to_string(&page).unwrap();
            // Indented lines are blocks that the tests do not run; those between ``` they do.
            let outside = text.split("```").step_by(2).flat_map(str::lines);
            for line in outside.filter_map(|line| line.strip_prefix("    ")) {
                let line = line.trim_start_matches("$ ");
                if !line.starts_with("topobroker ") {
                    continue;
                }
                let all = Program::command();
                let words = command_words::marked(words(line), &all);
                let parsed = all.try_get_matches_from(words);
                assert!(parsed.is_ok(), "{}: {line}: {parsed:?}", page.display());
                count += 1;
            }
        }
        assert!(count > 50, "{count}");
    }
}
