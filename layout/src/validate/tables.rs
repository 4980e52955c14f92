//! Every table beside the tree: rows that belong together have the same count, references exist.

use super::{Counts, ascending, bounded, ensure, fail, sound, starts};
use crate::archive::{
    ArchivedCpuKind, ArchivedDistances, ArchivedStringsOfObjects, ArchivedTopology, CPUSET_OF_PUS,
    MAX_SET_WORDS, NONE, SAME_SET,
};
use crate::column::ArchivedColumn;
use crate::error::ValidationError;
use crate::object_type::ObjectType;
use crate::support;

/// Most rows for each byte of the archive.
const ROWS_A_BYTE: usize = 64;

pub(super) fn check(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    sets(topology, counts)?;
    strings(topology)?;
    strings_of_objects(&topology.names, counts, "names.string")?;
    strings_of_objects(&topology.subtypes, counts, "subtypes.string")?;
    infos(topology, counts)?;
    let memory = &topology.total_memory;
    let rows = memory.object.len();
    ensure(rows <= counts.objects, "total_memory.object", rows, "has at most a row an object")?;
    bounded(&memory.object, "total_memory.object", rows, counts.objects as u64)?;
    ascending(&memory.object, "total_memory.object")?;
    sound(&memory.bytes, "total_memory.bytes", rows)?;
    attributes(topology, counts)?;
    topology.distances.iter().try_for_each(|matrix| distances(matrix, counts))?;
    memory_attributes(topology, counts)?;
    topology.cpu_kinds.iter().try_for_each(|kind| cpu_kind(kind, counts))?;
    pu_runs(topology, counts)?;
    let nodes = &topology.numa_by_os_index;
    bounded(nodes, "numa_by_os_index", nodes.len(), counts.numa_nodes() as u64)?;
    machine(topology, counts)
}

/// Rows that nothing else counts are not many more than the bytes of the archive: columns of equal
/// values take none, and a small archive must not keep a process busy.
pub(super) fn row_counts(
    topology: &ArchivedTopology,
    archive_len: usize,
) -> Result<(), ValidationError> {
    let limit = archive_len.saturating_mul(ROWS_A_BYTE);
    let cells = |matrix: &ArchivedDistances| matrix.objects.len().saturating_pow(2);
    let rows = [
        ("sets.cpuset", topology.sets.cpuset.len()),
        ("sets.first_word", topology.sets.first_word.len()),
        ("sets.words", topology.sets.words.len()),
        ("strings.start", topology.strings.start.len()),
        ("names.string", topology.names.string.len()),
        ("subtypes.string", topology.subtypes.string.len()),
        ("infos.name", topology.infos.name.len()),
        ("caches.size", topology.caches.size.len()),
        ("numa_nodes.local_memory", topology.numa_nodes.local_memory.len()),
        ("numa_nodes.page_size", topology.numa_nodes.page_size.len()),
        ("groups.depth", topology.groups.depth.len()),
        ("pci.domain", topology.pci.domain.len()),
        ("bridges.upstream", topology.bridges.upstream.len()),
        ("os_device_kind", topology.os_device_kind.len()),
        ("memory_attributes.name", topology.memory_attributes.name.len()),
        ("memory_attributes.target", topology.memory_attributes.target.len()),
        ("numa_by_os_index", topology.numa_by_os_index.len()),
        ("cpu_kinds.info_name", topology.cpu_kinds.iter().map(|kind| kind.info_name.len()).sum()),
        ("distances.values", topology.distances.iter().map(cells).fold(0, usize::saturating_add)),
    ];
    let long = rows.into_iter().find(|(_, rows)| *rows > limit);
    long.map_or(Ok(()), |(name, rows)| fail(name, rows, "has rows in proportion to the archive"))
}

/// Runs of PUs ascend and stay in what an archive holds.
fn pu_runs(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    let mut next = 0;
    for (row, run) in topology.pu_runs.iter().enumerate() {
        let [os_first, count, logical_first, step] =
            [run.os_first, run.count, run.logical_first, run.step]
                .map(|n| u64::from(n.to_native()));
        let steps = count.saturating_sub(1).saturating_mul(step);
        let whole = count > 0 && step > 0 && logical_first + steps < counts.pus as u64;
        ensure(whole, "pu_runs", row, "is a run of PUs")?;
        let ascends = os_first >= next && os_first + count <= MAX_SET_WORDS as u64 * 64;
        ensure(ascends, "pu_runs", row, "begins behind the run before it, below 131,072")?;
        next = os_first + count;
    }
    Ok(())
}

