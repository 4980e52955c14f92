//! The `main` function of the `topobroker` program, and its list of commands.

use super::command_words;
use super::output::{self, say, whole_message};
use super::{
    audit, bind, calc, check, cluster, devices, distrib, doctor, draw, export, info, job, links,
    ls, manual, networks, ports, ps, publish, run, scope, serve, signals, status, unpublish,
};
use anyhow::Context;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use std::io::{self, Write};
use std::process::ExitCode;
use topobroker::hwloc::{BUILT_WITH, library_version};

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
    Manual(manual::Manual),
    Completions(manual::Completions),
}

/// Runs the program. The exit status is 0, 1 after an error (with one line on standard error), or 2
/// on wrong usage. `run` and `audit` exit with the status of their command.
#[must_use]
pub fn main() -> ExitCode {
    let words = command_words::marked(std::env::args_os().collect(), &Program::command());
    let program = match Program::try_parse_from(words) {
        Ok(program) => program,
        Err(usage) => return exit(told(&usage)),
    };
    if let Err(error) = signals::outlive_full_files() {
        return exit(Err(error.into()));
    }
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
        Command::Manual(manual) => manual.run(Program::command()),
        Command::Completions(completions) => completions.run(Program::command()),
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

/// Prints the message of clap: help to standard output, a usage error to standard error.
fn told(usage: &clap::Error) -> anyhow::Result<ExitCode> {
    let mut printed = usage.print();
    if usage.kind() == ErrorKind::DisplayVersion {
        let (own, built) = (library_version(), BUILT_WITH);
        printed = printed.and_then(|()| writeln!(io::stdout(), "hwloc {own} (built with {built})"));
    }
    let printed = printed.and_then(|()| io::stdout().flush());
    if usage.use_stderr() {
        return Ok(ExitCode::from(2));
    }
    printed.context(output::STANDARD_OUTPUT)?;
    Ok(ExitCode::SUCCESS)
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
