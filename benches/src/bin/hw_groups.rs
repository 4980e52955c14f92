//! What hardware groups cost: `hw_groups` asks jobs of up to 1,024 ranks for all groups, for the
//! groups of a rank, and for the colours of each type.
#![forbid(unsafe_code)]

use std::hint::black_box;
use topobroker::hwloc::{Input, LoadOptions, capture, load};
use topobroker_benches::times::best;
use topobroker_layout::encode::to_bytes;
use topobroker_reader::{
    Archive,
    groups::{HwResources, Instances, Uri},
    jobs::Job,
};
use topobroker_samples::jobs::job_segment;
use topobroker_samples::{SYNTHETIC_256, SYNTHETIC_2048, shared_folder};

/// How often each call is timed.
const RUNS: u32 = 2000;

fn main() -> anyhow::Result<()> {
    let shared = shared_folder().map(|it| it.join("topologies/flux-core__ipa20.xml"));
    let ipa20 = shared.filter(|file| file.exists()).map(Input::Xml);
    let synthetic = |text: &str| Input::Synthetic(text.to_owned());
    let mut cases = vec![
        ("synth256", synthetic(SYNTHETIC_256), 256, 1),
        ("synth2048", synthetic(SYNTHETIC_2048), 1024, 1),
        ("synth2048", synthetic(SYNTHETIC_2048), 1024, 16),
    ];
    cases.extend(ipa20.map(|input| ("ipa20", input, 224, 1)));
    println!(
        "| machine | ranks x PUs | groups | all groups us | groups of a rank us | info of a rank us | unguided us | colours of the slowest type us |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for (name, input, ranks, pus) in cases {
        let archive = to_bytes(&capture(&load(&input, &LoadOptions::default())?)?)?;
        let opened = Archive::open(&archive)?;
        let segment = job_segment(opened.topology(), ranks, pus)?;
        let resources = Job::from_segment(opened.topology(), &segment)?.hw_resources();
        let all: Vec<u32> = (0..ranks).collect();
        let groups = best(RUNS, || _ = black_box(resources.groups(2)));
        let of_rank =
            best(RUNS, || _ = black_box(resources.groups_of(black_box(3), 2).map(Iterator::count)));
        let info = best(RUNS, || _ = black_box(resources.info(black_box(3)).map(Iterator::count)));
        let unguided = best(RUNS, || {
            let Ok(split) = resources.unguided(black_box(&all)) else { return };
            black_box(all.iter().filter(|rank| split.part(**rank).is_some()).count());
        });
        let (slowest, colours) = slowest_colours(&resources)?;
        println!(
            "| {name} | {ranks} x {pus} | {} | {groups:.0} | {of_rank:.0} | {info:.0} | {unguided:.0} | {colours:.1} ({slowest}) |",
            resources.groups(2).len()
        );
    }
    Ok(())
}

/// The type whose colours take longest, and how long.
fn slowest_colours(resources: &HwResources<'_>) -> anyhow::Result<(String, f64)> {
    let mut colours = vec![-1i64; resources.job().rank_count()];
    let mut times = Vec::new();
    for resource in resources.types() {
        let uri = Uri::of(resource);
        resources.instances(uri)?;
        let time = best(RUNS, || {
            let Ok(instances) = resources.instances(black_box(uri)) else { return };
            fill(&mut colours, &instances);
            black_box(&colours);
        });
        times.push((uri.to_string(), time));
    }
    times.sort_by(|one, other| other.1.total_cmp(&one.1));
    times.into_iter().next().ok_or_else(|| anyhow::anyhow!("no types"))
}

fn fill(colours: &mut [i64], instances: &Instances<'_>) {
    for (slot, instance) in colours.iter_mut().zip(instances.iter()) {
        *slot = instance.map_or(-1, i64::from);
    }
}