fn sets(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    let sets = &topology.sets;
    let rows = sets.cpuset.len();
    let limit = counts.sets as u64;
    let refers = |column: &ArchivedColumn, name, also: u32| {
        sound(column, name, rows)?;
        let bad = column.iter().position(|set| set >= limit && set != u64::from(also));
        bad.map_or(Ok(()), |row| fail(name, row, "is a set of the table"))
    };
    refers(&sets.cpuset, "sets.cpuset", CPUSET_OF_PUS)?;
    refers(&sets.complete_cpuset, "sets.complete_cpuset", SAME_SET)?;
    bounded(&sets.nodeset, "sets.nodeset", rows, limit)?;
    refers(&sets.complete_nodeset, "sets.complete_nodeset", SAME_SET)?;
    bounded(&sets.first_word, "sets.first_word", counts.sets, MAX_SET_WORDS as u64)?;
    bounded(&sets.infinite, "sets.infinite", counts.sets, 2)?;
    sound(&sets.words, "sets.words", sets.words.len())?;
    starts(&sets.start, "sets.start", counts.sets, sets.words.len())?;
    for row in 0..counts.sets {
        let words = sets.first_word.get(row) + sets.start.get(row + 1) - sets.start.get(row);
        ensure(words <= MAX_SET_WORDS as u64, "sets.start", row, "a set has at most 2048 words")?;
    }
    Ok(())
}

fn strings(topology: &ArchivedTopology) -> Result<(), ValidationError> {
    let strings = &topology.strings;
    let bytes = strings.bytes.as_slice();
    let Ok(text) = std::str::from_utf8(bytes) else {
        return fail("strings.bytes", 0, "is UTF-8");
    };
    let rows = strings.start.len();
    let ends = rows == 0 || bytes.last() == Some(&0);
    ensure(ends, "strings.bytes", bytes.len(), "ends with a zero, as every string")?;
    bounded(&strings.start, "strings.start", rows, bytes.len() as u64)?;
    let inside = (0..rows).find(|&row| !text.is_char_boundary(strings.start.get_u32(row) as usize));
    inside.map_or(Ok(()), |row| fail("strings.start", row, "a string starts at a character"))
}

fn strings_of_objects(
    table: &ArchivedStringsOfObjects,
    counts: &Counts,
    name: &'static str,
) -> Result<(), ValidationError> {
    let rows = table.string.len();
    bounded(&table.string, name, rows, counts.strings as u64 + 1)?;
    let within = (table.first.to_native() as usize) <= counts.objects.saturating_sub(rows);
    ensure(within, name, rows, "has no rows past the last object")
}

fn infos(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    let infos = &topology.infos;
    let rows = infos.name.len();
    if rows == 0 {
        bounded(&infos.start, "infos.start", 0, 1)?;
    } else {
        starts(&infos.start, "infos.start", counts.objects, rows)?;
    }
    bounded(&infos.name, "infos.name", rows, counts.strings as u64)?;
    bounded(&infos.value, "infos.value", rows, counts.strings as u64)
}

/// Each level has the attribute rows that its objects are sent to.
fn attributes(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    let caches = &topology.caches;
    let rows = caches.size.len();
    sound(&caches.size, "caches.size", rows)?;
    bounded(&caches.depth, "caches.depth", rows, 1 << 32)?;
    bounded(&caches.linesize, "caches.linesize", rows, 1 << 32)?;
    bounded(&caches.associativity, "caches.associativity", rows, 1 << 32)?;
    bounded(&caches.kind, "caches.kind", rows, 1 << 32)?;

    let nodes = &topology.numa_nodes;
    let rows = nodes.local_memory.len();
    sound(&nodes.local_memory, "numa_nodes.local_memory", rows)?;
    let pages = nodes.page_size.len();
    starts(&nodes.page_type_start, "numa_nodes.page_type_start", rows, pages)?;
    sound(&nodes.page_size, "numa_nodes.page_size", pages)?;
    sound(&nodes.page_count, "numa_nodes.page_count", pages)?;

    let groups = &topology.groups;
    let rows = groups.depth.len();
    bounded(&groups.depth, "groups.depth", rows, 1 << 32)?;
    bounded(&groups.kind, "groups.kind", rows, 1 << 32)?;
    bounded(&groups.subkind, "groups.subkind", rows, 1 << 32)?;
    bounded(&groups.dont_merge, "groups.dont_merge", rows, 2)?;

    let pci = &topology.pci;
    let pci_rows = pci.domain.len();
    bounded(&pci.domain, "pci.domain", pci_rows, 1 << 32)?;
    bounded(&pci.bus, "pci.bus", pci_rows, 1 << 8)?;
    bounded(&pci.dev_func, "pci.dev_func", pci_rows, 1 << 16)?;
    bounded(&pci.class_id, "pci.class_id", pci_rows, 1 << 16)?;
    bounded(&pci.vendor_id, "pci.vendor_id", pci_rows, 1 << 16)?;
    bounded(&pci.device_id, "pci.device_id", pci_rows, 1 << 16)?;
    bounded(&pci.subsystem, "pci.subsystem", pci_rows, 1 << 32)?;
    bounded(&pci.revision, "pci.revision", pci_rows, 1 << 8)?;
    bounded(&pci.linkspeed, "pci.linkspeed", pci_rows, 1 << 32)?;

    let bridges = &topology.bridges;
    let rows = bridges.upstream.len();
    bounded(&bridges.upstream, "bridges.upstream", rows, pci_rows as u64 + 1)?;
    bounded(&bridges.downstream_type, "bridges.downstream_type", rows, 1 << 32)?;
    bounded(&bridges.downstream_domain, "bridges.downstream_domain", rows, 1 << 32)?;
    bounded(&bridges.secondary_bus, "bridges.secondary_bus", rows, 1 << 8)?;
    bounded(&bridges.subordinate_bus, "bridges.subordinate_bus", rows, 1 << 8)?;
    bounded(&bridges.depth, "bridges.depth", rows, 1 << 32)?;
    let kinds = &topology.os_device_kind;
    bounded(kinds, "os_device_kind", kinds.len(), 1 << 32)?;
    attribute_rows(topology, counts)
}

