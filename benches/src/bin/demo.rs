//! The demonstration: compares many processes that adopt with as many that use hwloc themselves.
#![forbid(unsafe_code)]

use anyhow::Context;
use std::path::Path;
use topobroker_benches::machines::{self, Machine};
use topobroker_benches::ways::Ways;
use topobroker_benches::whole_cost::{Programs, WholeCost};

const PROCESSES: usize = 64;

/// The names of the ways that are shown.
const SHOWN: [&str; 5] =
    ["topobroker", "topobroker, anywhere", "hwloc segment", "hwloc XML", "hwloc loads it"];

fn main() -> anyhow::Result<()> {
    let here = std::env::current_exe()?;
    let programs = here.parent().context("folder of this program")?;
    let installed =
        std::env::args_os().nth(1).context("usage: demo PREFIX, as scripts/demo does")?;
    let built = Programs::build(Path::new(&installed))?;
    // This machine, and the smaller synthetic one.
    for machine in machines::standard().into_iter().take(2) {
        println!("\n{}\n", machine.name);
        println!(
            "What a C program of ten lines pays in all, library included, above the same program"
        );
        println!(
            "without a topology. The node is {PROCESSES} processes at once; start is the time until"
        );
        println!("such a process has ended.\n");
        print!("{}", WholeCost::new(&machine, &built)?.table(&[PROCESSES], 100)?);
        println!(
            "\nThe topology alone, above the same program with the library in it already. These"
        );
        println!("clients were compiled quickly; docs/BENCHMARKS.md has optimised ones.\n");
        demonstrate(&machine, programs)?;
    }
    println!(
        "Private and shared are kB a process; the node is all {PROCESSES}, page tables counted."
    );
    Ok(())
}

fn demonstrate(machine: &Machine, programs: &Path) -> anyhow::Result<()> {
    let ways = Ways::new(machine, programs)?;
    println!(
        "{:<34} {:>9} {:>11} {:>9} {:>9} {:>9} {:>10} {:>9}",
        "way", "segment", "time each", "private", "shared", "tables", "node MB", "all ready"
    );
    for way in SHOWN.iter().filter_map(|name| ways.named(name)) {
        let cost = way.cost(PROCESSES)?.less(&way.baseline().cost(PROCESSES)?);
        let segment = way.segment.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
        let each = |all: f64| all / PROCESSES as f64;
        println!(
            "{:<34} {segment:>9} {:>8.1} us {:>9.1} {:>9.1} {:>9.1} {:>10.2} {:>6.0} ms",
            way.name,
            cost.median().as_secs_f64() * 1e6,
            each(cost.memory.private_dirty),
            each(cost.memory.pss),
            each(cost.memory.page_tables),
            cost.total() / 1024.0,
            cost.wall.as_secs_f64() * 1e3,
        );
    }
    println!();
    Ok(())
}
