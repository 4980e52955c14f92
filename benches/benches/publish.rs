//! Compares publishing a loaded topology with writing hwloc's own segment:
//! `cargo bench -p topobroker-benches --bench publish`.
#![allow(missing_docs, reason = "a program")]

use criterion::{Criterion, criterion_group, criterion_main};
use std::fs::File;
use topobroker::hwloc::capture;
use topobroker::publish::{PublishOptions, Store, publish};
use topobroker_benches::machines;
use topobroker_rival as rival;

fn publishing(criterion: &mut Criterion) {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    for machine in machines::standard().into_iter().chain(machines::largest_shared(3)) {
        let Ok(topology) = machine.load() else {
            continue;
        };
        let mut group = criterion.benchmark_group(format!("publish/{}", machine.name));
        group.sample_size(30);
        let options =
            PublishOptions { store: Store::Folder(folder.path().into()), ..Default::default() };
        group.bench_function("topobroker", |bencher| {
            bencher.iter(|| {
                let description = capture(&topology).expect("a capture");
                publish(&description, &options).expect("a segment").unpublish().expect("an end");
            });
        });
        let path = folder.path().join("hwloc");
        group.bench_function("hwloc", |bencher| {
            bencher.iter(|| {
                let length = rival::length(&topology).expect("a length");
                let file = File::options()
                    .read(true)
                    .write(true)
                    .create_new(true)
                    .open(&path)
                    .expect("a file");
                rival::write(&topology, &file, length).expect("a segment");
                std::fs::remove_file(&path).expect("an end");
            });
        });
        group.finish();
    }
}

criterion_group!(benches, publishing);
criterion_main!(benches);
