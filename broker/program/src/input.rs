//! The topology that a command works on: the adopted segment, or a named input.

use super::command_words::by_name;
use super::hwloc_plugins;
use super::kind_of_file::{self, Held as FileHeld};
use super::output::say;
use super::own_published;
use crate::unpacked::is_tar;
use anyhow::{Context, bail, ensure};
use clap::Args;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;
use topobroker::description::Filters;
use topobroker::hwloc::{self, LoadOptions, TypeFilter};
use topobroker::linux::{Root, with_facts_of_now};
use topobroker_layout::description::Description;
use topobroker_layout::encode::AlignedVec;
use topobroker_layout::header::Kind;
use topobroker_layout::object_type::ObjectType;
use topobroker_reader::{AdoptError, Adopted, Archive, Keys, KeysError, Source, Topology};

/// Where a topology comes from.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub(super) struct Input {
    /// Read this instead: an hwloc XML file (`-` is standard input), the folder of a
    /// saved Linux file system, a tar file of either (but not in commands that run others), each
    /// also compressed, a synthetic description such as "Package:2 Core:4 PU:2", or `machine`
    #[arg(short, long, value_name = "INPUT")]
    pub(super) input: Option<String>,
    /// Format of INPUT, if its name does not show it
    #[arg(long = "if", alias = "input-format", value_name = "FORMAT", requires = "input")]
    pub(super) format: Option<Format>,
    /// Keep PUs and NUMA nodes that this process may not use
    #[arg(long, alias = "whole-system")]
    pub(super) disallowed: bool,
    /// Whether nothing is said of where the topology is from.
    #[arg(skip)]
    pub(super) is_quiet: bool,
    /// Whether it is said that nothing is published: for who looks at a topology, not for scripts.
    #[arg(skip)]
    pub(super) notes_source: bool,
}

/// Formats of inputs, as hwloc's programs name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// An hwloc XML file.
    Xml,
    /// A synthetic description.
    Synthetic,
    /// The folder of a saved file system.
    Fsroot,
    /// This machine.
    Machine,
}

/// A machine as it is now.
pub(super) struct Now<'a> {
    pub(super) topology: Topology<'a>,
    /// Its file system, if it is here.
    pub(super) root: Option<Root>,
    /// Whether that is a saved one.
    pub(super) is_saved: bool,
}

impl Now<'_> {
    /// Name of the machine, if it is known.
    pub(super) fn host(&self) -> Option<String> {
        let own = || {
            let is_here = self.root.is_some() && !self.is_saved;
            is_here.then(|| rustix::system::uname().nodename().to_string_lossy().into_owned())
        };
        self.topology.root().info("HostName").map(str::to_owned).or_else(own)
    }
}

/// `HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED`.
const INCLUDE_DISALLOWED: u64 = 1;

/// A topology that a command works on.
pub(super) enum Held {
    /// The adopted segment.
    Adopted(&'static Adopted),
    /// An archive that was made for this command, and the name of its input.
    Own(AlignedVec, String),
}

impl Held {
    pub(super) fn archive(&self) -> anyhow::Result<Archive<'_>> {
        Ok(match self {
            Self::Adopted(adopted) => adopted.archive().clone(),
            Self::Own(archive, input) => Archive::open(archive).with_context(|| input.clone())?,
        })
    }
}

impl Input {
    /// Captures the named input without the types that `filters` leave out. Without a named input,
    /// adopts the segment that this process's keys name; it is read in place and not filtered. If
    /// nothing is published to this process, and the adopted topology is not insisted on, it is
    /// what this user has published here last, otherwise this machine as it is now: a message says
    /// which. Where the environment makes hwloc read something other than this machine, it is that,
    /// as in hwloc's programs.
    pub(super) fn topology(
        &self,
        filters: Option<&Filters>,
        insists: bool,
    ) -> anyhow::Result<Held> {
        let input = match &self.input {
            Some(input) => input.as_str(),
            None if !insists && hwloc_reads_another() => "machine",
            None => match topobroker_reader::adopt() {
                Err(AdoptError::Keys(KeysError::Missing { .. }))
                    if !insists && !Keys::is_in_env() =>
                {
                    if let Some(adopted) = own_published::adopt() {
                        let file = adopted.keys().file_key();
                        self.note(&format!("this is what you have published here: {file}"));
                        return Ok(Held::Adopted(adopted));
                    }
                    if self.notes_source {
                        self.note(
                            "nothing is published to this process: this is the machine as it is \
                             now; `topobroker publish` shares it with all processes",
                        );
                    }
                    "machine"
                }
                adopted => return Ok(Held::Adopted(adopted?)),
            },
        };
        let filters = filters.map(Filters::for_loading).unwrap_or_default();
        let (archive, _) = self.loaded(filters, hwloc::import_archive)?;
        Ok(Held::Own(archive, input.to_owned()))
    }

