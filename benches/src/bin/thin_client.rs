//! A process that links no hwloc: `nothing`, `floor FILE` or `adopt` (keys in the environment).
#![deny(unsafe_code)]

use anyhow::{Context, bail};
use std::time::Instant;
use topobroker_benches::clients::ready;
use topobroker_reader::ObjectType;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let start = Instant::now();
    let pus = match words.as_slice() {
        ["nothing"] => 0,
        ["floor", file] => floor(file)?,
        ["adopt"] => {
            let adopted = topobroker_reader::adopt()?;
            let time = start.elapsed();
            let pus = adopted.topology().objects_with_type(ObjectType::PU).count();
            return ready(time, pus);
        }
        _ => bail!("usage: thin_client nothing | floor FILE | adopt"),
    };
    ready(start.elapsed(), pus)
}

/// What no reader can do without: open, fstat, mmap, close, touch every page.
#[allow(unsafe_code, reason = "mapping a file")]
fn floor(file: &str) -> anyhow::Result<usize> {
    let opened = std::fs::File::open(file).context("open")?;
    let length = usize::try_from(opened.metadata()?.len())?;
    // SAFETY: the benchmark's own file, which nothing changes.
    let map = unsafe { memmap2::MmapOptions::new().len(length).map(&opened)? };
    drop(opened);
    let touched = map.iter().step_by(4096).fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    std::mem::forget(map);
    Ok(usize::from(std::hint::black_box(touched)))
}
