//! `topobroker publish`, and the options that `run` shares with it.

use super::input::Input;
use super::signals::{self, Signals};
use crate::publish::{Address, Publication, PublishOptions, Store, publish};
use anyhow::Context;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker_layout::description::Description;
use topobroker_reader::{Keys, Scope, Source};

/// Publish a topology and print its keys; it stays until it is unpublished
#[derive(Debug, Args)]
pub(super) struct Publish {
    #[command(flatten)]
    how: How,
    /// Print the keys as JSON instead of environment lines
    #[arg(long)]
    json: bool,
}

/// How a topology is published.
#[derive(Debug, Args)]
pub(super) struct How {
    #[command(flatten)]
    input: Input,
    /// Where the segment is kept
    #[arg(long, value_enum, default_value_t)]
    store: StoreName,
    /// Keep it as a file in this folder
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Where processes map it: an address such as 0x550000000000, or `anywhere`
    #[arg(long, value_name = "ADDRESS", value_parser = address, default_value = "usual")]
    address: Address,
    /// Only for this user: mode 0400 instead of 0444
    #[arg(long)]
    private: bool,
    /// Whose resources it describes, if not those that hwloc finds allowed: machine, cgroup or job
    #[arg(long, value_name = "SCOPE", value_parser = scope)]
    scope: Option<Scope>,
}

/// Stores by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum StoreName {
    /// POSIX shared memory, /dev/shm
    #[default]
    Shm,
    /// A file in the folder that --folder names
    File,
    /// A sealed memfd, for the command of `run`
    Memfd,
}

impl How {
    /// Captures and publishes; `keep` says whether it outlives this process.
    pub(super) fn publish(&self, keep: bool) -> anyhow::Result<Publication> {
        let store = match (self.store, &self.folder) {
            (StoreName::Shm | StoreName::File, Some(folder)) => Store::Folder(folder.clone()),
            (StoreName::File, None) => {
                anyhow::bail!("--store file needs --folder FOLDER: where to keep the file")
            }
            (StoreName::Memfd, Some(_)) => {
                anyhow::bail!("--store memfd has no folder: leave out --folder")
            }
            (StoreName::Shm, None) => Store::Shm,
            (StoreName::Memfd, None) if keep => anyhow::bail!(
                "--store memfd lives as long as its publisher: use it with `topobroker run`"
            ),
            (StoreName::Memfd, None) => Store::Memfd,
        };
        let (description, source) = self.input.capture()?;
        let (address, private) = (self.address, self.private);
        let scope = self.scope.unwrap_or_else(|| scope_of(&description, source));
        let options = PublishOptions {
            store,
            address,
            private,
            keep,
            scope,
            source,
            ..PublishOptions::default()
        };
        Ok(publish(&description, &options)?)
    }
}

impl Publish {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        // No signal ends this process between publishing and telling the keys.
        let mut signals = Signals::catch().context("signals")?;
        let publication = self.how.publish(true)?;
        let told = self.tell(publication.keys());
        // Keys that nobody got are a segment that nobody finds.
        if let Some(signal) = signals.ending() {
            publication.unpublish()?;
            return Ok(signals::exit_code(signal));
        }
        if let Err(error) = told {
            publication.unpublish()?;
            anyhow::bail!("the keys cannot be written: {error}; nothing stays published");
        }
        Ok(ExitCode::SUCCESS)
    }

    fn tell(&self, keys: &Keys) -> anyhow::Result<()> {
        let file = keys.file().map(|file| file.to_str());
        if file.is_some_and(|file| file.is_none_or(|file| file.contains('\n'))) {
            anyhow::bail!("its file has a name that is not one line of UTF-8");
        }
        let text = if self.json { keys.to_json() + "\n" } else { keys.to_string() };
        super::print(&text).map(|_| ())
    }
}

fn scope(text: &str) -> Result<Scope, String> {
    let all = [Scope::Machine, Scope::Cgroup, Scope::Job];
    let found = all.into_iter().find(|scope| scope.name() == text);
    found.ok_or_else(|| "expected machine, cgroup or job".to_owned())
}

/// Whose resources hwloc found: of this machine without PUs that its cgroup forbids, the cgroup's.
fn scope_of(description: &Description, source: Source) -> Scope {
    let sets = description.objects.first().and_then(|root| root.sets.as_ref());
    let lacks = sets.is_some_and(|sets| sets.cpuset != sets.complete_cpuset);
    if source == Source::ThisMachine && lacks { Scope::Cgroup } else { Scope::Machine }
}

fn address(text: &str) -> Result<Address, String> {
    match text {
        "usual" => Ok(Address::Usual),
        "anywhere" | "0" => Ok(Address::Anywhere),
        _ => match u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16) {
            Ok(address) => Ok(Address::At(address)),
            Err(_) => Err("expected a hexadecimal address, or anywhere".to_owned()),
        },
    }
}
