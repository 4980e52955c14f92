//! Ways for the processes of a node to get a topology, and the cost of many processes at once.

use crate::clients::{Client, Memory, measured};
use crate::machines::Machine;
use anyhow::Context;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use topobroker::hwloc::Input;
use topobroker::hwloc::capture;
use topobroker::publish::{Address, Publication, PublishOptions, Store, publish};
use topobroker_rival as rival;

/// A way to get a topology.
#[derive(Debug, Clone)]
pub struct Way {
    /// Its name in tables.
    pub name: &'static str,
    /// Whether it is one of ours.
    pub is_ours: bool,
    /// Bytes of the segment, if there is one.
    pub segment: Option<u64>,
    program: PathBuf,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
}

/// The ways to get a machine's topology, and what is published for them until this is dropped.
#[derive(Debug)]
pub struct Ways {
    /// All of them, ours first.
    pub all: Vec<Way>,
    _publications: Vec<Publication>,
    _folder: tempfile::TempDir,
}

/// The cost of several processes together.
#[derive(Debug, Clone, Default)]
pub struct Cost {
    /// Sums over all processes.
    pub memory: Memory,
    /// Time until the last process was ready.
    pub wall: Duration,
    /// CPU time of all processes until then.
    pub cpu: Duration,
    /// Time that each process took to get the topology, sorted.
    pub times: Vec<Duration>,
}

impl Ways {
    /// Publishes a machine for every way. `programs` is the folder of the client programs.
    pub fn new(machine: &Machine, programs: &Path) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir_in("/dev/shm")?;
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let (thin, hwloc) = (programs.join("thin_client"), programs.join("hwloc_client"));
        let topology = machine.load()?;
        let description = capture(&topology)?;
        let (mut all, mut publications) = (Vec::new(), Vec::new());
        for (name, address, does) in [
            ("topobroker", Address::Usual, "adopt"),
            ("topobroker, anywhere", Address::Anywhere, "adopt"),
            ("topobroker + view of half", Address::Usual, "half"),
            ("topobroker, anywhere + view of half", Address::Anywhere, "half"),
        ] {
            let store = Store::Folder(folder.path().to_owned());
            let options = PublishOptions { store, address, ..PublishOptions::default() };
            let publication = publish(&description, &options)?;
            let keys = publication.keys().to_env().into_iter();
            let keys = keys.map(|(key, value)| (key.to_owned(), text(value.into())));
            all.push(Way {
                name,
                is_ours: true,
                segment: Some(publication.keys().size()),
                program: thin.clone(),
                arguments: vec![does.to_owned()],
                environment: keys.collect(),
            });
            publications.push(publication);
        }

        let file = folder.path().join("hwloc");
        let length = rival::length(&topology)?;
        let opened = File::options().read(true).write(true).create_new(true).open(&file)?;
        rival::write(&topology, &opened, length)?;
        let (file, segment) = (text(file), Some(length as u64));
        let archive = topobroker_layout::encode::to_bytes(&description)?;
        let exported = topobroker_reader::text::xml::export(
            topobroker_reader::Archive::open(&archive)?.topology(),
        );
        let xml = folder.path().join("hwloc.xml");
        std::fs::write(&xml, exported)?;
        let no_plugins = folder.path().join("no-plugins");
        std::fs::create_dir(&no_plugins)?;
        let lean = vec![("HWLOC_PLUGINS_PATH".to_owned(), text(no_plugins))];
        let xml = text(xml);
        let own = match &machine.input {
            Input::Synthetic(text) => Some(vec!["synthetic", text.as_str()]),
            Input::ThisMachine => Some(vec!["discover"]),
            _ => None,
        };
        let mut hwlocs: Vec<(&'static str, Vec<&str>, bool, Option<u64>)> = vec![
            ("hwloc segment, no plugins", vec!["adopt", &file], true, segment),
            ("hwloc segment", vec!["adopt", &file], false, segment),
            ("hwloc segment + dup + restrict, no plugins", vec!["half", &file], true, segment),
            ("hwloc XML, no plugins", vec!["xml", &xml], true, None),
            ("hwloc XML", vec!["xml", &xml], false, None),
        ];
        hwlocs.extend(own.map(|own| ("hwloc loads it", own, false, None)));
        all.extend(hwlocs.into_iter().map(|(name, arguments, is_lean, segment)| Way {
            name,
            is_ours: false,
            segment,
            program: hwloc.clone(),
            arguments: arguments.into_iter().map(str::to_owned).collect(),
            environment: if is_lean { lean.clone() } else { Vec::new() },
        }));
        Ok(Self { all, _publications: publications, _folder: folder })
    }

    /// The way with a name.
    pub fn named(&self, name: &str) -> Option<&Way> {
        self.all.iter().find(|way| way.name == name)
    }
}

