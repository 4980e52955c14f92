//! Checks each column by itself: how it is packed, how many values it has, and how large they are.

use super::column_rules::{ANY, check_rules};
use super::levels::Counts;
use super::rule::broken;
use crate::archive::{ArchivedTopology, MAX_SET_WORDS};
use crate::column::ArchivedColumn;
use crate::error::ValidationError;
use crate::support;

/// The limit of a column of 32-bit values.
const WORD: u64 = 1 << 32;

/// Checks columns of a topology by rules, one on each line.
///
/// The rules are data for one loop because every process that adopts a segment runs this once, and
/// the cost of code that runs once grows with its size. The rules are in several functions that are
/// not inlined because that keeps stack frames small: a page of stack that only the rules need
/// would be private to each process.
macro_rules! check_columns {
    ($topology:ident, $most_rows:ident;
     $($table:ident $(.$column:ident)?: $rows:expr, $limit:expr;)*) => {
        check_rules(
            &[$((&$topology.$table$(.$column)?, $rows, $limit)),*],
            concat!($(stringify!($table), $(".", stringify!($column),)? " "),*),
            $most_rows,
        )
    };
}

pub(super) fn check(
    topology: &ArchivedTopology,
    counts: &Counts,
    most_rows: usize,
) -> Result<(), ValidationError> {
    objects(topology, counts, most_rows)?;
    rows(topology, counts, most_rows)?;
    texts(topology, counts, most_rows)?;
    attributes(topology, counts, most_rows)?;
    devices(topology, most_rows)?;
    machine(topology, counts, most_rows)
}

/// Checks the columns on which the work and the memory of queries depend: how long those are that
/// are read one row after the other, or of which sets are made, and [`rows`].
#[inline(never)]
pub(super) fn needed(
    topology: &ArchivedTopology,
    counts: &Counts,
    most_rows: usize,
) -> Result<(), ValidationError> {
    let infos = topology.infos.name.len();
    check_columns! { topology, most_rows;
        objects.os_index: counts.objects, ANY;
        sets.complete_cpuset: topology.sets.complete_cpuset.len(), ANY;
        names.string: topology.names.string.len(), ANY;
        subtypes.string: topology.subtypes.string.len(), ANY;
        infos.name: infos, ANY;
        infos.value: infos, ANY;
        total_memory.object: topology.total_memory.object.len(), ANY;
        memory_attributes.name: topology.memory_attributes.name.len(), ANY;
    }?;
    rows(topology, counts, most_rows)
}

/// Checks where the rows of objects and attributes begin, and which objects memory attributes are
/// of.
#[inline(never)]
fn rows(
    topology: &ArchivedTopology,
    counts: &Counts,
    most_rows: usize,
) -> Result<(), ValidationError> {
    let infos = topology.infos.name.len();
    let nodes = topology.numa_nodes.local_memory.len();
    let attributes = topology.memory_attributes.name.len();
    let values = topology.memory_attributes.target.len();
    check_columns! { topology, most_rows;
        infos.start: if infos == 0 { 0 } else { counts.objects + 1 }, ANY;
        numa_nodes.page_type_start: nodes + 1, ANY;
        numa_nodes.page_size: topology.numa_nodes.page_size.len(), ANY;
        memory_attributes.start: attributes + 1, ANY;
        memory_attributes.target: values, counts.objects as u64;
        memory_attributes.initiator_kind: values, 3;
        memory_attributes.initiator: values, ANY;
    }
}

#[inline(never)]
fn objects(
    topology: &ArchivedTopology,
    counts: &Counts,
    most_rows: usize,
) -> Result<(), ValidationError> {
    let levels = topology.levels.rows.len() - 1;
    let set_rows = topology.sets.cpuset.len();
    check_columns! { topology, most_rows;
        objects.os_index: counts.objects, WORD + 2;
        objects.gp_index: counts.objects, ANY;
        objects.sets: counts.with_pus(), set_rows as u64 + 1;
        objects.symmetric: counts.normal_objects, 2;
        levels.attribute_first: levels, counts.objects as u64;
        levels.attribute_stride: levels, 2;
        sets.cpuset: set_rows, WORD;
        sets.complete_cpuset: set_rows, WORD;
        sets.nodeset: set_rows, counts.sets as u64;
        sets.complete_nodeset: set_rows, WORD;
        sets.first_word: counts.sets, MAX_SET_WORDS as u64;
        sets.infinite: counts.sets, 2;
        sets.start: counts.sets + 1, ANY;
        sets.words: topology.sets.words.len(), ANY;
    }
}

#[inline(never)]
fn texts(
    topology: &ArchivedTopology,
    counts: &Counts,
    most_rows: usize,
) -> Result<(), ValidationError> {
    let strings = counts.strings as u64;
    let infos = topology.infos.name.len();
    check_columns! { topology, most_rows;
        strings.start: counts.strings, topology.strings.bytes.len() as u64;
        names.string: topology.names.string.len(), strings + 1;
        subtypes.string: topology.subtypes.string.len(), strings + 1;
        infos.name: infos, strings;
        infos.value: infos, strings;
    }
}

#[inline(never)]
fn attributes(
    topology: &ArchivedTopology,
    counts: &Counts,
    most_rows: usize,
) -> Result<(), ValidationError> {
    let memory = topology.total_memory.object.len();
    let nodes = topology.numa_nodes.local_memory.len();
    let pages = topology.numa_nodes.page_size.len();
    check_columns! { topology, most_rows;
        total_memory.object: memory, counts.objects as u64;
        total_memory.bytes: memory, ANY;
        numa_nodes.local_memory: nodes, ANY;
        numa_nodes.page_count: pages, ANY;
        numa_by_os_index: topology.numa_by_os_index.len(), counts.numa_nodes() as u64;
    }?;
    topology.caches.check(most_rows)?;
    topology.groups.check(most_rows)
}

#[inline(never)]
fn devices(topology: &ArchivedTopology, most_rows: usize) -> Result<(), ValidationError> {
    let pci = topology.pci.rows();
    check_columns! { topology, most_rows;
        bridge_upstream: topology.bridges.rows(), pci as u64 + 1;
        os_device_kind: topology.os_device_kind.len(), WORD;
    }?;
    topology.bridges.check(most_rows)?;
    topology.pci.check(most_rows)
}

#[inline(never)]
fn machine(
    topology: &ArchivedTopology,
    counts: &Counts,
    most_rows: usize,
) -> Result<(), ValidationError> {
    let attributes = topology.memory_attributes.name.len();
    let values = topology.memory_attributes.target.len();
    check_columns! { topology, most_rows;
        memory_attributes.name: attributes, counts.strings as u64;
        memory_attributes.flags: attributes, ANY;
        memory_attributes.value: values, ANY;
        machine.type_filters: topology.machine.type_filters.len(), 256;
        machine.support: support::COUNT, 256;
    }
}

/// Checks a column of starts. Each row of a table has a run of values, and the runs follow each
/// other, so the starts ascend from 0 to `total`.
pub(crate) fn starts(
    column: &ArchivedColumn,
    name: &'static str,
    total: usize,
) -> Result<(), ValidationError> {
    let last = column.len().saturating_sub(1);
    let holds = column.get(0) == 0 && column.get(last) == total as u64 && column.is_sorted();
    if holds {
        Ok(())
    } else {
        Err(broken(name, 0, "values ascend from 0 to the end of their run"))
    }
}