fn attribute_rows(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    let levels = &topology.levels;
    let count = levels.rows.len() - 1;
    bounded(&levels.attribute_first, "levels.attribute_first", count, counts.objects as u64)?;
    bounded(&levels.attribute_stride, "levels.attribute_stride", count, 2)?;
    for level in 0..count {
        let objects = u64::from(levels.first(level + 1) - levels.first(level));
        let Some(last) = objects.checked_sub(1) else {
            continue;
        };
        let rows = match levels.object_type(level) {
            Some(ObjectType::MemCache) => topology.caches.size.len(),
            Some(kind) if kind.is_cache() => topology.caches.size.len(),
            Some(ObjectType::NUMANode) => topology.numa_nodes.local_memory.len(),
            Some(ObjectType::Group) => topology.groups.depth.len(),
            Some(ObjectType::Bridge) => topology.bridges.upstream.len(),
            Some(ObjectType::PCIDevice) => topology.pci.domain.len(),
            Some(ObjectType::OSDevice) => topology.os_device_kind.len(),
            _ => continue,
        };
        let last_row =
            levels.attribute_first.get(level) + levels.attribute_stride.get(level) * last;
        let holds = last_row < rows as u64;
        ensure(holds, "levels.attribute_first", level, "its objects have attribute rows")?;
    }
    Ok(())
}

fn distances(matrix: &ArchivedDistances, counts: &Counts) -> Result<(), ValidationError> {
    let name = matrix.name.to_native();
    let named = name == NONE || (name as usize) < counts.strings;
    ensure(named, "distances.name", 0, "is a string of the table")?;
    let objects = matrix.objects.len();
    ensure(objects <= 1 << 16, "distances.objects", objects, "no more than 65,536 objects")?;
    bounded(&matrix.objects, "distances.objects", objects, counts.objects as u64)?;
    sound(&matrix.values, "distances.values", objects * objects)
}

fn memory_attributes(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    let table = &topology.memory_attributes;
    let attributes = table.name.len();
    let rows = table.target.len();
    bounded(&table.name, "memory_attributes.name", attributes, counts.strings as u64)?;
    sound(&table.flags, "memory_attributes.flags", attributes)?;
    starts(&table.start, "memory_attributes.start", attributes, rows)?;
    bounded(&table.target, "memory_attributes.target", rows, counts.objects as u64)?;
    bounded(&table.initiator_kind, "memory_attributes.initiator_kind", rows, 3)?;
    sound(&table.initiator, "memory_attributes.initiator", rows)?;
    sound(&table.value, "memory_attributes.value", rows)?;
    for row in 0..rows {
        let limit = match table.initiator_kind.get(row) {
            0 => 1,
            1 => counts.sets,
            _ => counts.objects,
        };
        let holds = table.initiator.get(row) < limit as u64;
        ensure(holds, "memory_attributes.initiator", row, "is a set or an object")?;
    }
    Ok(())
}

fn cpu_kind(kind: &ArchivedCpuKind, counts: &Counts) -> Result<(), ValidationError> {
    let infos = kind.info_name.len();
    let cpuset = (kind.cpuset.to_native() as usize) < counts.sets;
    ensure(cpuset, "cpu_kinds.cpuset", 0, "is a set of the table")?;
    bounded(&kind.info_name, "cpu_kinds.info_name", infos, counts.strings as u64)?;
    bounded(&kind.info_value, "cpu_kinds.info_value", infos, counts.strings as u64)
}

fn machine(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    let machine = &topology.machine;
    ensure(machine.is_this_system.to_native() < 2, "machine.is_this_system", 0, "is 0 or 1")?;
    let a_set = |set: u32| (set as usize) < counts.sets;
    let cpuset = a_set(machine.allowed_cpuset.to_native());
    ensure(cpuset, "machine.allowed_cpuset", 0, "is a set of the table")?;
    let nodeset = a_set(machine.allowed_nodeset.to_native());
    ensure(nodeset, "machine.allowed_nodeset", 0, "is a set of the table")?;
    let filters = machine.type_filters.len();
    ensure(filters <= 256, "machine.type_filters", filters, "at most 256 types")?;
    bounded(&machine.type_filters, "machine.type_filters", filters, 256)?;
    bounded(&machine.support, "machine.support", support::NAMES.len(), 256)
}
