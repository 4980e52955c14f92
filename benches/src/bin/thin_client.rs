//! A client that does not link hwloc. Its commands are:
//!
//! * `nothing`: gets no topology;
//! * `floor FILE ADDRESS SIZE`: does only what every reader must do;
//! * `adopt`, with keys in the environment, or `adopt FILE ADDRESS SIZE`;
//! * `half`: adopts, and makes a view of the first half of the PUs.
#![deny(unsafe_code)]

use anyhow::{Context, bail};
use rustix::mm::{MapFlags, ProtFlags};
use std::time::Instant;
use topobroker_benches::clients::{begin_heap_anywhere, ready};
use topobroker_reader::{Keys, ObjectType, RestrictFlags, View, adopt, adopt_keys};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    begin_heap_anywhere();
    let keys = match words.as_slice() {
        [_, file, address, size] => Some(Keys::parse(file, address, size)?),
        _ => None,
    };
    let start = Instant::now();
    let pus = match words.as_slice() {
        ["nothing"] => 0,
        ["floor", ..] => floor(&keys.context("floor of what?")?)?,
        ["adopt", ..] => {
            let adopted = keys.map_or_else(adopt, adopt_keys)?;
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
        _ => bail!(
            "usage: thin_client nothing | floor FILE ADDRESS SIZE | adopt [FILE ADDRESS SIZE] | half"
        ),
    };
    ready(start.elapsed(), pus)
}

/// Does only what every reader must do: open, fstat, mmap at the wanted address, close, touch every
/// page.
#[allow(unsafe_code, reason = "mapping a file")]
fn floor(keys: &Keys) -> anyhow::Result<usize> {
    let opened = std::fs::File::open(keys.file().context("a file")?).context("open")?;
    let length = usize::try_from(opened.metadata()?.len())?;
    let address = usize::try_from(keys.address())?;
    let fixed = if address == 0 { MapFlags::empty() } else { MapFlags::FIXED_NOREPLACE };
    let wanted = std::ptr::without_provenance_mut(address);
    // SAFETY: the mapping replaces no other one, because the address is either only a hint or has
    // FIXED_NOREPLACE.
    let map = unsafe {
        rustix::mm::mmap(wanted, length, ProtFlags::READ, MapFlags::SHARED | fixed, &opened, 0)?
    };
    drop(opened);
    // SAFETY: `map` is a mapping of `length` bytes that lives as long as the process. Nothing
    // changes the file, which belongs to the benchmark.
    let bytes = unsafe { std::slice::from_raw_parts(map.cast::<u8>(), length) };
    let touched = bytes.iter().step_by(4096).fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    Ok(usize::from(std::hint::black_box(touched)))
}
