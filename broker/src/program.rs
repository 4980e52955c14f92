//! The `topobroker` program, command by command.

mod audit;
pub mod calc;
#[allow(unsafe_code, reason = "looking before the runtime starts is what this module is for")]
mod closed;
pub mod distrib;
mod export;
mod filter_options;
mod flag_names;
pub mod info;
mod input;
mod job;
pub mod ls;
mod manual;
mod part;
mod publish;
mod run;
mod scope;
mod serve;
mod signals;
mod status;
mod subject;
mod unpublish;

use anyhow::{Context, anyhow, ensure};
use clap::{Parser, Subcommand};
use std::io::{self, Write};
use std::process::ExitCode;

/// Publish a node's hwloc topology once, in shared memory, for every process to adopt.
#[derive(Debug, Parser)]
#[command(name = "topobroker", version, propagate_version = true)]
struct Program {
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
    Audit(audit::Audit),
    Scope(scope::Scope),
    Job(job::Job),
    Ls(ls::Ls),
    Info(info::Info),
    Calc(calc::Calc),
    Distrib(distrib::Distrib),
    Export(export::Export),
    Manual(manual::Manual),
    Completions(manual::Completions),
}

/// Runs the program: exits 0, 1 after a fault (one line on standard error), 2 on wrong usage;
/// `run` exits as its command does.
#[must_use]
pub fn main() -> ExitCode {
    let program = match Program::try_parse() {
        Ok(program) => program,
        Err(usage) => return exit(told(&usage)),
    };
    exit(match program.command {
        Command::Publish(publish) => publish.run(),
        Command::Unpublish(unpublish) => unpublish.run(),
        Command::Status(status) => status.run(),
        Command::Run(run) => run.run(),
        Command::Serve(serve) => serve.run(),
        Command::Audit(audit) => audit.run(),
        Command::Scope(scope) => scope.run(),
        Command::Job(job) => job.run(),
        Command::Ls(ls) => ls.run(),
        Command::Info(info) => info.run(),
        Command::Calc(calc) => calc.run(),
        Command::Distrib(distrib) => distrib.run(),
        Command::Export(export) => export.run(),
        Command::Manual(manual) => manual.run(),
        Command::Completions(completions) => completions.run(),
    })
}

fn exit(outcome: anyhow::Result<ExitCode>) -> ExitCode {
    match outcome {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            say(&whole_message(&error));
            ExitCode::FAILURE
        }
    }
}

/// Prints what clap says: help to standard output, what is wrong with the usage to standard error.
fn told(usage: &clap::Error) -> anyhow::Result<ExitCode> {
    let printed = usage.print().and_then(|()| io::stdout().flush());
    if usage.use_stderr() {
        return Ok(ExitCode::from(2));
    }
    printed.context(STANDARD_OUTPUT)?;
    Ok(ExitCode::SUCCESS)
}

/// Says something on standard error. If that cannot be written to, nobody is left to tell.
fn say(message: &str) {
    let _ = writeln!(io::stderr(), "topobroker: {message}");
}

/// Prints to standard output; a reader that went away is told by the error.
fn print(text: &str) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context(STANDARD_OUTPUT)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints what somebody must have read: with keys that nobody got, nothing is found. A reader that went away is a
/// fault here, and so is a standard output that was closed.
fn hand_over(text: &str) -> anyhow::Result<ExitCode> {
    ensure!(!closed::was_standard_output_closed(), "{STANDARD_OUTPUT}: is closed");
    print(text).map_err(|error| anyhow!(whole_message(&error)))
}

const STANDARD_OUTPUT: &str = "standard output";

/// The error with its causes, without those that it names itself.
fn whole_message(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |message, cause| {
        match message.as_str() {
            "" => cause,
            whole if whole.contains(&cause) => message,
            _ => format!("{message}: {cause}"),
        }
    })
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
