//! Compares the segment sizes of every machine with hwloc's:
//! `cargo bench -p topobroker-benches --bench sizes`.
#![allow(missing_docs, reason = "a program")]

use topobroker::hwloc::capture;
use topobroker_benches::machines;
use topobroker_layout::{encode, header};
use topobroker_rival as rival;

fn main() -> anyhow::Result<()> {
    println!(
        "| machine | objects | ours | hwloc | hwloc / ours |\n| --- | ---: | ---: | ---: | ---: |"
    );
    let mut worst: Option<(f64, String)> = None;
    for machine in machines::standard().into_iter().chain(machines::shared()) {
        let Ok(topology) = machine.load() else {
            continue;
        };
        let description = capture(&topology)?;
        let ours = header::segment_len(encode::to_bytes(&description)?.len());
        let theirs = rival::length(&topology)?;
        #[expect(clippy::cast_precision_loss, reason = "a ratio of sizes")]
        let ratio = theirs as f64 / ours as f64;
        let (name, objects) = (&machine.name, description.objects.len());
        println!("| {name} | {objects} | {ours} | {theirs} | {ratio:.1} |");
        if objects >= 100 && worst.as_ref().is_none_or(|(least, _)| ratio < *least) {
            worst = Some((ratio, name.clone()));
        }
    }
    if let Some((ratio, name)) = worst {
        println!("\nSmallest ratio of a machine with 100 objects or more: {ratio:.1} ({name})");
    }
    Ok(())
}
