//! Checks the tables other than the tree: the rules of several columns together, and those of
//! order.

use super::allowed;
use super::column_rules::{ANY, IN_PROPORTION, check_rules};
use super::columns::starts;
use super::levels::Counts;
use super::rule::{ensure, fail};
use crate::archive::{
    ArchivedStringsOfObjects, ArchivedTopology, CPUSET_OF_PUS, INDEX_LIMIT, MAX_SET_WORDS, NONE,
    SAME_SET,
};
use crate::column::ArchivedColumn;
use crate::error::ValidationError;
use crate::object_type::ObjectType;

/// Checks all tables. Each column must have been checked by itself before, except for the columns
/// of distance matrices and CPU kinds, which are checked here.
pub(super) fn check(
    topology: &ArchivedTopology,
    counts: &Counts,
    most_rows: usize,
) -> Result<(), ValidationError> {
    sets(topology, counts)?;
    strings(topology)?;
    strings_of_objects(&topology.names, counts, "names.string")?;
    strings_of_objects(&topology.subtypes, counts, "subtypes.string")?;
    needed(topology, counts, most_rows)?;
    let memory = &topology.total_memory.object;
    let rows = memory.len();
    ensure(rows <= counts.objects, "total_memory.object", rows, "has at most a row an object")?;
    ensure(memory.is_sorted(), "total_memory.object", 0, "values ascend")?;
    attribute_rows(topology)?;
    machine(topology, counts)
}

/// Checks the tables on which the work and the memory of queries depend.
pub(super) fn needed(
    topology: &ArchivedTopology,
    counts: &Counts,
    most_rows: usize,
) -> Result<(), ValidationError> {
    let infos = &topology.infos;
    if !infos.name.is_empty() {
        starts(&infos.start, "infos.start", infos.name.len())?;
    }
    let nodes = &topology.numa_nodes;
    starts(&nodes.page_type_start, "numa_nodes.page_type_start", nodes.page_size.len())?;
    facts(topology, counts, most_rows)?;
    distances(topology, counts, most_rows)?;
    memory_attributes(topology, counts)?;
    cpu_kinds(topology, counts, most_rows)?;
    pu_runs(topology, counts)
}

fn facts(
    topology: &ArchivedTopology,
    counts: &Counts,
    most_rows: usize,
) -> Result<(), ValidationError> {
    let tables = topology.facts.as_slice();
    ensure(tables.len() <= 1, "facts", tables.len(), "is one table at most")?;
    let Some(facts) = tables.first() else { return Ok(()) };
    let (rows, strings) = (facts.object.len(), counts.strings as u64);
    let rules = [
        (&facts.object, rows, counts.objects as u64),
        (&facts.name, rows, strings),
        (&facts.value, rows, strings),
    ];
    check_rules(&rules, "facts.object facts.name facts.value", most_rows)?;
    ensure(facts.object.is_sorted(), "facts.object", 0, "values ascend")
}

/// Checks that runs of PUs ascend, and that their PUs exist and have OS indexes below the limit.
fn pu_runs(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    let mut next = 0;
    for (row, run) in topology.pu_runs.iter().enumerate() {
        let [os_first, count, logical_first, step] =
            [run.os_first, run.count, run.logical_first, run.step]
                .map(|n| u64::from(n.to_native()));
        let steps = count.saturating_sub(1).saturating_mul(step);
        let whole = count > 0 && step > 0 && logical_first + steps < counts.pus as u64;
        ensure(whole, "pu_runs", row, "is a run of PUs")?;
        let ascends = os_first >= next && os_first + count <= u64::from(INDEX_LIMIT);
        ensure(ascends, "pu_runs", row, "begins behind the run before it, below 131,072")?;
        next = os_first + count;
    }
    Ok(())
}

fn sets(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    let sets = &topology.sets;
    refers(&sets.cpuset, "sets.cpuset", counts, CPUSET_OF_PUS)?;
    refers(&sets.complete_cpuset, "sets.complete_cpuset", counts, SAME_SET)?;
    refers(&sets.complete_nodeset, "sets.complete_nodeset", counts, SAME_SET)?;
    starts(&sets.start, "sets.start", sets.words.len())?;
    for row in 0..counts.sets {
        let words = sets.first_word.get(row) + sets.start.get(row + 1) - sets.start.get(row);
        ensure(words <= MAX_SET_WORDS as u64, "sets.start", row, "a set has at most 2048 words")?;
    }
    Ok(())
}

