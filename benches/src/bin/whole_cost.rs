//! The whole cost of a topology, as the user of a C program pays it:
//! `whole_cost PREFIX [PROCESSES...]` measures the libraries that `scripts/install PREFIX` or
//! `scripts/install --reader PREFIX` installed.
#![forbid(unsafe_code)]

use clap::Parser;
use std::path::PathBuf;
use topobroker_benches::machines;
use topobroker_benches::whole_cost::{Programs, WholeCost};

/// Measure what a C program pays in all for a topology: with our library and with hwloc's
#[derive(Debug, Parser)]
struct Arguments {
    /// Where the libraries are installed
    prefix: PathBuf,
    /// Numbers of processes at once
    #[arg(default_values_t = [16, 64, 256])]
    processes: Vec<usize>,
    /// Processes of each way whose start is timed
    #[arg(long, default_value_t = 300)]
    rounds: usize,
    /// Measure only the machine with this name
    #[arg(long)]
    machine: Option<String>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let programs = Programs::build(&arguments.prefix)?;
    let machines = machines::standard().into_iter().chain(machines::two_real());
    let chosen = arguments.machine.as_deref();
    for machine in machines.filter(|machine| chosen.is_none_or(|name| machine.name == name)) {
        let cost = WholeCost::new(&machine, &programs)?;
        println!("\n{}, above the same program without a topology\n", machine.name);
        print!("{}", cost.table(&arguments.processes, arguments.rounds)?);
    }
    Ok(())
}
