//! The objects form one tree in levels, and every normal object covers a run of PUs.

use super::{Counts, ascending, bounded, ensure, sound, starts};
use crate::archive::{ArchivedObjects, ArchivedTopology};
use crate::error::ValidationError;

pub(super) fn check(topology: &ArchivedTopology, counts: &Counts) -> Result<(), ValidationError> {
    let objects = &topology.objects;
    let count = counts.objects;
    let limit = count as u64;
    let levels = u64::from(topology.levels.normal.to_native());
    bounded(&objects.level, "objects.level", counts.normal_objects, levels)?;
    bounded(&objects.parent, "objects.parent", count, limit)?;
    bounded(&objects.children, "objects.children", count - 1, limit)?;
    bounded(&objects.sibling_rank, "objects.sibling_rank", count, limit)?;
    bounded(&objects.os_index, "objects.os_index", count, (1 << 32) + 2)?;
    sound(&objects.gp_index, "objects.gp_index", count)?;
    let normal = counts.normal_objects;
    let [_, _, with_sets, ..] = counts.special;
    bounded(&objects.sets, "objects.sets", with_sets, topology.sets.cpuset.len() as u64 + 1)?;
    bounded(&objects.pu_first, "objects.pu_first", normal, counts.pus as u64 + 1)?;
    bounded(&objects.pu_count, "objects.pu_count", normal, counts.pus as u64 + 1)?;
    bounded(&objects.symmetric, "objects.symmetric", normal, 2)?;
    starts(&objects.child_start, "objects.child_start", count, count - 1)?;
    level_of_each(topology)?;
    parents(objects, counts)?;
    children(objects, counts)?;
    pus(objects, counts, topology.levels.first.get_u32(counts.pu_level) as usize)
}

fn level_of_each(topology: &ArchivedTopology) -> Result<(), ValidationError> {
    let (levels, objects) = (&topology.levels, &topology.objects);
    ascending(&objects.level, "objects.level")?;
    for level in 0..levels.normal.to_native() as usize {
        let (first, end) = (levels.first.get_u32(level), levels.first.get_u32(level + 1));
        let at = |id: u32| objects.level.get(id as usize) == level as u64;
        let holds = at(first) && at(end - 1);
        ensure(holds, "objects.level", first as usize, "agrees with levels.first")?;
    }
    Ok(())
}

/// Parents come before their children, save memory-side caches before NUMA nodes; so nothing is
/// above itself.
fn parents(objects: &ArchivedObjects, counts: &Counts) -> Result<(), ValidationError> {
    let [_, mem_cache, bridge, _, _, misc, _] = counts.special;
    ensure(objects.parent.get(0) == 0, "objects.parent", 0, "the root is its own parent")?;
    for id in 1..counts.objects {
        let parent = objects.parent.get_u32(id) as usize;
        let normal = parent < counts.normal_objects;
        let fits = if id < counts.normal_objects {
            parent < id
        } else if id < mem_cache {
            normal || (mem_cache..bridge).contains(&parent)
        } else if id < bridge {
            normal || (mem_cache..id).contains(&parent)
        } else if id < misc {
            normal || (bridge..id).contains(&parent)
        } else {
            parent < id
        };
        ensure(fits, "objects.parent", id, "is above its child and may have such children")?;
    }
    Ok(())
}

/// Child lists and parents tell the same; each list has its kinds in order.
fn children(objects: &ArchivedObjects, counts: &Counts) -> Result<(), ValidationError> {
    let [numa, _, bridge, _, _, misc, _] = counts.special;
    let kind_of = |id: usize| {
        usize::from(id >= numa) + usize::from(id >= bridge) + usize::from(id >= misc)
    };
    let mut start = 0;
    for parent in 0..counts.objects {
        let end = objects.child_start.get_u32(parent + 1) as usize;
        let (mut kind, mut rank) = (0, 0);
        for slot in start..end {
            let child = objects.children.get_u32(slot) as usize;
            let child_kind = kind_of(child);
            if child_kind != kind {
                ensure(child_kind > kind, "objects.children", slot, "kinds are in order")?;
                (kind, rank) = (child_kind, 0);
            }
            let mutual = child != 0
                && objects.parent.get_u32(child) as usize == parent
                && objects.sibling_rank.get_u32(child) == rank;
            ensure(mutual, "objects.children", slot, "child knows its parent and rank")?;
            rank += 1;
        }
        start = end;
    }
    Ok(())
}

/// A PU covers itself, every other normal object the runs of its children one after the other.
fn pus(
    objects: &ArchivedObjects,
    counts: &Counts,
    first_pu: usize,
) -> Result<(), ValidationError> {
    let run = |id: usize| (objects.pu_first.get_u32(id), objects.pu_count.get_u32(id));
    let pus = u32::try_from(counts.pus).unwrap_or(u32::MAX);
    ensure(run(0) == (0, pus), "objects.pu_first", 0, "the root covers all PUs")?;
    for id in 0..counts.normal_objects {
        let (first, count) = run(id);
        if let Some(pu) = id.checked_sub(first_pu).filter(|pu| *pu < counts.pus) {
            let itself = first as usize == pu && count == 1;
            ensure(itself, "objects.pu_first", id, "a PU covers itself")?;
        }
        let slots = objects.child_start.get_u32(id)..objects.child_start.get_u32(id + 1);
        let mut next = first;
        let mut has_children = false;
        for slot in slots {
            let child = objects.children.get_u32(slot as usize) as usize;
            if child >= counts.normal_objects {
                break;
            }
            has_children = true;
            ensure(run(child).0 == next, "objects.pu_first", child, "runs follow each other")?;
            next += run(child).1;
        }
        let whole = !has_children || next == first + count;
        ensure(whole, "objects.pu_count", id, "is the sum of its children")?;
    }
    Ok(())
}