/// Checks that every value is a set of the table, or `also`, which stands for another set.
#[inline(never)]
fn refers(
    column: &ArchivedColumn,
    name: &'static str,
    counts: &Counts,
    also: u32,
) -> Result<(), ValidationError> {
    let bad = column.iter().position(|set| set >= counts.sets as u64 && set != u64::from(also));
    bad.map_or(Ok(()), |row| fail(name, row, "is a set of the table"))
}

fn strings(topology: &ArchivedTopology) -> Result<(), ValidationError> {
    let strings = &topology.strings;
    let bytes = strings.bytes.as_slice();
    let Ok(text) = core::str::from_utf8(bytes) else {
        return fail("strings.bytes", 0, "is UTF-8");
    };
    let rows = strings.start.len();
    let ends = rows == 0 || bytes.last() == Some(&0);
    ensure(ends, "strings.bytes", bytes.len(), "ends with a zero, as every string")?;
    let inside = (0..rows).find(|&row| !text.is_char_boundary(strings.start.get_u32(row) as usize));
    inside.map_or(Ok(()), |row| fail("strings.start", row, "a string starts at a character"))
}

fn strings_of_objects(
    table: &ArchivedStringsOfObjects,
    counts: &Counts,
    name: &'static str,
) -> Result<(), ValidationError> {
    let rows = table.string.len();
    let within = (table.first.to_native() as usize) <= counts.objects.saturating_sub(rows);
    ensure(within, name, rows, "has no rows past the last object")
}

/// Checks that the attribute rows of each level's objects exist.
fn attribute_rows(topology: &ArchivedTopology) -> Result<(), ValidationError> {
    let levels = &topology.levels;
    let count = levels.rows.len() - 1;
    for level in 0..count {
        let objects = u64::from(levels.first(level + 1) - levels.first(level));
        let Some(last) = objects.checked_sub(1) else {
            continue;
        };
        let rows = match levels.object_type(level) {
            Some(ObjectType::MemCache) => topology.caches.rows(),
            Some(kind) if kind.is_cache() => topology.caches.rows(),
            Some(ObjectType::NUMANode) => topology.numa_nodes.local_memory.len(),
            Some(ObjectType::Group) => topology.groups.depth.len(),
            Some(ObjectType::Bridge) => topology.bridges.rows(),
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

fn distances(
    topology: &ArchivedTopology,
    counts: &Counts,
    most_rows: usize,
) -> Result<(), ValidationError> {
    let mut all_cells = 0_usize;
    for matrix in topology.distances.iter() {
        let name = matrix.name.to_native();
        let named = name == NONE || (name as usize) < counts.strings;
        ensure(named, "distances.name", 0, "is a string of the table")?;
        let objects = matrix.objects.len();
        ensure(objects <= 1 << 16, "distances.objects", objects, "no more than 65,536 objects")?;
        let cells = objects.saturating_pow(2);
        let rules =
            [(&matrix.objects, objects, counts.objects as u64), (&matrix.values, cells, ANY)];
        check_rules(&rules, "distances.objects distances.values", most_rows)?;
        all_cells = all_cells.saturating_add(cells);
    }
    ensure(all_cells <= most_rows, "distances.values", all_cells, IN_PROPORTION)
}

fn memory_attributes(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    let table = &topology.memory_attributes;
    let rows = table.target.len();
    starts(&table.start, "memory_attributes.start", rows)?;
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

fn cpu_kinds(
    topology: &ArchivedTopology,
    counts: &Counts,
    most_rows: usize,
) -> Result<(), ValidationError> {
    let mut all_infos = 0_usize;
    for kind in topology.cpu_kinds.iter() {
        let cpuset = (kind.cpuset.to_native() as usize) < counts.sets;
        ensure(cpuset, "cpu_kinds.cpuset", 0, "is a set of the table")?;
        let (infos, strings) = (kind.info_name.len(), counts.strings as u64);
        let rules = [(&kind.info_name, infos, strings), (&kind.info_value, infos, strings)];
        check_rules(&rules, "cpu_kinds.info_name cpu_kinds.info_value", most_rows)?;
        all_infos = all_infos.saturating_add(infos);
    }
    ensure(all_infos <= most_rows, "cpu_kinds.info_name", all_infos, IN_PROPORTION)
}

fn machine(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    let machine = &topology.machine;
    ensure(machine.is_this_system.to_native() < 2, "machine.is_this_system", 0, "is 0 or 1")?;
    allowed::check(topology, counts)?;
    let filters = machine.type_filters.len();
    ensure(filters <= 256, "machine.type_filters", filters, "at most 256 types")
}
