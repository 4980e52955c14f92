//! Every query beside the same call of hwloc's, on the same topology in the same run:
//! `cargo bench -p topobroker-benches --bench queries`. Prints one table of ratios, and one of how
//! costs grow with the number of PUs.
#![allow(missing_docs, reason = "a program")]

mod case;
mod cases;
mod near_cases;
mod pair;
mod table;

use cases::every_query;
use criterion::Criterion;
use pair::Pair;
use std::path::Path;
use std::time::Duration;
use topobroker_benches::machines::{self, Machine};

/// Queries whose cost must not depend on the number of PUs.
const LEVEL: [&str; 9] = [
    "covering, contiguous",
    "covering, sparse",
    "covering, one PU",
    "common ancestor of PUs",
    "ancestor by type",
    "ancestor by depth",
    "shared cache",
    "object by depth and index",
    "PU by OS index",
];

fn main() -> anyhow::Result<()> {
    let results = Path::new(env!("CARGO_TARGET_TMPDIR")).join("queries");
    let mut criterion = Criterion::default()
        .output_directory(&results)
        .without_plots()
        .sample_size(15)
        .warm_up_time(Duration::from_millis(40))
        .measurement_time(Duration::from_millis(200))
        .configure_from_args();
    let standard = machines::standard().into_iter().skip(1);
    let mut compared: Vec<Machine> = standard.chain(machines::largest_shared(3)).collect();
    // Criterion cuts the names of its folders, which are made of these.
    compared.iter_mut().for_each(|machine| machine.name.truncate(22));
    let rows = measure(&mut criterion, &compared, &|_| true, &results)?;
    let growing: Vec<Machine> = [64, 256, 1024, 4096].map(machines::growing).into();
    let level = |name: &str| LEVEL.contains(&name);
    let growth = measure(&mut criterion, &growing, &level, &results)?;
    table::print("Ratio: hwloc's time by ours, and ours in ns", &compared, &rows);
    table::print("Growth with the number of PUs", &growing, &growth);
    Ok(())
}

/// Runs the queries on machine after machine; a row for each query.
fn measure(
    criterion: &mut Criterion,
    machines: &[Machine],
    wanted: &dyn Fn(&str) -> bool,
    results: &Path,
) -> anyhow::Result<table::Rows> {
    let mut rows = table::Rows::default();
    for machine in machines {
        let hwloc = machine.load()?;
        Pair::with(&hwloc, |pair| {
            for mut case in every_query(pair) {
                if !wanted(case.name) {
                    continue;
                }
                let mut group =
                    criterion.benchmark_group(format!("{}/{}", machine.name, case.name));
                group.bench_function("topobroker", |bencher| bencher.iter(&mut case.ours));
                group.bench_function("hwloc", |bencher| bencher.iter(&mut case.theirs));
                group.finish();
                rows.add(results, &machine.name, case.name, case.operations);
            }
        })?;
    }
    Ok(rows)
}
