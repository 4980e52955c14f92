//! `topobroker publish`, and the options that `run` shares with it.

use super::input::Input;
use super::output;
use super::own_published;
use super::signals::{self, Signals};
use super::text_file::read_text;
use anyhow::Context;
use clap::{Args, Parser, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker::links::with_pci_tree;
use topobroker::nics::add_site;
use topobroker::publish::{Address, Publication, PublishOptions, Store, publish};
use topobroker_layout::description::Description;
use topobroker_reader::{Keys, Scope, Source};
use topobroker_slots::LoadKey;

/// Publish a topology and print its keys; it stays until it is unpublished
#[derive(Debug, Args)]
pub(super) struct Publish {
    #[command(flatten)]
    how: How,
    /// Print the keys as JSON instead of environment lines
    #[arg(long, conflicts_with = "export")]
    json: bool,
    /// Print commands for a shell, as ssh-agent does: eval "$(topobroker publish --export)"
    #[arg(long)]
    export: bool,
}

/// Limit of the size of each of the files for hwloc and PMIx in bytes.
const MOST_TEXT: u64 = 1 << 20;

/// Options that say what is published.
#[derive(Debug, PartialEq, Args)]
pub(super) struct What {
    #[command(flatten)]
    pub(super) input: Input,
    /// Address at which processes map it, such as 0x550000000000, or `anywhere`
    #[arg(long, value_name = "ADDRESS", value_parser = address, default_value = "usual")]
    address: Address,
    /// Let only this user read it: mode 0400 instead of 0444
    #[arg(long)]
    private: bool,
    /// Whose resources it describes: machine, cgroup or job; by default those that hwloc finds
    /// allowed
    #[arg(long, alias = "scope", value_name = "WHOSE", value_parser = scope)]
    describes: Option<Scope>,
    /// Put PCI devices where this file for NCCL has them: below NUMA nodes and switches that a
    /// virtual machine does not see
    #[arg(long, value_name = "FILE")]
    pci_tree: Option<PathBuf>,
    /// Let jobs use the NICs that this file says, unless their user says otherwise: lines
    /// TOPOBROKER_NETWORK=..., TOPOBROKER_NIC=..., TOPOBROKER_NO_NIC=...
    #[arg(long, value_name = "FILE")]
    site: Option<PathBuf>,
    /// Also publish what unmodified programs that use hwloc or PMIx read: an hwloc segment and XML
    #[arg(long)]
    legacy: bool,
    /// Also publish slots for the hwloc guard, from which it serves unmodified programs; `run`
    /// preloads the guard too
    #[arg(long)]
    pub(super) guard: bool,
    /// Also serve such loads, as `topobroker audit` prints them; may be given several times
    #[arg(long = "guard-load", value_name = "LOAD", requires = "guard")]
    guard_loads: Vec<LoadKey>,
    /// Also serve loads of this library or program, such as libfoo.so.2, which was not tried with
    /// the guard; may be given several times
    #[arg(long = "guard-caller", value_name = "FILE", requires = "guard")]
    guard_callers: Vec<String>,
}

/// Options that say what is published and where.
#[derive(Debug, PartialEq, Args)]
pub(super) struct How {
    #[command(flatten)]
    pub(super) what: What,
    /// Where the segment is kept
    #[arg(long, value_enum, default_value_t)]
    store: StoreName,
    /// Keep the segment as a file in this folder
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

/// The names of the stores.
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
    /// Whether no option says what is published or where, except `--guard`.
    pub(super) fn is_plain(&self) -> bool {
        #[derive(Parser)]
        struct Alone {
            #[command(flatten)]
            how: How,
        }
        let plain = ["", "--guard"].map(Some).into_iter().take(1 + usize::from(self.what.guard));
        Alone::try_parse_from(plain.flatten()).is_ok_and(|alone| alone.how == *self)
    }

    /// Captures a topology, catches signals, and publishes it. `keep` says whether the segment
    /// outlives this process. Signals are caught only when the input has been read, because reading
    /// may block for ever. From then on a signal ends this process only after the segment is
    /// withdrawn.
    pub(super) fn publish(&self, keep: bool) -> anyhow::Result<(Publication, Signals)> {
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
        let (description, source) = self.what.capture()?;
        let signals = Signals::catch().context("signals")?;
        let options = PublishOptions { store, keep, ..self.what.options(&description, source) };
        Ok((publish(&description, &options)?, signals))
    }
}

impl What {
    /// Captures the topology, with what files say of it.
    pub(super) fn capture(&self) -> anyhow::Result<(Description, Source)> {
        let (mut description, source) = self.input.capture()?;
        if let Some(file) = &self.pci_tree {
            let (moved, notes) =
                read_text(file, MOST_TEXT, |text| with_pci_tree(&description, text))?;
            notes.iter().for_each(|note| output::say(&format!("{}: {note}", file.display())));
            description = moved;
        }
        if let Some(file) = &self.site {
            read_text(file, MOST_TEXT, |text| add_site(&mut description, text))?;
        }
        Ok((description, source))
    }

    /// The options for publishing a description that was captured from `source`. The caller sets
    /// the store.
    pub(super) fn options(&self, description: &Description, source: Source) -> PublishOptions {
        let scope = self.describes.unwrap_or_else(|| scope_of(description, source));
        PublishOptions {
            address: self.address,
            private: self.private,
            legacy: self.legacy,
            guard: self.guard,
            load_keys: self.guard_loads.clone(),
            guard_callers: self.guard_callers.clone(),
            scope,
            source,
            ..PublishOptions::default()
        }
    }
}

impl Publish {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (publication, mut signals) = self.how.publish(true)?;
        let printed = self.print_keys(&publication);
        // Without the keys the segment cannot be found, so it is withdrawn.
        if let Some(signal) = signals.ending() {
            publication.unpublish()?;
            return Ok(signals::exit_code(signal));
        }
        if let Err(error) = printed {
            publication.unpublish()?;
            return Err(error.context("the keys cannot be written, and nothing stays published"));
        }
        own_published::remember(publication.keys());
        Ok(ExitCode::SUCCESS)
    }

    fn print_keys(&self, publication: &Publication) -> anyhow::Result<()> {
        let keys = publication.keys();
        let file = keys.file().map(|file| file.to_str());
        if file.is_some_and(|file| file.is_none_or(|file| file.contains('\n'))) {
            anyhow::bail!("its file has a name that is not one line of UTF-8");
        }
        let text = match (self.json, publication.legacy()) {
            (false, _) if self.export => {
                let lines = Keys::lines(publication.to_env());
                lines.lines().map(|line| format!("export {line}\n")).collect()
            }
            (false, _) => Keys::lines(publication.to_env()),
            (true, None) => keys.to_json() + "\n",
            (true, Some(legacy)) => {
                let mut all: serde_json::Map<String, serde_json::Value> =
                    serde_json::from_str(&keys.to_json())?;
                let hwloc = serde_json::from_str(&legacy.keys().to_json())?;
                all.insert("hwloc".to_owned(), hwloc);
                all.insert("xml2".to_owned(), legacy.xml2().to_string_lossy().into());
                all.insert("xml1".to_owned(), legacy.xml1().to_string_lossy().into());
                serde_json::Value::from(all).to_string() + "\n"
            }
        };
        output::hand_over(&text).map(|_| ())
    }
}

fn scope(text: &str) -> Result<Scope, String> {
    let all = [Scope::Machine, Scope::Cgroup, Scope::Job];
    let found = all.into_iter().find(|scope| scope.name() == text);
    found.ok_or_else(|| "expected machine, cgroup or job".to_owned())
}

/// The scope of what hwloc found: the cgroup, if hwloc found this machine without some PUs that the
/// cgroup forbids; otherwise the machine.
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
