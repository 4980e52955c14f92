//! Tables of what was measured.

use std::path::Path;
use topobroker_benches::machines::Machine;

/// Queries in their order, each with what was measured by machine.
#[derive(Default)]
pub(crate) struct Rows(Vec<(&'static str, Vec<(String, Times)>)>);

/// Nanoseconds of an operation.
#[derive(Clone, Copy)]
struct Times {
    ours: f64,
    theirs: f64,
}

impl Rows {
    /// Takes the medians of a query from the results of criterion in a folder.
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
            median(&group.join("new/estimates.json")).map(|time| time / operations as f64)
        };
        // Left out where criterion was told to.
        let (Some(ours), Some(theirs)) = (of("topobroker"), of("hwloc")) else { return };
        let times = (machine.to_owned(), Times { ours, theirs });
        match self.0.iter_mut().find(|(name, _)| *name == query) {
            Some((_, row)) => row.push(times),
            None => self.0.push((query, vec![times])),
        }
    }
}

impl Rows {
    fn times(&self, query: &str, machine: &str) -> Option<Times> {
        let (_, row) = self.0.iter().find(|(name, _)| *name == query)?;
        row.iter().find(|(name, _)| name == machine).map(|(_, times)| *times)
    }
}

fn median(file: &Path) -> Option<f64> {
    let text = std::fs::read_to_string(file).ok()?;
    let estimates: serde_json::Value = serde_json::from_str(&text).ok()?;
    estimates.get("median")?.get("point_estimate")?.as_f64()
}

/// Prints a table: a row a query, a column a machine, in each cell hwloc's time by ours.
pub(crate) fn print(title: &str, machines: &[Machine], rows: &Rows) {
    print_cells(title, machines, rows, |_, _, times| {
        Some(format!("{:.1} ({:.1} ns)", times.theirs / times.ours, times.ours))
    });
}

/// Prints a table of our times by our times of the same query in other rows.
pub(crate) fn print_against(title: &str, machines: &[Machine], rows: &Rows, others: &Rows) {
    print_cells(title, machines, rows, |query, machine, times| {
        let other = others.times(query, machine)?;
        Some(format!("{:.1} ({:.1} ns)", times.ours / other.ours, times.ours))
    });
}

fn print_cells(
    title: &str,
    machines: &[Machine],
    rows: &Rows,
    cell: impl Fn(&str, &str, Times) -> Option<String>,
) {
    println!("\n{title}\n");
    let names: Vec<&str> = machines.iter().map(|machine| machine.name.as_str()).collect();
    println!("| query | {} |", names.join(" | "));
    println!("| --- |{}", " ---: |".repeat(names.len()));
    for (query, _) in &rows.0 {
        let cells = names.iter().map(|name| {
            let times = rows.times(query, name);
            times.and_then(|times| cell(query, name, times)).unwrap_or_else(|| "-".to_owned())
        });
        println!("| {query} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
}
