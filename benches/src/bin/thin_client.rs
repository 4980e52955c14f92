//! A process that links no hwloc: `nothing`, `floor FILE`, `adopt` (keys in the environment, or handed over:
//! `adopt FILE ADDRESS SIZE`), or `half`: a view of the first half of the PUs.
#![deny(unsafe_code)]

use anyhow::{Context, bail};
use std::time::Instant;
use topobroker_benches::clients::{begin_heap_anywhere, ready};
use topobroker_reader::{Keys, ObjectType, RestrictFlags, View, adopt, adopt_keys};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    begin_heap_anywhere();
    let keys = match words.as_slice() {
        ["adopt", file, address, size] => Some(Keys::parse(file, address, size)?),
        _ => None,
    };
    let start = Instant::now();
    let pus = match words.as_slice() {
        ["nothing"] => 0,
        ["floor", file] => floor(file)?,
        ["adopt", ..] => {
            let adopted = keys.map_or_else(adopt, |keys| adopt_keys(&keys))?;
            let time = start.elapsed();
            let pus = adopted.topology().objects_with_type(ObjectType::PU).count();
            return ready(time, pus);
        }
        ["half"] => {
            let topology = adopt()?.topology();
            let pus = topology.objects_with_type(ObjectType::PU).count();
            let half = (0..u32::try_from(pus / 2)?).collect();
            let view = View::new(topology, &half, RestrictFlags::REMOVE_CPULESS)?;
            let time = start.elapsed();
            let pus = view.topology().objects_with_type(ObjectType::PU).count();
            let ended = ready(time, pus);
            drop(view);
            return ended;
        }
        _ => bail!("usage: thin_client nothing | floor FILE | adopt [FILE ADDRESS SIZE] | half"),
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
