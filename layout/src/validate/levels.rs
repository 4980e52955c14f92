//! Checks the rules of levels, and finds the counts that all other rules need.

use super::rule::ensure;
use crate::archive::{ArchivedTopology, MAX_DEPTH};
use crate::error::ValidationError;
use crate::levels::depths_of_types;
use crate::object_type::ObjectType;

/// Number of special levels.
const SPECIAL_LEVELS: usize = ObjectType::SPECIAL.len();

/// Maximum number of objects of an archive. It is so low that every sum of numbers fits in 32 bits.
const MAX_OBJECTS: usize = (1 << 28) - 1;

/// Numbers of objects, PUs, sets and strings: limits for the columns that refer to them.
pub(super) struct Counts {
    pub(super) objects: usize,
    pub(super) normal_objects: usize,
    /// First object of each special level, then the number of objects.
    pub(super) special: [usize; SPECIAL_LEVELS + 1],
    pub(super) pus: usize,
    pub(super) sets: usize,
    pub(super) strings: usize,
}

impl Counts {
    /// Number of normal and memory objects. These have PUs and sets, and the lowest numbers.
    pub(super) fn with_pus(&self) -> usize {
        let [_, _, bridges, ..] = self.special;
        bridges
    }

    pub(super) fn numa_nodes(&self) -> usize {
        let [numa, after, ..] = self.special;
        after - numa
    }
}

/// Checks that levels are contiguous ranges of objects, each of one type that may be there.
pub(super) fn check(topology: &ArchivedTopology) -> Result<Counts, ValidationError> {
    let levels = &topology.levels;
    let normal = levels.normal.to_native() as usize;
    let objects = topology.tree.len();
    ensure(normal > 0, "levels.normal", 0, "there is a root")?;
    ensure(objects <= MAX_OBJECTS, "tree.objects", objects, "fewer objects than 2^28")?;
    ensure(normal <= objects, "levels.normal", normal, "no more levels than objects")?;
    ensure(normal <= MAX_DEPTH, "levels.normal", normal, "at most 128 levels")?;
    let count = normal + SPECIAL_LEVELS;
    let rows = levels.rows.len();
    ensure(rows == count + 1, "levels.rows", rows, "has a row for each level, and the end")?;
    let first = |level: usize| levels.first(level) as usize;
    ensure(first(0) == 0 && first(count) == objects, "levels.rows", count, "from 0 to the end")?;
    let ascends = (0..count).find(|level| first(*level) > first(level + 1));
    ensure(ascends.is_none(), "levels.rows", ascends.unwrap_or(0), "levels ascend")?;
    let deepest = levels.common.iter().max();
    let known = deepest.is_none_or(|level| usize::from(*level) <= normal);
    ensure(known, "levels.common", 0, "names depths that there are")?;
    let types = levels.normal_rows().iter().map(|row| row.raw_type());
    let agrees = levels.depth_of_type == depths_of_types(types);
    ensure(agrees, "levels.depth_of_type", 0, "agrees with the levels")?;

    for level in 0..normal {
        let kind = levels.object_type(level);
        let is_normal = kind.is_some_and(ObjectType::is_normal);
        ensure(is_normal, "levels.rows", level, "a normal depth has a normal type")?;
        ensure(first(level) < first(level + 1), "levels.rows", level, "a depth has objects")?;
        let fits = kind != Some(ObjectType::PU) || level + 1 == normal;
        ensure(fits, "levels.rows", level, "PUs are at the lowest normal depth")?;
    }
    ensure(first(1) == 1, "levels.rows", 1, "one root")?;
    for (level, special) in (normal..count).zip(ObjectType::SPECIAL) {
        let fits = levels.object_type(level) == Some(special);
        ensure(fits, "levels.rows", level, "special levels are in their order")?;
        let regular = levels.row(level).is_none_or(|row| row.pus() == 0);
        ensure(regular, "levels.rows", level, "only normal depths are regular")?;
    }
    let mut special = [0; SPECIAL_LEVELS + 1];
    for (slot, level) in special.iter_mut().zip(normal..=count) {
        *slot = first(level);
    }
    let pus = pu_count(topology, normal - 1);
    regular_levels(topology, pus)?;
    Ok(Counts {
        objects,
        normal_objects: first(normal),
        special,
        pus,
        sets: topology.sets.first_word.len(),
        strings: topology.strings.start.len(),
    })
}

/// Checks that the objects of each regular level together have all PUs, and that an object of one
/// has whole objects of the next one.
fn regular_levels(topology: &ArchivedTopology, pus: usize) -> Result<(), ValidationError> {
    let levels = &topology.levels;
    let mut above = 0;
    for level in 0..levels.normal.to_native() as usize {
        let objects = u64::from(levels.first(level + 1) - levels.first(level));
        let each = levels.row(level).map_or(0, |row| u64::from(row.pus()));
        let holds = each == 0 || each * objects == pus as u64;
        ensure(holds, "levels.rows", level, "regular levels have all PUs")?;
        if each != 0 {
            let rule = "an object of a regular level has whole objects of the next one";
            ensure(above % each == 0, "levels.rows", level, rule)?;
            above = each;
        }
    }
    Ok(())
}

fn pu_count(topology: &ArchivedTopology, level: usize) -> usize {
    let first = |level| topology.levels.first(level) as usize;
    match topology.levels.object_type(level) {
        Some(ObjectType::PU) => first(level + 1) - first(level),
        _ => 0,
    }
}
