//! What the locality of the ranks of a job costs: `localities` asks our job segment, and a PMIx
//! server and client, on the same machines with the same ranks.
#![forbid(unsafe_code)]

use anyhow::{Context, ensure};
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use topobroker::hwloc::{Input, LoadOptions, capture, load};
use topobroker_benches::nics::{with_devices, with_nics};
use topobroker_benches::times::best;
use topobroker_layout::encode::to_bytes;
use topobroker_reader::{
    Archive, Locality, Object, ObjectType, OsDeviceKind, Set, Topology,
    devices::{DeviceKinds, NearTo, NicChoice},
    jobs::Job,
};
use topobroker_samples::jobs::job_segment;
use topobroker_samples::{SYNTHETIC_256, SYNTHETIC_2048, shared_folder};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/locality_cost.c");

/// Times of one run, in microseconds: all peers, one pair, one string, the devices of a rank.
struct Cost {
    devices: f64,
    peers: f64,
    pair: f64,
    string: f64,
}

/// How often each call is timed.
const RUNS: u32 = 200_000;

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let rival = build(folder.path())?;
    let shared = shared_folder().map(|it| it.join("topologies/flux-core__ipa20.xml"));
    let ipa20 = shared.filter(|file| file.exists()).map(|file| file.display().to_string());
    let mut cases = vec![
        ("synth256", SYNTHETIC_256.to_owned(), 256, 1),
        ("synth2048", SYNTHETIC_2048.to_owned(), 1024, 1),
        ("synth2048", SYNTHETIC_2048.to_owned(), 1024, 16),
    ];
    cases.extend(ipa20.map(|file| ("ipa20", file, 224, 1)));
    println!(
        "| machine | ranks x PUs | segment of the job | all peers us | one pair ns | a string ns | PMIx: get strings us | compare us | store us | a string ns | private kB | devices: ours us | PMIx us |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (name, machine, ranks, pus) in cases {
        let input = match machine.contains('/') {
            true => Input::Xml(machine.clone().into()),
            false => Input::Synthetic(machine.clone()),
        };
        let archive = to_bytes(&capture(&load(&input, &LoadOptions::default())?)?)?;
        let opened = Archive::open(&archive)?;
        let segment = job_segment(opened.topology(), ranks, pus)?;
        let job = Job::from_segment(opened.topology(), &segment)?;
        let cost = ours(opened.topology(), job);
        let theirs = match &rival {
            Some(program) => theirs(program, &machine, ranks, pus)?,
            None => vec!["-".to_owned(); 6],
        };
        let [string, devices, get, compare, store, private] = &theirs[..] else {
            anyhow::bail!("{name}: {theirs:?}; expected six numbers");
        };
        let string: f64 = string.parse().unwrap_or(f64::NAN);
        println!(
            "| {name} | {ranks} x {pus} | {} | {:.1} | {:.0} | {:.0} | {get} | {compare} | {store} | {:.0} | {private} | {:.2} | {devices} |",
            segment.len(),
            cost.peers,
            cost.pair * 1000.0,
            cost.string * 1000.0,
            string * 1000.0,
            cost.devices,
        );
    }
    assignment()
}

