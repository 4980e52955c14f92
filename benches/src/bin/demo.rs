//! The demonstration: many processes that adopt, beside as many that load hwloc themselves.
#![forbid(unsafe_code)]

use anyhow::Context;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use topobroker::capture::capture;
use topobroker::hwloc::Input;
use topobroker::publish::{Address, PublishOptions, Store, publish};
use topobroker_benches::clients::{Client, Memory};
use topobroker_benches::machines::{self, Machine};
use topobroker_benches::rival;

const PROCESSES: u32 = 64;

fn main() -> anyhow::Result<()> {
    let here = std::env::current_exe()?;
    let programs = here.parent().context("folder of this program")?;
    // This machine, and the smaller synthetic one.
    for machine in machines::standard().into_iter().take(2) {
        demonstrate(&machine, programs)?;
    }
    println!("Private and shared are kB a process above the same program without a topology;");
    println!("the node is all {PROCESSES} of them, page tables counted.");
    Ok(())
}

/// A way to get the topology.
struct Way {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    segment: Option<u64>,
}

fn demonstrate(machine: &Machine, programs: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir_in("/dev/shm")?;
    let ways = ways(machine, programs, folder.path())?;
    println!("\n{}, {PROCESSES} processes at once\n", machine.name);
    println!(
        "{:<34} {:>9} {:>11} {:>9} {:>9} {:>9} {:>10} {:>9}",
        "way", "segment", "time each", "private", "shared", "tables", "node MB", "all ready"
    );
    for way in &ways.1 {
        let row = measure(way)?;
        let segment = way.segment.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
        println!(
            "{:<34} {segment:>9} {:>8.1} us {:>9.1} {:>9.1} {:>9.1} {:>10.2} {:>6.0} ms",
            way.name,
            row.time.as_secs_f64() * 1e6,
            row.memory.private_dirty,
            row.memory.pss,
            row.memory.page_tables,
            (row.memory.pss + row.memory.page_tables) * f64::from(PROCESSES) / 1024.0,
            row.wall.as_secs_f64() * 1e3,
        );
    }
    println!();
    Ok(())
}

/// The ways, and what keeps their segments alive.
fn ways(
    machine: &Machine,
    programs: &Path,
    folder: &Path,
) -> anyhow::Result<(Vec<topobroker::publish::Publication>, Vec<Way>)> {
    let topology = machine.load()?;
    let description = capture(&topology)?;
    let thin = programs.join("thin_client");
    let hwloc = programs.join("hwloc_client");
    let mut publications = Vec::new();
    let mut ways = Vec::new();
    for (name, address) in
        [("topobroker", Address::Usual), ("topobroker, mapped anywhere", Address::Anywhere)]
    {
        let options = PublishOptions {
            store: Store::Folder(folder.to_owned()),
            address,
            ..PublishOptions::default()
        };
        let publication = publish(&description, &options)?;
        let keys = publication.keys().to_env().into_iter();
        ways.push(Way {
            name,
            program: thin.clone(),
            arguments: vec!["adopt".to_owned()],
            environment: keys
                .map(|(key, value)| (key.to_owned(), value.to_string_lossy().into_owned()))
                .collect(),
            segment: Some(publication.keys().size()),
        });
        publications.push(publication);
    }
    let file = folder.join("hwloc");
    let length = rival::length(&topology)?;
    let opened = File::options().read(true).write(true).create_new(true).open(&file)?;
    rival::write(&topology, &opened, length)?;
    let xml = folder.join("hwloc.xml");
    let archive = topobroker_layout::build::to_bytes(&description)?;
    let exported = topobroker::xml::export(topobroker_reader::Topology::from_archive(&archive)?);
    std::fs::write(&xml, exported)?;
    let own = match &machine.input {
        Input::Synthetic(text) => vec!["synthetic".to_owned(), text.clone()],
        _ => vec!["discover".to_owned()],
    };
    let path = |path: &Path| path.to_string_lossy().into_owned();
    for (name, arguments, segment) in [
        ("hwloc, its own shared segment", vec!["adopt".to_owned(), path(&file)], Some(length)),
        ("hwloc, XML", vec!["xml".to_owned(), path(&xml)], None),
        ("hwloc, each loads it", own, None),
    ] {
        let program = hwloc.clone();
        let segment = segment.map(|length| length as u64);
        ways.push(Way { name, program, arguments, environment: Vec::new(), segment });
    }
    Ok((publications, ways))
}

struct Row {
    time: Duration,
    wall: Duration,
    memory: Memory,
}

/// Starts the processes, waits until all have the topology, and looks at their memory; less that
/// of as many that have none.
fn measure(way: &Way) -> anyhow::Result<Row> {
    let environment: Vec<(&str, &str)> =
        way.environment.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let (times, wall, with) = together(&way.program, &way.arguments, &environment)?;
    let (_, _, without) = together(&way.program, &["nothing".to_owned()], &[])?;
    let mut sorted = times;
    sorted.sort();
    Ok(Row {
        time: sorted.get(sorted.len() / 2).copied().unwrap_or_default(),
        wall,
        memory: Memory {
            private_dirty: with.private_dirty - without.private_dirty,
            pss: with.pss - without.pss,
            page_tables: with.page_tables - without.page_tables,
        },
    })
}

/// Times, wall time and mean memory of processes that live at the same time.
fn together(
    program: &Path,
    arguments: &[String],
    environment: &[(&str, &str)],
) -> anyhow::Result<(Vec<Duration>, Duration, Memory)> {
    let start = Instant::now();
    let clients: Vec<Client> = std::thread::scope(|scope| {
        let start = || scope.spawn(|| Client::start(program, arguments, environment));
        let starting: Vec<_> = (0..PROCESSES).map(|_| start()).collect();
        let started = starting.into_iter().map(|one| one.join().expect("no panic"));
        started.collect::<anyhow::Result<_>>()
    })?;
    let wall = start.elapsed();
    let mut mean = Memory::default();
    for client in &clients {
        let memory = client.memory()?;
        mean.private_dirty += memory.private_dirty / f64::from(PROCESSES);
        mean.pss += memory.pss / f64::from(PROCESSES);
        mean.page_tables += memory.page_tables / f64::from(PROCESSES);
    }
    let times = clients.iter().map(|client| client.time).collect();
    clients.into_iter().try_for_each(Client::finish)?;
    Ok((times, wall, mean))
}
