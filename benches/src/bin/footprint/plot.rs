//! Plots of memory and time against the number of processes, both axes logarithmic.

use crate::report::{Row, file_name};
use anyhow::Context;
use std::fmt::Write;
use std::path::Path;

pub(crate) fn write(rows: &[Row], folder: &Path) -> anyhow::Result<()> {
    let mut machines: Vec<&str> = rows.iter().map(|row| row.machine.as_str()).collect();
    machines.dedup();
    for machine in machines {
        let own: Vec<&Row> = rows.iter().filter(|row| row.machine == machine).collect();
        let memory = plot(&format!("{machine}: MB a node"), &own, Row::megabytes);
        let time = plot(&format!("{machine}: ms until all are ready"), &own, Row::milliseconds);
        for (what, text) in [("memory", memory), ("time", time)] {
            let file = folder.join(format!("{}-{what}.svg", file_name(machine)));
            std::fs::write(&file, text).with_context(|| file.display().to_string())?;
        }
    }
    Ok(())
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
/// Where the lines are drawn: left, top, right, bottom.
const FRAME: (f64, f64, f64, f64) = (60.0, 40.0, 440.0, 380.0);

const COLOURS: [&str; 10] =
    ["#0a6", "#06c", "#093", "#c30", "#e80", "#a0c", "#777", "#b58", "#444", "#963"];

/// A logarithmic axis over some values, drawn between two coordinates.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        // Zero, and values that noise makes negative, are drawn at the bottom.
        let low = values.clone().filter(|value| *value > 0.0).fold(f64::MAX, f64::min).max(0.01);
        let high = values.fold(low * 1.01, f64::max);
        Self { low: low.log10(), high: high.log10(), from, to }
    }

    fn place(&self, value: f64) -> f64 {
        let part = (value.max(10f64.powf(self.low)).log10() - self.low) / (self.high - self.low);
        self.from + part * (self.to - self.from)
    }

    /// Powers of ten on the axis.
    fn tens(&self) -> impl Iterator<Item = f64> {
        let (first, last) = (self.low.ceil(), self.high.floor());
        std::iter::successors(Some(first), move |ten| Some(ten + 1.0).filter(|next| *next <= last))
            .filter(move |ten| *ten <= last)
            .map(|ten| 10f64.powf(ten))
    }
}

fn plot(title: &str, rows: &[&Row], value: impl Fn(&Row) -> f64) -> String {
    let (left, top, right, bottom) = FRAME;
    let mut counts: Vec<usize> = rows.iter().map(|row| row.processes).collect();
    counts.sort_unstable();
    counts.dedup();
    let across = Axis::new(counts.iter().map(|count| *count as f64), left, right);
    let up = Axis::new(rows.iter().map(|row| value(row)), bottom, top);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{left}\" y=\"22\" font-size=\"15\">{}</text>\n\
         <rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#999\"/>\n",
        escaped(title),
        right - left,
        bottom - top
    );
    // Writing to a string cannot fail.
    for count in &counts {
        let x = across.place(*count as f64);
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{count}</text>",
            bottom + 16.0
        );
    }
    for ten in up.tens() {
        let y = up.place(ten);
        let _ = writeln!(
            svg,
            "<line x1=\"{left}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>"
        );
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{ten}</text>",
            left - 6.0,
            y + 4.0
        );
    }
    let mut ways: Vec<&Row> = Vec::new();
    for row in rows {
        if ways.iter().all(|other| other.way != row.way) {
            ways.push(row);
        }
    }
    for ((row, colour), line) in ways.iter().zip(COLOURS.iter().cycle()).zip(0u16..) {
        let points = rows.iter().filter(|other| other.way == row.way).map(|point| {
            format!("{:.1},{:.1}", across.place(point.processes as f64), up.place(value(point)))
        });
        let points: Vec<String> = points.collect();
        let width = if row.is_ours { 3 } else { 1 };
        let (y, name) = (top + 14.0 + 20.0 * f64::from(line), escaped(row.way));
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>\n\
             <line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>\n\
             <text x=\"{}\" y=\"{y}\">{name}</text>",
            points.join(" "),
            right + 14.0,
            y - 4.0,
            right + 38.0,
            y - 4.0,
            right + 44.0,
        );
    }
    svg + "</svg>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
