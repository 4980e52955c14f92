//! What a process pays that loads the topology by hwloc itself.

use std::time::Instant;
use topobroker::hwloc::{Input, LoadOptions, load};

/// The price of loading this machine by hwloc.
pub(super) struct Price {
    pub(super) milliseconds: f64,
    /// Memory of this process alone that it took; 0 if it is unknown.
    pub(super) kilobytes: u64,
}

/// Loads this machine, and measures.
pub(super) fn price() -> anyhow::Result<Price> {
    let before = private_kilobytes();
    let start = Instant::now();
    let loaded = load(&Input::ThisMachine, &LoadOptions::default())?;
    let milliseconds = start.elapsed().as_secs_f64() * 1000.0;
    let kilobytes =
        private_kilobytes().zip(before).map(|(after, before)| after.saturating_sub(before));
    drop(loaded);
    Ok(Price { milliseconds, kilobytes: kilobytes.unwrap_or(0) })
}

/// Memory that only this process has, in kilobytes.
fn private_kilobytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    let values = text.lines().filter(|line| line.starts_with("Private_"));
    Some(values.filter_map(|line| line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()).sum())
}