/// Prints what finding networks and dealing NICs to ranks cost, and how evenly they are dealt.
fn assignment() -> anyhow::Result<()> {
    // 256 PUs, 16 devices.
    let input =
        Input::Synthetic("Package:2 Group:8 NUMANode:1 L3Cache:2 L2Cache:4 Core:1 PU:2".to_owned());
    let machine = with_nics(&capture(&load(&input, &LoadOptions::default())?)?);
    let archive = to_bytes(&machine)?;
    let opened = Archive::open(&archive)?;
    let topology = opened.topology();
    let nics: Vec<Object<'_>> = topology.nics(NicChoice::Active).collect();
    let pus = topology.objects_with_type(ObjectType::PU);
    let sets: Vec<Set> = pus.filter_map(Object::cpuset).collect();
    let ranks: Vec<NearTo<'_, '_>> = sets.iter().map(NearTo::Pus).collect();
    let time = best(RUNS, || {
        black_box(topology.assign(black_box(&nics), black_box(&ranks), 1));
    });
    let given = topology.assign(&nics, &ranks, 1);
    let loads = nics.iter().map(|nic| given.iter().filter(|it| *it == nic).count());
    let loads: Vec<usize> = loads.collect();
    let networks = best(RUNS, || {
        black_box(topology.network_shares(black_box(NicChoice::Active)).count());
    });
    println!("\nnetworks of {} NICs: {networks:.1} us", nics.len());
    let machine = capture(&load(&input, &LoadOptions::default())?)?;
    let archive = to_bytes(&with_devices(&machine, OsDeviceKind::CoProcessor))?;
    let opened = Archive::open(&archive)?;
    let topology = opened.topology();
    let gpus: Vec<Object<'_>> = topology.gpus().collect();
    let everywhere: Vec<NearTo<'_, '_>> = sets.iter().cycle().take(256).map(NearTo::Pus).collect();
    // All near one GPU: most of them have one that is far.
    let together: Vec<NearTo<'_, '_>> =
        sets.iter().take(1).cycle().take(256).map(NearTo::Pus).collect();
    for (where_they_are, ranks) in [("everywhere", everywhere), ("near one GPU", together)] {
        let gpu_time = best(RUNS, || {
            black_box(topology.assign(black_box(&gpus), black_box(&ranks), 1));
        });
        println!("256 ranks {where_they_are}, {} GPUs: {gpu_time:.0} us", gpus.len());
    }
    println!(
        "{} ranks, {} NICs: {time:.0} us, ranks of each NIC: {loads:?}",
        ranks.len(),
        nics.len()
    );
    Ok(())
}

/// Builds the program that asks PMIx; `None` if PMIx is not installed.
fn build(folder: &Path) -> anyhow::Result<Option<std::path::PathBuf>> {
    let flags = Command::new("pkg-config").args(["--cflags", "--libs", "pmix", "hwloc"]).output();
    let Some(flags) = flags.ok().filter(|it| it.status.success()) else { return Ok(None) };
    let flags = String::from_utf8(flags.stdout)?;
    let program = folder.join("locality_cost");
    let mut compile = Command::new("cc");
    compile.args(["-O2", "-o"]).arg(&program).arg(SOURCE).args(flags.split_whitespace());
    let status = compile.status()?;
    ensure!(status.success(), "{compile:?}: {status}");
    Ok(Some(program))
}

fn theirs(program: &Path, machine: &str, ranks: u32, pus: u32) -> anyhow::Result<Vec<String>> {
    let mut command = Command::new(program);
    command.arg(machine).args([ranks.to_string(), pus.to_string()]);
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    let text = String::from_utf8(output.stdout)?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

fn ours(topology: Topology<'_>, job: Job<'_>) -> Cost {
    let ranks = u32::try_from(job.ranks().len()).unwrap_or(u32::MAX);
    let mut near = vec![Locality::UNKNOWN; job.ranks().len()];
    let peers = best(RUNS, || {
        let all = job.localities(black_box(0)).into_iter().flatten();
        near.iter_mut().zip(all).for_each(|(slot, locality)| *slot = locality);
        black_box(&near);
    });
    let others: Vec<u32> = (1..65).map(|step| step * 37 % ranks).collect();
    let pair = best(RUNS, || {
        for other in &others {
            black_box(job.locality(black_box(3), black_box(*other)));
        }
    });
    let set = job.rank(1).and_then(|rank| rank.cpuset).unwrap_or_default();
    let mut text = String::with_capacity(1024);
    let string = best(RUNS, || {
        text.clear();
        // Writing to a string cannot fail.
        let _ = topology.write_locality_string(black_box(&set), &mut text);
        black_box(&text);
    });
    let first = job.rank(0).and_then(|rank| rank.cpuset).unwrap_or_default();
    let devices = best(RUNS, || {
        let all = topology.device_distances(black_box(&first), DeviceKinds::ALL);
        black_box(all.map(|it| u32::from(it.min)).sum::<u32>());
    });
    Cost { devices, peers, pair: pair / 64.0, string }
}
