//! The figures as a table, as CSV and as JSON.

use anyhow::Context;
use std::fmt::Write;
use std::path::Path;
use topobroker_benches::ways::{Cost, Way};

/// The cost of one way for a number of processes on a machine.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) machine: String,
    pub(crate) processes: usize,
    pub(crate) way: &'static str,
    pub(crate) is_ours: bool,
    segment: Option<u64>,
    /// The cost that the topology adds.
    pub(crate) cost: Cost,
    /// The same processes without a topology: memory in kB, and time until all were ready in ms.
    without: (f64, f64),
}

impl Row {
    pub(crate) fn new(
        machine: &str,
        processes: usize,
        way: &Way,
        cost: Cost,
        without: &Cost,
    ) -> Self {
        Self {
            machine: machine.to_owned(),
            processes,
            way: way.name,
            is_ours: way.is_ours,
            segment: way.segment,
            cost,
            without: (without.total(), without.wall.as_secs_f64() * 1e3),
        }
    }

    /// MB that the topology adds to the node.
    pub(crate) fn megabytes(&self) -> f64 {
        self.cost.total() / 1024.0
    }

    /// Milliseconds until all processes are ready.
    pub(crate) fn milliseconds(&self) -> f64 {
        self.cost.wall.as_secs_f64() * 1e3
    }
}

/// Writes all files. `whole` has the tables of the whole cost.
pub(crate) fn write(whole: &str, rows: &[Row], folder: &Path) -> anyhow::Result<()> {
    let files = [("README.md", table(whole, rows)), ("footprint.csv", csv(rows))];
    for (name, text) in files {
        let file = folder.join(name);
        std::fs::write(&file, text).with_context(|| file.display().to_string())?;
    }
    Ok(())
}

const HEAD: &str = "\
# Footprint

`cargo run --release -p topobroker-benches --bin footprint -- PREFIX` makes this page, with the
libraries that `scripts/install PREFIX` has installed.

## The whole cost of a C program

What the user of a C program of ten lines pays in all, above the same program without a topology:
the library with the pages that the loader writes, what the library needs, page tables and the
segment. The node is all processes at once; the median of three runs. Start is the time from the
start of a process to its end, the median of 300 of each way, in another order each round.
";

const TOPOLOGY_ALONE: &str = "
## The topology alone

What a topology adds to the processes of a node that have the library already. Each way of hwloc is
measured in the same run. All processes of a row live at the same time. A figure is the sum over
them, less the sum over as many processes of the same program without a topology. Memory is Pss and
page tables; \"private\" is what each process has written. Each process begins its heap at another
place in a page, as programs do, so that no way gains by where a page ends. A ratio says how many
times our memory the other way takes: ours is first `topobroker` at its fixed address, then
`topobroker, anywhere`.

The figures are in `footprint.csv`; the plots show memory and time against the number of processes.
";

/// One table for each machine, with a row for each number of processes and way.
fn table(whole: &str, rows: &[Row]) -> String {
    let mut text = format!("{HEAD}{whole}{TOPOLOGY_ALONE}");
    let mut machines: Vec<&str> = rows.iter().map(|row| row.machine.as_str()).collect();
    machines.dedup();
    for machine in machines {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n### {machine}\n");
        let _ =
            writeln!(text, "![memory]({0}-memory.svg) ![time]({0}-time.svg)\n", file_name(machine));
        let _ = writeln!(
            text,
            "| processes | way | node MB | private kB each | tables kB each | median us | all ready ms | CPU ms | x fixed | x anywhere |\n\
             | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
        );
        for row in rows.iter().filter(|row| row.machine == machine) {
            let of = |name| {
                let same =
                    |other: &&Row| other.machine == machine && other.processes == row.processes;
                let ours = rows.iter().filter(same).find(|other| other.way == name);
                ours.map_or(String::new(), |ours| {
                    format!("{:.1}", row.megabytes() / ours.megabytes())
                })
            };
            let each = |all: f64| all / row.processes as f64;
            let _ = writeln!(
                text,
                "| {} | {} | {:.2} | {:.1} | {:.1} | {:.0} | {:.0} | {:.0} | {} | {} |",
                row.processes,
                row.way,
                row.megabytes(),
                each(row.cost.memory.private_dirty),
                each(row.cost.memory.page_tables),
                row.cost.median().as_secs_f64() * 1e6,
                row.milliseconds(),
                row.cost.cpu.as_secs_f64() * 1e3,
                of("topobroker"),
                of("topobroker, anywhere"),
            );
        }
    }
    text
}

/// A machine's name as part of a file name.
pub(crate) fn file_name(machine: &str) -> String {
    machine
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
        .collect()
}

fn csv(rows: &[Row]) -> String {
    let mut text = "machine,processes,way,segment_bytes,pss_kb,private_dirty_kb,private_clean_kb,\
                    page_tables_kb,median_us,all_ready_ms,cpu_ms,baseline_kb,baseline_ready_ms\n"
        .to_owned();
    for row in rows {
        let memory = &row.cost.memory;
        let _ = writeln!(
            text,
            "{},{},\"{}\",{},{:.1},{:.1},{:.1},{:.1},{:.1},{:.1},{:.1},{:.1},{:.1}",
            row.machine,
            row.processes,
            row.way,
            row.segment.map_or_else(String::new, |bytes| bytes.to_string()),
            memory.pss,
            memory.private_dirty,
            memory.private_clean,
            memory.page_tables,
            row.cost.median().as_secs_f64() * 1e6,
            row.milliseconds(),
            row.cost.cpu.as_secs_f64() * 1e3,
            row.without.0,
            row.without.1,
        );
    }
    text
}
