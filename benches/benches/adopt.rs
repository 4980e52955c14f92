//! Compares adopting in a fresh process with hwloc:
//! `cargo bench -p topobroker-benches --bench adopt`.
//!
//! Every sample is a process that times itself. The ways take turns, because the speed of a shared
//! machine varies. Their order is random in each round, because each leaves its caches to the next.
//! hwloc is measured both as installed and without its plugins. The two floors do only what every
//! reader must do, at the fixed address and anywhere. They get their keys on the command line, so
//! two of our ways get theirs there too; two others find them in the environment, and one in
//! the folder of a daemon.
#![allow(missing_docs, reason = "a program")]

use std::fs::File;
use std::path::Path;
use topobroker::hwloc::capture;
use topobroker::publish::{Address, PublishOptions, Store, publish};
use topobroker_benches::clients::Client;
use topobroker_benches::machines;
use topobroker_reader::Keys;
use topobroker_rival as rival;

const THIN: &str = env!("CARGO_BIN_EXE_thin_client");
const HWLOC: &str = env!("CARGO_BIN_EXE_hwloc_client");
/// Number of processes for each way.
const ROUNDS: usize = 1000;

/// A way to get a topology.
struct Way {
    name: &'static str,
    program: &'static str,
    arguments: Vec<String>,
    environment: Vec<(&'static str, String)>,
    /// Microseconds that each process took.
    times: Vec<f64>,
}

impl Way {
    fn new(name: &'static str, program: &'static str, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
        Self { name, program, arguments, environment: Vec::new(), times: Vec::new() }
    }

    /// The thin client with `word` as its command, and with the keys on its command line.
    fn passed(name: &'static str, word: &str, keys: &Keys) -> Self {
        let [file, address, size] = texts(keys).map(|(_, text)| text);
        Self::new(name, THIN, &[word, &file, &address, &size])
    }

    /// The thin client that adopts with the keys in its environment.
    fn found(name: &'static str, keys: &Keys) -> Self {
        Self { environment: texts(keys).into(), ..Self::new(name, THIN, &["adopt"]) }
    }

    /// The thin client that adopts what a daemon publishes in a folder.
    fn served(name: &'static str, folder: &Path) -> Self {
        let environment = vec![("TOPOBROKER_RUN", folder.to_string_lossy().into_owned())];
        Self { environment, ..Self::new(name, THIN, &["adopt"]) }
    }

    fn run(&mut self) -> anyhow::Result<()> {
        let environment: Vec<(&str, &str)> =
            self.environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let client = Client::start(Path::new(self.program), &self.arguments, &environment)?;
        self.times.push(client.time.as_secs_f64() * 1e6);
        client.finish()
    }

    fn median(&mut self) -> f64 {
        self.times.sort_unstable_by(f64::total_cmp);
        self.times.get(self.times.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

fn texts(keys: &Keys) -> [(&'static str, String); 3] {
    keys.to_env().map(|(name, value)| (name, value.to_string_lossy().into_owned()))
}

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir_in("/dev/shm")?;
    let empty = folder.path().join("no-plugins");
    std::fs::create_dir(&empty)?;
    println!(
        "Medians of {ROUNDS} processes, us; in brackets by the two floors and by hwloc without plugins"
    );
    for machine in machines::standard().into_iter().chain(machines::largest_shared(3)) {
        let topology = machine.load()?;
        let description = capture(&topology)?;
        let published = |address| {
            let store = Store::Folder(folder.path().into());
            publish(&description, &PublishOptions { store, address, ..Default::default() })
        };
        let fixed = published(Address::Usual)?;
        let anywhere = published(Address::Anywhere)?;
        std::fs::write(folder.path().join("keys"), fixed.keys().to_string())?;
        let path = folder.path().join("hwloc");
        let length = rival::length(&topology)?;
        let file =
            File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        rival::write(&topology, &file, length)?;
        let theirs = path.to_string_lossy();

        let hwloc = |name| Way::new(name, HWLOC, &["adopt", &theirs]);
        let environment = vec![("HWLOC_PLUGINS_PATH", empty.to_string_lossy().into_owned())];
        let mut ways = [
            Way::passed("floor at the address", "floor", fixed.keys()),
            Way::passed("floor anywhere", "floor", anywhere.keys()),
            Way::passed("keys passed", "adopt", fixed.keys()),
            Way::passed("passed, anywhere", "adopt", anywhere.keys()),
            Way::found("environment", fixed.keys()),
            Way::found("environment, anywhere", anywhere.keys()),
            Way::served("folder of a daemon", folder.path()),
            Way { environment, ..hwloc("hwloc without plugins") },
            hwloc("hwloc as installed"),
        ];
        let mut order: Vec<usize> = (0..ways.len()).collect();
        for _ in 0..ROUNDS {
            fastrand::shuffle(&mut order);
            for way in &order {
                ways.get_mut(*way).map_or(Ok(()), Way::run)?;
            }
        }
        let medians = ways.each_mut().map(Way::median);
        let [floor, floor_anywhere, _, _, _, _, _, hwloc, _] = medians;
        println!("\n{}", machine.name);
        for (way, median) in ways.iter().zip(medians) {
            println!(
                "  {:<22} {median:8.1}  ({:.2}, {:.2}, {:.2})",
                way.name,
                median / floor,
                median / floor_anywhere,
                median / hwloc
            );
        }
    }
    Ok(())
}