    pub(super) fn note(&self, text: &str) {
        if !self.is_quiet {
            say(text);
        }
    }

    fn options(&self, filters: Vec<(ObjectType, TypeFilter)>) -> LoadOptions {
        let mut options = LoadOptions { filters, ..LoadOptions::default() };
        if self.disallowed {
            options.flags |= INCLUDE_DISALLOWED;
        }
        options
    }

    /// Captures the named input, otherwise this machine.
    pub(super) fn capture(&self) -> anyhow::Result<(Description, Source)> {
        self.loaded(Vec::new(), hwloc::import)
    }

    /// What `import` makes of the named input, otherwise of this machine.
    fn loaded<T>(
        &self,
        filters: Vec<(ObjectType, TypeFilter)>,
        import: impl FnOnce(&hwloc::Input, &LoadOptions) -> Result<T, hwloc::ImportError>,
    ) -> anyhow::Result<(T, Source)> {
        let input = self.named()?;
        if let hwloc::Input::Xml(file) = &input {
            check_kind(file)?;
            let name = file.display();
            ensure!(
                !is_tar(file),
                "{name}: is a tar file, which this command does not unpack: unpack it, or \
                 `topobroker publish -i {name}` first"
            );
        }
        let watched = matches!(input, hwloc::Input::Fsroot(_)).then(|| limit_time(input.name()));
        let options = self.options(filters);
        let loaded = hwloc_plugins::with_few(&input, || import(&input, &options))?;
        drop(watched);
        Ok((loaded, input.source()))
    }