impl Way {
    /// A way of a program that gets its topology in one way only.
    pub(crate) fn of_program(
        name: &'static str,
        program: PathBuf,
        arguments: Vec<String>,
        environment: Vec<(String, String)>,
    ) -> Self {
        Self { name, is_ours: false, segment: None, program, arguments, environment }
    }

    /// The same program without a topology.
    pub fn baseline(&self) -> Self {
        let arguments = vec!["nothing".to_owned()];
        Self { name: "nothing", arguments, environment: Vec::new(), ..self.clone() }
    }

    /// Runs one process without input and output, and returns the time until it has ended.
    pub fn start_to_end(&self) -> anyhow::Result<Duration> {
        let mut command = measured(&self.program);
        command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(key, value)| (key, value)));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let start = Instant::now();
        let status = command.status().with_context(|| self.name)?;
        let time = start.elapsed();
        anyhow::ensure!(status.success(), "{}: {status}", self.name);
        Ok(time)
    }

    /// Starts processes, waits until all of them have the topology, and measures their cost.
    pub fn cost(&self, processes: usize) -> anyhow::Result<Cost> {
        let environment: Vec<(&str, &str)> =
            self.environment.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let start = Instant::now();
        let started: Vec<Client> = std::thread::scope(|scope| {
            let start =
                || scope.spawn(|| Client::start(&self.program, &self.arguments, &environment));
            let starting: Vec<_> = (0..processes).map(|_| start()).collect();
            let started = starting.into_iter().map(|one| one.join().expect("no panic"));
            started.collect::<anyhow::Result<_>>()
        })
        .with_context(|| self.name)?;
        let mut cost = Cost { wall: start.elapsed(), ..Cost::default() };
        for client in &started {
            let memory = client.memory()?;
            cost.memory.private_dirty += memory.private_dirty;
            cost.memory.private_clean += memory.private_clean;
            cost.memory.pss += memory.pss;
            cost.memory.page_tables += memory.page_tables;
            cost.cpu += client.cpu_time()?;
            cost.times.push(client.time);
        }
        cost.times.sort();
        started.into_iter().try_for_each(Client::finish)?;
        Ok(cost)
    }
}

impl Cost {
    /// The cost that the topology adds: this cost minus that of processes without a topology.
    /// `wall` and `times` stay unchanged.
    pub fn less(&self, without: &Self) -> Self {
        let (own, other) = (&self.memory, &without.memory);
        Self {
            memory: Memory {
                private_dirty: own.private_dirty - other.private_dirty,
                private_clean: own.private_clean - other.private_clean,
                pss: own.pss - other.pss,
                page_tables: own.page_tables - other.page_tables,
            },
            wall: self.wall,
            cpu: self.cpu.saturating_sub(without.cpu),
            times: self.times.clone(),
        }
    }

    /// Memory on the node in kB: Pss and page tables.
    pub fn total(&self) -> f64 {
        self.memory.pss + self.memory.page_tables
    }

    /// Median time to get the topology.
    pub fn median(&self) -> Duration {
        self.times.get(self.times.len() / 2).copied().unwrap_or_default()
    }
}
