//! Becoming a rank of a job: its PUs, its keys, and the variables of its NICs and GPUs.

use crate::job::cpuset_of_rank;
use crate::ps::RANK;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use topobroker::binding::{Target, bind};
use topobroker::publish::job::file_of;
use topobroker_reader::devices::environment::{self, Interface};
use topobroker_reader::{Adopted, jobs::Job};

/// Binds this process as a rank of a job is bound, and becomes the command, with the variables by
/// which libraries use the NICs and GPUs of the rank. Variables that are set already stay.
pub(crate) fn exec_as_rank(
    base: &'static Adopted,
    job: Job<'static>,
    rank: u32,
    command: &[OsString],
) -> anyhow::Result<ExitCode> {
    bind(Target::ThisProcess, &cpuset_of_rank(job, rank)?)?;
    let mut variables: Vec<(String, OsString)> = Vec::new();
    let mut add = |name: &str, value: OsString| variables.push((name.to_owned(), value));
    base.keys().to_env().into_iter().for_each(|(name, value)| add(name, value));
    add(RANK, rank.to_string().into());
    add(Job::VARIABLE, file_of(base, job.name())?.as_os_str().to_owned());
    for (name, value) in of_devices(job, rank) {
        if std::env::var_os(name).is_none() {
            add(name, value.into());
        }
    }
    Ok(exec(command, variables))
}

/// The variables of the NICs and GPUs of a rank.
fn of_devices(job: Job<'_>, rank: u32) -> Vec<(&'static str, String)> {
    let of_gpus =
        Interface::OF_RANKS.into_iter().flat_map(|it| environment::of_gpus_of_rank(it, job, rank));
    environment::of_nics_of_rank(job, rank).into_iter().chain(of_gpus).collect()
}

/// Becomes a command. Returns the exit status of shells if that fails.
pub(super) fn exec(
    command: &[OsString],
    variables: impl IntoIterator<Item = (String, OsString)>,
) -> ExitCode {
    let Some((program, arguments)) = command.split_first() else { return ExitCode::SUCCESS };
    let mut command = Command::new(program);
    command.args(arguments).envs(variables);
    let error = command.exec();
    crate::run::not_started(&command, &error)
}