    /// Calls `answer` with the whole topology, and the file system of its machine if that is here.
    /// The adopted topology of this node has the facts of now, and not those of when it was
    /// published.
    pub(super) fn now<R>(
        &self,
        answer: impl FnOnce(&Now<'_>) -> anyhow::Result<R>,
    ) -> anyhow::Result<R> {
        let held = self.topology(None, false)?;
        let archive = held.archive()?;
        let topology = archive.topology();
        let is_saved = self.is_saved();
        let is_here = is_saved || topology.is_this_system();
        let root = is_here.then(|| self.root()).flatten();
        let (Held::Adopted(_), Some(own)) = (&held, &root) else {
            return answer(&Now { topology, root, is_saved });
        };
        let fresh =
            with_facts_of_now(topology, own).context("the topology with the facts of now")?;
        let fresh = fresh.as_ref().map(|bytes| Archive::open(bytes)).transpose();
        let fresh = fresh.context("the topology with the facts of now")?;
        let topology = fresh.as_ref().map_or(topology, Archive::topology);
        answer(&Now { topology, root, is_saved })
    }

    /// Whether it is a saved file system.
    pub(super) fn is_saved(&self) -> bool {
        self.input.as_ref().is_some_and(|input| self.format_of(input) == Format::Fsroot)
    }

    /// The file system of the machine; `None` if it is not here.
    pub(super) fn root(&self) -> Option<Root> {
        match &self.input {
            None => Some(Root::of_this_node()),
            Some(input) => match self.format_of(input) {
                Format::Machine => Some(Root::of_this_node()),
                Format::Fsroot => Some(Root::saved(input)),
                Format::Xml | Format::Synthetic => None,
            },
        }
    }

    fn format_of(&self, input: &str) -> Format {
        self.format.unwrap_or_else(|| guess(input))
    }

    fn named(&self) -> anyhow::Result<hwloc::Input> {
        let Some(input) = &self.input else {
            return Ok(hwloc::Input::ThisMachine);
        };
        let path = PathBuf::from(input);
        Ok(match self.format_of(input) {
            Format::Machine => hwloc::Input::ThisMachine,
            Format::Xml => hwloc::Input::Xml(path),
            Format::Synthetic => hwloc::Input::Synthetic(input.clone()),
            Format::Fsroot => {
                announce_fsroot(&path)?;
                hwloc::Input::Fsroot(path)
            }
        })
    }
}

/// Whether the environment makes hwloc read something other than this machine, and not because a
/// launcher has published this topology for unmodified programs too.
fn hwloc_reads_another() -> bool {
    let value = |name| std::env::var(name).ok();
    let of_launcher = |keys| {
        let is_next_to =
            |keys: String| value("HWLOC_XMLFILE")?.strip_prefix(&keys)?.strip_prefix('+').map(drop);
        value(keys).and_then(is_next_to).is_some()
    };
    hwloc::reads_other_source()
        && !["TOPOBROKER_FILE", "TOPOBROKER_JOB"].into_iter().any(of_launcher)
}

/// Says which command reads a file that is no XML.
fn check_kind(file: &Path) -> anyhow::Result<()> {
    let name = file.display();
    match kind_of_file::of(file) {
        FileHeld::Segment(Kind::Cluster) => bail!(
            "{name}: is a cluster: `topobroker cluster export {name} NODE` writes a node of it as \
             XML"
        ),
        FileHeld::Segment(Kind::Topology) => bail!(
            "{name}: is a published topology: give its keys instead, or `topobroker cluster \
             build` takes it"
        ),
        FileHeld::Segment(kind) => bail!("{name}: holds a {}, expected XML", kind.name()),
        _ => Ok(()),
    }
}

/// Ends the process with a message if what is returned lives too long: a saved file system can be
/// on a disk or network that never answers.
fn limit_time(input: String) -> SyncSender<()> {
    const LIMIT: Duration = Duration::from_secs(60);
    let (done, is_done) = sync_channel(0);
    std::thread::spawn(move || {
        if is_done.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            let seconds = LIMIT.as_secs();
            say(&format!("{input}: hwloc has not read it within {seconds} s; is its disk there?"));
            std::process::exit(1);
        }
    });
    done
}

fn guess(input: &str) -> Format {
    let path = Path::new(input);
    if input == "machine" {
        Format::Machine
    } else if path.is_dir() {
        Format::Fsroot
    } else if input == "-" || path.exists() || input.ends_with(".xml") || input.contains('/') {
        Format::Xml
    } else {
        Format::Synthetic
    }
}

/// Environment variable from which hwloc takes the root of a file system.
const ROOT: &str = "HWLOC_FSROOT";
/// Environment variable that selects hwloc's components.
const COMPONENTS: &str = "HWLOC_COMPONENTS";
/// Environment variable with the earlier value of `HWLOC_COMPONENTS`. This program sets it together
/// with the other two.
const BEFORE: &str = "TOPOBROKER_COMPONENTS_BEFORE";

/// Starts this program again with the file system root in its environment, unless the root is there
/// already. hwloc takes the root only from the environment, which a program with several threads must
/// not change.
fn announce_fsroot(root: &Path) -> anyhow::Result<()> {
    if std::env::var_os(ROOT).is_some_and(|announced| announced == root) || !root.is_dir() {
        return Ok(());
    }
    let error = Command::new("/proc/self/exe")
        .args(by_name(std::env::args_os().collect()).into_iter().skip(1))
        .env(ROOT, root)
        .env(BEFORE, std::env::var_os(COMPONENTS).unwrap_or_default())
        .env(COMPONENTS, "linux,stop")
        .exec();
    Err(anyhow::Error::new(error)
        .context("this program cannot start itself again for HWLOC_FSROOT"))
}

/// Restores for a command the environment that this program was started with, so that hwloc finds
/// the real machine there.
pub(super) fn unannounce_fsroot(command: &mut Command) {
    let Some(before) = std::env::var_os(BEFORE) else { return };
    command.env_remove(ROOT).env_remove(BEFORE);
    match before.is_empty() {
        true => command.env_remove(COMPONENTS),
        false => command.env(COMPONENTS, before),
    };
}
