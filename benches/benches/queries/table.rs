//! Tables of the measured times.

use std::collections::HashSet;
use std::path::Path;
use topobroker_benches::machines::Machine;

/// The measured times in order: one entry for each round of a query on a machine.
#[derive(Default)]
pub(crate) struct Rows(Vec<Measured>);

/// Nanoseconds for an operation of a query, in one round.
struct Measured {
    query: &'static str,
    machine: String,
    ours: f64,
    theirs: f64,
}

impl Rows {
    /// Adds the median times of a query in one round, from criterion's results in a folder.
    pub(crate) fn add(
        &mut self,
        results: &Path,
        folder: &str,
        machine: &str,
        query: &'static str,
        operations: usize,
    ) {
        let of = |side: &str| {
            let group = results.join(format!("{folder}_{query}")).join(side);
            #[expect(clippy::cast_precision_loss, reason = "a number of operations is small")]
            estimated(&group.join("new/estimates.json")).map(|time| time / operations as f64)
        };
        // Missing if criterion leaves the query out.
        let (Some(ours), Some(theirs)) = (of("topobroker"), of("hwloc")) else { return };
        self.0.push(Measured { query, machine: machine.to_owned(), ours, theirs });
    }

    fn rounds(&self, query: &str, machine: &str) -> impl Iterator<Item = &Measured> {
        self.0.iter().filter(move |times| times.query == query && times.machine == machine)
    }

    fn queries(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|measured| measured.query)
    }
}

fn estimated(file: &Path) -> Option<f64> {
    let text = std::fs::read_to_string(file).ok()?;
    let estimates: serde_json::Value = serde_json::from_str(&text).ok()?;
    estimates.get("median")?.get("point_estimate")?.as_f64()
}

/// The median over the rounds; `None` if there are none.
fn median(rounds: impl Iterator<Item = f64>) -> Option<f64> {
    let mut rounds: Vec<f64> = rounds.collect();
    rounds.sort_by(f64::total_cmp);
    rounds.get(rounds.len() / 2).copied()
}

/// Prints a table with a row for each query and a column for each machine. A cell is hwloc's time
/// divided by ours, and our time.
pub(crate) fn print(title: &str, machines: &[Machine], rows: &Rows) {
    print_cells(title, machines, rows, |query, machine| {
        median(rows.rounds(query, machine).map(|times| times.theirs / times.ours))
    });
}

/// Prints a table of our times divided by our times of the same query in `others`.
pub(crate) fn print_against(title: &str, machines: &[Machine], rows: &Rows, others: &Rows) {
    print_cells(title, machines, rows, |query, machine| {
        let both = rows.rounds(query, machine).zip(others.rounds(query, machine));
        median(both.map(|(times, other)| times.ours / other.ours))
    });
}

fn print_cells(
    title: &str,
    machines: &[Machine],
    rows: &Rows,
    ratio: impl Fn(&str, &str) -> Option<f64>,
) {
    print_grid(title, "query", machines, rows.queries(), |query, machine| {
        let ours = median(rows.rounds(query, machine).map(|times| times.ours))?;
        Some(format!("{:.1} ({ours:.1} ns)", ratio(query, machine)?))
    });
}

/// Prints a table with a row for each distinct name and a column for each machine.
pub(crate) fn print_grid<'a>(
    title: &str,
    kind: &str,
    machines: &[Machine],
    names: impl Iterator<Item = &'a str>,
    cell: impl Fn(&str, &str) -> Option<String>,
) {
    println!("\n{title}\n");
    let columns: Vec<&str> = machines.iter().map(|machine| machine.name.as_str()).collect();
    println!("| {kind} | {} |", columns.join(" | "));
    println!("| --- |{}", " ---: |".repeat(columns.len()));
    let mut printed = HashSet::new();
    for name in names.filter(|name| printed.insert(*name)) {
        let cells =
            columns.iter().map(|column| cell(name, column).unwrap_or_else(|| "-".to_owned()));
        println!("| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
}
