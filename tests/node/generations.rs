//! A node whose topology is published again and again while processes adopt it.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use topobroker::node::daemon::Folder;
use topobroker::publish::{Address, PublishOptions, Store, publish};
use topobroker_layout::description::Description;
use topobroker_samples::synthetic;
use topobroker_tests::segments::adopter_file;

/// Publishes at least once, and then until `end` is set. Returns the number of generations.
fn publish_until(end: &AtomicBool, folder: &mut Folder) -> u64 {
    let machines: Vec<Description> = (2..9).map(|pus| synthetic(&format!("PU:{pus}"))).collect();
    let mut first = true;
    while first || !end.load(Ordering::Relaxed) {
        let generation = folder.generation();
        let options = PublishOptions {
            store: Store::Folder(folder.path().to_owned()),
            address: if generation.is_multiple_of(2) { Address::Usual } else { Address::Anywhere },
            generation,
            keep: true,
            ..PublishOptions::default()
        };
        let machine = &machines[usize::try_from(generation % 7).unwrap()];
        folder.announce(publish(machine, &options).unwrap()).unwrap();
        first = false;
    }
    folder.generation()
}

/// Ends the publisher when dropped, so that it also ends if the test panics.
struct EndsWith<'a>(&'a AtomicBool);

impl Drop for EndsWith<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn ten_thousand_processes_adopt_while_generations_change_and_each_has_a_whole_one() {
    let place = tempfile::tempdir().unwrap();
    let mut folder = Folder::take(&place.path().join("run")).unwrap();
    let end = AtomicBool::new(false);
    let mut adopter = Command::new(adopter_file());
    adopter.args(["generations", "2500"]).env("TOPOBROKER_RUN", folder.path());
    for key in ["TOPOBROKER_FILE", "TOPOBROKER_ADDR", "TOPOBROKER_SIZE"] {
        adopter.env_remove(key);
    }
    adopter.stdout(Stdio::piped());
    publish_until(&AtomicBool::new(true), &mut folder);
    let (outputs, published) = std::thread::scope(|scope| {
        let ends = EndsWith(&end);
        let publishing = scope.spawn(|| publish_until(&end, &mut folder));
        let started: Vec<_> = (0..4).map(|_| adopter.spawn().unwrap()).collect();
        let outputs = started.into_iter().map(|child| child.wait_with_output().unwrap());
        let outputs: Vec<_> = outputs.collect();
        drop(ends);
        (outputs, publishing.join().unwrap())
    });
    assert!(published > 100, "{published} generations");
    for output in outputs {
        let text = String::from_utf8(output.stdout).unwrap();
        let seen = text.strip_prefix("failures 0 generations ").unwrap_or_else(|| panic!("{text}"));
        assert!(seen.trim().parse::<u64>().unwrap() > 10, "{text}");
    }
    let kept = std::fs::read_dir(folder.path()).unwrap().flatten();
    let segments = kept.filter(|it| it.file_name().to_string_lossy().starts_with("topobroker-"));
    assert_eq!(segments.count(), 2, "only the newest generation and the one before it stay");
}
