//! Completions of shells: commands and options, and what is there now, such as jobs, devices and
//! locations. The shell calls this program for each, with the variable `TOPOBROKER_COMPLETE`.

use super::output;
use super::own_published;
use anyhow::Context;
use clap::{Arg, Args, Command};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{EnvCompleter, Shells};
use std::ffi::OsStr;
use std::process::ExitCode;
use topobroker::publish::job;
use topobroker_reader::{Adopted, Object, ObjectType, Topology};

/// Print the completions of the program for a shell, such as bash, zsh or fish
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    shell: String,
}

/// The variable by which a shell asks.
const ASKED_BY: &str = "TOPOBROKER_COMPLETE";

impl Completions {
    /// Prints the lines by which the shell asks this program.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let shells = Shells::builtins();
        let shell: &dyn EnvCompleter = shells.completer(&self.shell).context("no such shell")?;
        let mut text = Vec::new();
        shell.write_registration(ASKED_BY, "topobroker", "topobroker", "topobroker", &mut text)?;
        if shell.is("bash") {
            text.extend_from_slice(include_bytes!("completions.bash"));
        }
        output::print(&String::from_utf8_lossy(&text))
    }
}

/// Answers a shell, if one asks.
pub(super) fn answer(program: fn() -> Command) {
    CompleteEnv::with_factory(|| with_values(program())).var(ASKED_BY).complete();
}

/// The program, with completions of the values of its options and arguments.
fn with_values(program: Command) -> Command {
    with_values_below(program, "")
}

fn with_values_below(command: Command, above: &str) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|argument| with_value(argument, above));
    command.mut_subcommands(|below| with_values_below(below, &name))
}

/// An argument with what its values can be, as far as its name says.
fn with_value(argument: Arg, above: &str) -> Arg {
    let of_value = argument.get_value_names().and_then(|names| names.first()).cloned();
    let id = argument.get_id().as_str();
    let is_job = id == "job" || (above == "job" && ["name", "names"].contains(&id));
    let candidates: fn(&str) -> Vec<String> = match of_value.as_deref().unwrap_or_default() {
        _ if is_job && !argument.is_hide_set() => jobs,
        "LOCATION" => locations,
        "TYPE" | "TYPE|DEPTH" => types,
        "VERTEX" | "NICS_NEAR" => devices,
        "PART" => |start| parts(start),
        "POLICY" if id == "map_by" => |_| MAPPED_BY.map(str::to_owned).to_vec(),
        "OBJECT" if id == "bind_to" => |_| BOUND_TO.map(str::to_owned).to_vec(),
        _ => return argument,
    };
    argument.add(ArgValueCompleter::new(move |typed: &OsStr| {
        let typed = typed.to_str().unwrap_or("\u{fffd}");
        let found = candidates(typed).into_iter().filter(|it| it.starts_with(typed));
        found.map(CompletionCandidate::new).collect::<Vec<_>>()
    }))
}

/// Objects by which ranks are mapped, and those to which they are bound.
const MAPPED_BY: [&str; 11] = [
    "slot", "hwthread", "core", "l1cache", "l2cache", "l3cache", "numa", "package", "gpu", "nic",
    "ppr:",
];
const BOUND_TO: [&str; 9] =
    ["none", "hwthread", "core", "l1cache", "l2cache", "l3cache", "numa", "package", "gpu"];

/// What is published to this shell. Nothing is discovered: a shell must not wait.
fn published() -> Option<&'static Adopted> {
    topobroker_reader::adopt().ok().or_else(own_published::adopt)
}

fn jobs(_: &str) -> Vec<String> {
    let jobs = published().and_then(|base| job::list(base).ok()).unwrap_or_default();
    jobs.into_iter().map(|job| job.name).collect()
}

/// Types that the published topology has; of a machine that is not known, the usual ones.
fn types(_: &str) -> Vec<String> {
    let usual = ["machine", "package", "numa", "l3", "l2", "core", "pu", "pci", "os", "gpu"];
    let Some(topology) = published().map(|it| it.topology()) else {
        return usual.map(str::to_owned).to_vec();
    };
    let has = |it: &ObjectType| topology.objects_with_type(*it).next().is_some();
    let name = |it: ObjectType| it.name().to_ascii_lowercase();
    ObjectType::ALL.into_iter().filter(has).map(name).collect()
}

/// Locations: `core:`, and its indexes once that is typed; devices; `all`.
fn locations(typed: &str) -> Vec<String> {
    if let Some((level, _)) = typed.split_once(':') {
        let level =
            topobroker::location::NamedLevel::parse(level.trim_start_matches(['~', '^', 'x']));
        let (Some(level), Some(base)) = (level, published()) else { return Vec::new() };
        let objects = level.objects(base.topology()).into_iter().flatten();
        let indexes = objects.map(|object| format!("{level}:{}", object.logical_index()));
        return indexes.chain([format!("{level}:all")]).collect();
    }
    let levels = types(typed).into_iter().map(|level| level + ":");
    levels.chain(devices(typed)).chain(["all".to_owned()]).collect()
}

/// Names of OS devices.
fn devices(_: &str) -> Vec<String> {
    let names = |topology: Topology<'static>| {
        let devices = topology.objects_with_type(ObjectType::OSDevice);
        devices.filter_map(Object::name).map(str::to_owned).collect()
    };
    published().map(|it| names(it.topology())).unwrap_or_default()
}

/// Parts of a topology, as `--view` names them.
fn parts(typed: &str) -> Vec<String> {
    const VARIABLES: [&str; 3] = ["env:SLURM_CPU_BIND", "env:OMP_PLACES", "env:PMIX_CPUSET"];
    let own = ["mine", "affinity", "cgroup", "machine", "os:"];
    own.into_iter().chain(VARIABLES).map(str::to_owned).chain(locations(typed)).collect()
}
