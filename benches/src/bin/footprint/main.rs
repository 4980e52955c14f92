//! Measures memory and time of many processes on a node, for each way to get a topology. Writes a
//! table, CSV, JSON and plots.
//!
//!     scripts/install --reader /tmp/installed
//!     cargo run --release -p topobroker-benches --bin footprint -- /tmp/installed --ppn 64 --input synth256
#![forbid(unsafe_code)]

mod plot;
mod report;

use anyhow::{Context, bail};
use clap::Parser;
use report::Row;
use std::path::{Path, PathBuf};
use topobroker::hwloc::Input;
use topobroker_benches::machines::{self, Machine};
use topobroker_benches::ways::Ways;
use topobroker_benches::whole_cost::{Programs, WholeCost};

/// Processes of each way whose start is timed.
const ROUNDS: usize = 300;

/// Start many processes for each way to get a topology, and sum up what they take
#[derive(Debug, Parser)]
struct Footprint {
    /// Where `scripts/install` has installed the libraries whose whole cost is measured
    prefix: PathBuf,
    /// Numbers of processes
    #[arg(long, value_delimiter = ',', default_value = "16,64,256")]
    ppn: Vec<usize>,
    /// Machines: machine, synth256, synth2048, an hwloc XML file, or a synthetic description; by
    /// default the first three and two of the reference machines
    #[arg(long)]
    input: Vec<String>,
    /// Folder for the table, the figures and the plots
    #[arg(long, default_value = "docs/footprint")]
    output: PathBuf,
    /// Number of measurements of each way; the one with the median memory is kept
    #[arg(long, default_value_t = 3)]
    repeat: usize,
}

fn main() -> anyhow::Result<()> {
    let options = Footprint::parse();
    let here = std::env::current_exe()?;
    let programs = here.parent().context("folder of this program")?;
    let built = Programs::build(&options.prefix)?;
    let (mut whole, mut rows) = (String::new(), Vec::new());
    for machine in options.machines()? {
        eprintln!("{}: the whole cost of a C program ...", machine.name);
        let table = WholeCost::new(&machine, &built)?.table(&options.ppn, ROUNDS)?;
        whole += &format!("\n### {}\n\n{table}", machine.name);
        rows.extend(options.measure(&machine, programs)?);
    }
    std::fs::create_dir_all(&options.output).context("the folder for the figures")?;
    report::write(&whole, &rows, &options.output)?;
    plot::write(&rows, &options.output)?;
    println!("\nwritten to {}", options.output.display());
    Ok(())
}

impl Footprint {
    fn machines(&self) -> anyhow::Result<Vec<Machine>> {
        if self.input.is_empty() {
            return Ok(machines::standard().into_iter().chain(machines::two_real()).collect());
        }
        self.input.iter().map(|input| machine(input)).collect()
    }

    fn measure(&self, machine: &Machine, programs: &Path) -> anyhow::Result<Vec<Row>> {
        let ways = Ways::new(machine, programs)?;
        let mut rows = Vec::new();
        for &processes in &self.ppn {
            for way in &ways.all {
                eprint!("{}, {processes} processes: {} ...", machine.name, way.name);
                let mut costs = Vec::new();
                for _ in 0..self.repeat.max(1) {
                    let without = way.baseline().cost(processes)?;
                    let with = way.cost(processes)?;
                    costs.push((with.less(&without), without));
                }
                costs.sort_by(|(one, _), (other, _)| one.total().total_cmp(&other.total()));
                let (cost, without) = costs.swap_remove(costs.len() / 2);
                eprintln!(
                    " {:.2} MB, {:.0} ms",
                    cost.total() / 1024.0,
                    cost.wall.as_secs_f64() * 1e3
                );
                rows.push(Row::new(&machine.name, processes, way, cost, &without));
            }
        }
        Ok(rows)
    }
}

fn machine(input: &str) -> anyhow::Result<Machine> {
    if let Some(known) = machines::standard().into_iter().find(|known| known.name == input) {
        return Ok(known);
    }
    let path = PathBuf::from(input);
    let input = match input {
        "machine" => return machines::standard().into_iter().next().context("this machine"),
        _ if path.is_file() => Input::Xml(path.clone()),
        _ if input.contains('/') || input.ends_with(".xml") => {
            bail!("{input}: there is no such file")
        }
        _ => Input::Synthetic(input.to_owned()),
    };
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Machine { name, input })
}
