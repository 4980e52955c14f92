//! Compares the time and the private bytes of making a view with those of duplicating and
//! restricting in hwloc.

use crate::table::{Rows, print_grid};
use criterion::Criterion;
use std::path::Path;
use topobroker::hwloc::HwlocTopology as Hwloc;
use topobroker_benches::machines::Machine;
use topobroker_benches::queries::{Pair, Sets};
use topobroker_reader::{ObjectType, RestrictFlags, Set, View};
use topobroker_rival::bitmap::Bitmap;
use topobroker_rival::restrict::{Restricted, heap_bytes};

/// The cost of making views.
#[derive(Default)]
pub(crate) struct Made {
    pub(crate) times: Rows,
    /// Name of the machine, name of the part, bytes of our view, bytes of hwloc's duplicate.
    bytes: Vec<(String, &'static str, usize, usize)>,
}

/// Parts of a machine, each with the flags of the restriction that makes it.
fn parts(pair: Pair<'_>) -> [(&'static str, Set, RestrictFlags); 5] {
    let half = pair.contiguous(0, 50).ours;
    let upper = pair.contiguous(50, 100).ours;
    let node = pair.ours.objects_with_type(ObjectType::NUMANode).last();
    let node = node.and_then(|node| node.cpuset()).unwrap_or_default();
    let four = pair.pus().iter().take(4).filter_map(|pu| pu.os_index()).collect();
    let remove = RestrictFlags::REMOVE_CPULESS;
    [
        ("half of the PUs", half.clone(), remove),
        ("half, nodes kept", half, RestrictFlags::NONE),
        ("upper half, nodes kept", upper, RestrictFlags::NONE),
        ("one NUMA node", node, remove),
        ("4 PUs", four, remove),
    ]
}

pub(crate) fn measure(
    criterion: &mut Criterion,
    machines: &[Machine],
    results: &Path,
) -> anyhow::Result<Made> {
    let mut made = Made::default();
    for machine in machines {
        let hwloc = machine.load()?;
        let mut outcome = Ok(());
        Pair::with_both(&hwloc, |pair, _| {
            outcome = measure_parts(criterion, &hwloc, pair, machine, results, &mut made)
        })?;
        outcome?;
    }
    Ok(made)
}

fn measure_parts(
    criterion: &mut Criterion,
    hwloc: &Hwloc<'_>,
    pair: Pair<'_>,
    machine: &Machine,
    results: &Path,
    made: &mut Made,
) -> anyhow::Result<()> {
    for (part, set, flags) in parts(pair) {
        let Sets { ours: set, theirs: bitmap } = Sets::new(set);
        let folder = format!("view {}", machine.name);
        let mut group = criterion.benchmark_group(format!("{folder}/{part}"));
        group.bench_function("topobroker", |bencher| {
            bencher.iter(|| View::new(pair.ours, &set, flags));
        });
        group.bench_function("hwloc", |bencher| {
            bencher.iter(|| Restricted::new(hwloc, &bitmap, flags.bits()));
        });
        group.finish();
        made.times.add(results, &folder, &machine.name, part, 1);
        let ours = View::new(pair.ours, &set, flags)?.bytes();
        let theirs = bytes_of_copy(hwloc, &bitmap, flags)?;
        made.bytes.push((machine.name.clone(), part, ours, theirs));
    }
    Ok(())
}

fn bytes_of_copy(hwloc: &Hwloc<'_>, set: &Bitmap, flags: RestrictFlags) -> anyhow::Result<usize> {
    let before = heap_bytes();
    let copy = Restricted::new(hwloc, set, flags.bits())?;
    let bytes = heap_bytes().saturating_sub(before);
    drop(copy);
    Ok(bytes)
}

/// Prints the private bytes of each view.
pub(crate) fn print_bytes(machines: &[Machine], made: &Made) {
    let title = "Private bytes of a view: hwloc's by ours, and ours";
    let parts = made.bytes.iter().map(|(_, part, ..)| *part);
    print_grid(title, "view", machines, parts, |part, name| {
        let found = made.bytes.iter().find(|(machine, of, ..)| machine == name && *of == part);
        found.map(|(_, _, ours, theirs)| format!("{} ({ours} B)", theirs / ours))
    });
}
