//! Compares every query with the same call of hwloc, on the same topology in the same run:
//! `cargo bench -p topobroker-benches --bench queries`. Prints tables of ratios, of how costs grow
//! with the number of PUs, and of views.
#![allow(missing_docs, reason = "a program")]

mod table;
mod views;

use criterion::Criterion;
use std::path::Path;
use std::time::Duration;
use topobroker_benches::machines::{self, Machine};
use topobroker_benches::queries::{Case, Pair, every_query};

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

/// How often both sides take turns. Times that are compared are measured one after the other,
/// because the speed of the machine may vary.
const ROUNDS: usize = 3;

fn main() -> anyhow::Result<()> {
    let results = Path::new(env!("CARGO_TARGET_TMPDIR")).join("queries");
    let mut criterion = Criterion::default()
        .output_directory(&results)
        .without_plots()
        .sample_size(10)
        .nresamples(1001)
        .warm_up_time(Duration::from_millis(20))
        .measurement_time(Duration::from_millis(60))
        .configure_from_args();
    let standard = machines::standard().into_iter().skip(1);
    let mut compared: Vec<Machine> = standard.chain(machines::largest_shared(3)).collect();
    // Criterion cuts off long names of folders, which are made of these names.
    compared.iter_mut().for_each(|machine| machine.name.truncate(22));
    let all = |_: &str| true;
    let (rows, halves) = measure(&mut criterion, &compared, &all, &results)?;
    let made = views::measure(&mut criterion, &compared, &results)?;
    let growing: Vec<Machine> = [64, 256, 1024, 4096].map(machines::growing).into();
    let level = |name: &str| LEVEL.contains(&name);
    let (growth, _) = measure(&mut criterion, &growing, &level, &results)?;
    table::print("Ratio: hwloc's time by ours, and ours in ns", &compared, &rows);
    table::print("Growth with the number of PUs", &growing, &growth);
    table::print("The same on a half: a view, and a duplicate restricted", &compared, &halves);
    table::print_against("Ours on the view by ours on the whole", &compared, &halves, &rows);
    table::print("Making a view, and duplicating and restricting", &compared, &made.times);
    views::print_bytes(&compared, &made);
    Ok(())
}

/// Runs the wanted queries on each machine, in turn on the whole topology and on its first half.
/// Returns the times of both.
fn measure(
    criterion: &mut Criterion,
    machines: &[Machine],
    wanted: &dyn Fn(&str) -> bool,
    results: &Path,
) -> anyhow::Result<(table::Rows, table::Rows)> {
    let (mut rows, mut halves) = (table::Rows::default(), table::Rows::default());
    for machine in machines {
        let hwloc = machine.load()?;
        let mut run = |case: &mut Case<'_>, part: &str, round: usize, rows: &mut table::Rows| {
            let folder = format!("{part}{round} {}", machine.name);
            let mut group = criterion.benchmark_group(format!("{folder}/{}", case.name));
            group.bench_function("topobroker", |bencher| bencher.iter(&mut case.ours));
            group.bench_function("hwloc", |bencher| bencher.iter(&mut case.theirs));
            group.finish();
            rows.add(results, &folder, &machine.name, case.name, case.operations);
        };
        Pair::with_both(&hwloc, |whole, half| {
            let mut of_half = every_query(half);
            for mut case in every_query(whole).into_iter().filter(|case| wanted(case.name)) {
                let mut of_half = of_half.iter_mut().find(|other| other.name == case.name);
                for round in 0..ROUNDS {
                    run(&mut case, "whole", round, &mut rows);
                    if let Some(case) = &mut of_half {
                        run(case, "half", round, &mut halves);
                    }
                }
            }
        })?;
    }
    Ok((rows, halves))
}
