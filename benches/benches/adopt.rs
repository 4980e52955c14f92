//! Adopting in a fresh process beside hwloc: `cargo bench -p topobroker-benches --bench adopt`.
//!
//! Every sample is a process of its own that times itself. hwloc both as installed and without its plugins; the floor
//! is what no reader can do without. These are told the file, so one row of ours has its keys handed over; the others
//! find them in the environment.
#![allow(missing_docs, reason = "a program")]

use criterion::{Criterion, criterion_group, criterion_main};
use std::fs::File;
use std::path::Path;
use std::time::Duration;
use topobroker::capture::capture;
use topobroker::publish::{Address, PublishOptions, Store, publish};
use topobroker_benches::clients::Client;
use topobroker_benches::{machines, rival};

const THIN: &str = env!("CARGO_BIN_EXE_thin_client");
const HWLOC: &str = env!("CARGO_BIN_EXE_hwloc_client");

fn adopting(criterion: &mut Criterion) {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let empty = folder.path().join("no-plugins");
    std::fs::create_dir(&empty).expect("a folder");
    for machine in machines::standard().into_iter().chain(machines::largest_shared(3)) {
        let Ok(topology) = machine.load() else {
            continue;
        };
        let options = |address| PublishOptions {
            store: Store::Folder(folder.path().into()),
            address,
            ..Default::default()
        };
        let description = capture(&topology).expect("a capture");
        let fixed = publish(&description, &options(Address::Usual)).expect("a segment");
        let anywhere = publish(&description, &options(Address::Anywhere)).expect("a segment");
        let path = folder.path().join("hwloc");
        let length = rival::length(&topology).expect("a length");
        let mut open = File::options();
        let file = open.read(true).write(true).create(true).truncate(true).open(&path);
        let file = file.expect("a file");
        rival::write(&topology, &file, length).expect("a segment");

        let mut group = criterion.benchmark_group(format!("adopt/{}", machine.name));
        group.sample_size(50).measurement_time(Duration::from_secs(4));
        let mut bench = |name: &str, program: &str, arguments: &[&str], env: &[(&str, &str)]| {
            group.bench_function(name, |bencher| {
                bencher.iter_custom(|times| {
                    let one = |_| time_of(program, arguments, env);
                    (0..times).map(one).sum()
                });
            });
        };
        let told = fixed.keys().to_env().map(|(_, value)| value.into_string().expect("text"));
        let [file, address, size] = told.each_ref().map(String::as_str);
        bench("floor", THIN, &["floor", file], &[]);
        bench("topobroker, told", THIN, &["adopt", file, address, size], &[]);
        for (name, publication) in [("fixed", &fixed), ("anywhere", &anywhere)] {
            let keys = publication.keys().to_env();
            let keys = keys.each_ref().map(|(key, value)| (*key, value.to_str().expect("text")));
            bench(&format!("topobroker, {name}"), THIN, &["adopt"], &keys);
        }
        let theirs = path.to_string_lossy().into_owned();
        let plugins = [("HWLOC_PLUGINS_PATH", empty.to_str().expect("text"))];
        bench("hwloc without plugins", HWLOC, &["adopt", &theirs], &plugins);
        bench("hwloc as installed", HWLOC, &["adopt", &theirs], &[]);
        group.finish();
    }
}

fn time_of(program: &str, arguments: &[&str], env: &[(&str, &str)]) -> Duration {
    let client = Client::start(Path::new(program), arguments, env).expect("a client");
    let time = client.time;
    client.finish().expect("an end");
    time
}

criterion_group!(benches, adopting);
criterion_main!(benches);
