//! Checks the rules of an overlay.

use super::{ArchivedOverlay, NOT_CONTIGUOUS, SEVERAL};
use crate::archive::{ArchivedTopology, MAX_DEPTH, MAX_SET_WORDS};
use crate::error::ValidationError;
use crate::levels::{ArchivedLevel, depths_of_types};
use crate::object_type::ObjectType;
use crate::validate::ensure;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// Checks an overlay of a topology. A query through an overlay that passes never leaves the
/// topology.
///
/// # Errors
///
/// [`ValidationError`] for the first rule that is broken.
pub fn validate(
    overlay: &ArchivedOverlay,
    topology: &ArchivedTopology,
) -> Result<(), ValidationError> {
    let base = &topology.levels;
    let levels = &overlay.levels;
    let rows = levels.rows.as_slice();
    let special = base.rows.len() - base.normal.to_native() as usize;
    let normal = levels.normal.to_native() as usize;
    let objects = base.first(base.rows.len() - 1);
    ensure(
        (1..=MAX_DEPTH).contains(&normal)
            && rows.len() == normal + special
            && overlay.base_level.len() == rows.len(),
        "overlay.levels",
        0,
        "has its depths, the special types and an end, each with its level of the topology",
    )?;
    let ascends = rows.windows(2).all(|pair| match pair {
        [one, next] => one.first.to_native() <= next.first.to_native(),
        _ => true,
    });
    ensure(
        ascends && levels.first(0) == 0 && levels.first(1) == 1,
        "overlay.levels.first",
        0,
        "ascends from one root",
    )?;
    let types = || levels.normal_rows().iter().map(|row| row.raw_type());
    ensure(
        levels.depth_of_type == depths_of_types(types()),
        "overlay.levels.depth_of_type",
        0,
        "agrees with the levels",
    )?;
    let is_normal = |raw: u64| ObjectType::from_raw(raw).is_some_and(ObjectType::is_normal);
    let is_special =
        |(row, kind): (&ArchivedLevel, ObjectType)| row.raw_type() == u64::from(kind.raw());
    let special_rows = rows.get(normal..).unwrap_or_default();
    ensure(
        types().all(is_normal)
            && rows.split_last().is_some_and(|(_, rows)| rows.iter().all(|row| row.pus() == 0))
            && (0..normal).all(|level| levels.first(level) < levels.first(level + 1))
            && special_rows.iter().zip(ObjectType::SPECIAL).all(is_special),
        "overlay.levels.kind",
        0,
        "has objects of a normal type at each depth, then the special types",
    )?;
    let base_rows = base.rows.len();
    ensure(
        overlay.base_level.iter().all(|level| *level == SEVERAL || usize::from(*level) < base_rows),
        "overlay.base_level",
        0,
        "is a level of the topology",
    )?;
    let words = overlay.visible.as_slice();
    let counted = overlay.before.iter().zip(words).try_fold(0u32, |count, (before, word)| {
        (before.to_native() == count).then(|| count + word.to_native().count_ones())
    });
    let last = words.last().map_or(0, |word| 64 - word.to_native().leading_zeros());
    let end = (words.len().saturating_sub(1) * 64) as u64 + u64::from(last);
    ensure(
        counted == Some(overlay.len())
            && overlay.before.len() == words.len()
            && words.len() == (objects as usize).div_ceil(64)
            && end <= u64::from(objects)
            && overlay.is_visible(0),
        "overlay.visible",
        0,
        "shows the root and as many objects as its levels say, and counts them before each word",
    )?;
    ensure(
        overlay.cpus.words.len() <= MAX_SET_WORDS && overlay.nodes.words.len() <= MAX_SET_WORDS,
        "overlay.cpus",
        0,
        "has no more words than a set may have",
    )?;
    let is_contiguous = |(level, first): (usize, u32)| {
        let (start, end) = (levels.first(level), levels.first(level + 1));
        let ids = [start, end.wrapping_sub(1)].map(|ordinal| overlay.object_at(ordinal));
        first == NOT_CONTIGUOUS
            || (start < end
                && !overlay.has_moved()
                && ids == [Some(first), first.checked_add(end - 1 - start)])
    };
    let contiguous = (0..).zip(overlay.contiguous.iter().map(|first| first.to_native()));
    ensure(
        overlay.contiguous.len() + 1 == rows.len() && contiguous.clone().all(is_contiguous),
        "overlay.contiguous",
        0,
        "is the first object of a level whose objects follow each other",
    )?;
    validate_left(overlay, topology)?;
    match overlay.has_moved() {
        true => validate_moved(overlay, topology),
        false => validate_in_order(overlay, topology),
    }
}

/// Checks that a PU or a NUMA node is visible if, and only if, its OS index is in `cpus` or
/// `nodes`.
fn validate_left(
    overlay: &ArchivedOverlay,
    topology: &ArchivedTopology,
) -> Result<(), ValidationError> {
    let levels = &topology.levels;
    let normal = levels.normal.to_native() as usize;
    let kinds = [
        ("overlay.cpus", &overlay.cpus, normal - 1, ObjectType::PU),
        ("overlay.nodes", &overlay.nodes, normal, ObjectType::NUMANode),
    ];
    for (column, left, level, kind) in kinds {
        if levels.object_type(level) != Some(kind) {
            continue;
        }
        for id in levels.first(level)..levels.first(level + 1) {
            // The archive has the OS index plus two. 0 means none, and 1 a PCI bus id, which no PU
            // or NUMA node has.
            let index = topology.objects.os_index.get(id as usize).checked_sub(2);
            let holds = index.is_none_or(|index| left.has(index) == overlay.is_visible(id));
            ensure(
                holds,
                column,
                id as usize,
                "must be visible exactly if its OS index is in this set",
            )?;
        }
    }
    Ok(())
}

/// Checks an overlay in which no object has moved: each level has objects of one level of the
/// topology.
fn validate_in_order(
    overlay: &ArchivedOverlay,
    topology: &ArchivedTopology,
) -> Result<(), ValidationError> {
    let base = &topology.levels;
    let tree = topology.tree.rows();
    let mut next = overlay.next_visible(0);
    while let Some(id) = next {
        if !overlay.is_visible(tree.parent(id)) {
            let rule = "shows what is above each object";
            return Err(ValidationError { column: "overlay.visible", row: id as usize, rule });
        }
        next = overlay.next_visible(id + 1);
    }
    let levels = &overlay.levels;
    let broken = |row, rule| ValidationError { column: "overlay.base_level", row, rule };
    let mut last = None;
    for level in 0..levels.rows.len() - 1 {
        let of = overlay.base_level.get(level).map_or(0, |level| usize::from(*level));
        let fits = base.row(of).is_some_and(|row| {
            of + 1 < base.rows.len()
                && row.raw_type() == levels.row(level).map_or(0, |row| row.raw_type())
        });
        if !fits || last.is_some_and(|last| of <= last) {
            return Err(broken(level, "is a level of the same type, below the one before"));
        }
        let (first, end) = (base.first(of), base.first(of + 1));
        let ordinals = levels.first(level)..levels.first(level + 1);
        if overlay.visible_before(first) != ordinals.start
            || overlay.visible_before(end) != ordinals.end
        {
            return Err(broken(level, "shows as many objects as the level of the view has"));
        }
        last = Some(of);
    }
    Ok(())
}

/// Checks an overlay in which objects have moved: their order, parents and child lists.
fn validate_moved(
    overlay: &ArchivedOverlay,
    topology: &ArchivedTopology,
) -> Result<(), ValidationError> {
    let moved = &overlay.moved;
    let count = overlay.len() as usize;
    let columns =
        [&moved.order, &moved.ordinal, &moved.parent, &moved.child_start, &moved.children];
    let objects = u64::from(topology.levels.first(topology.levels.rows.len() - 1));
    ensure(
        columns.iter().all(|column| column.is_sound() && column.is_below(objects + 1)),
        "overlay.moved",
        0,
        "is packed soundly and has numbers of objects",
    )?;
    ensure(
        moved.order.len() == count
            && moved.ordinal.len() == count
            && moved.parent.len() == count
            && moved.child_start.len() == count + 1
            && moved.children.len() + 1 == count,
        "overlay.moved",
        0,
        "has a row for each object that is visible",
    )?;
    // The ordinal of a visible object, `None` for any other number.
    let ordinal_of = |id: u64| {
        let id = u32::try_from(id).ok().filter(|id| overlay.is_visible(*id))?;
        usize::try_from(overlay.ordinal_of(id)).ok()
    };
    for ordinal in 0..count {
        ensure(
            ordinal_of(moved.order.get(ordinal)) == Some(ordinal),
            "overlay.moved.order",
            ordinal,
            "is an object that is visible, and that is at this ordinal",
        )?;
    }
    let root = [moved.order.get(0), moved.parent.get(0)];
    ensure(root == [0, 0], "overlay.moved.order", 0, "begins with the root")?;
    let type_of = |id: u32| topology.levels.object_type(topology.levels.level_of(id));
    let levels = &overlay.levels;
    for level in 0..levels.rows.len() - 1 {
        for ordinal in levels.first(level)..levels.first(level + 1) {
            let found = type_of(moved.order.get_u32(ordinal as usize));
            let rule = "is an object of the type of its level";
            ensure(
                found == levels.object_type(level),
                "overlay.moved.order",
                ordinal as usize,
                rule,
            )?;
        }
    }
    // Each child must be in one list, that of its parent, and parents must lead to the root.
    let mut next = 0;
    let mut is_listed = vec![false; count];
    for ordinal in 0..count {
        let (start, end) = (moved.child_start.get(ordinal), moved.child_start.get(ordinal + 1));
        ensure(
            start == next && start <= end && end < count as u64,
            "overlay.moved.child_start",
            ordinal,
            "is the row behind those of the object before",
        )?;
        let rows = overlay.child_rows(u32::try_from(ordinal).unwrap_or(u32::MAX));
        let rows = rows.start as usize..rows.end as usize;
        let kind_of = |row| type_of(moved.children.get_u32(row)).map(ObjectType::child_kind);
        ensure(
            rows.clone().map(kind_of).is_sorted(),
            "overlay.moved.children",
            rows.start,
            "has normal children first, then memory, I/O and Misc objects",
        )?;
        for row in rows {
            let child = moved.children.get(row);
            let parent = ordinal_of(child).map(|ordinal| moved.parent.get(ordinal));
            let listed = ordinal_of(child).and_then(|ordinal| is_listed.get_mut(ordinal));
            let twice = listed.is_none_or(|listed| core::mem::replace(listed, true));
            ensure(
                parent == Some(moved.order.get(ordinal)) && child != 0 && !twice,
                "overlay.moved.children",
                row,
                "is an object whose parent this is, and listed once",
            )?;
        }
        next = end;
    }
    let rule = "has every object that is visible but the root";
    ensure(next + 1 == count as u64, "overlay.moved.children", 0, rule)?;
    let first_special = levels.first(levels.normal.to_native() as usize) as usize;
    for ordinal in 1..count {
        let mut above = ordinal;
        let mut steps = 0;
        while above != 0 && steps <= 2 * MAX_DEPTH {
            let parent = ordinal_of(moved.parent.get(above));
            let rule = "is an object that is visible";
            let broken = ValidationError { column: "overlay.moved.parent", row: above, rule };
            above = parent.ok_or(broken)?;
            steps += 1;
        }
        ensure(above == 0, "overlay.moved.parent", ordinal, "leads to the root")?;
        let parent = ordinal_of(moved.parent.get(ordinal)).unwrap_or(count);
        let is_above = parent < ordinal && (ordinal >= first_special || parent < first_special);
        let is_memory = type_of(moved.order.get_u32(ordinal)).is_some_and(ObjectType::is_memory);
        ensure(
            is_above || is_memory,
            "overlay.moved.parent",
            ordinal,
            "comes before its child, but for memory, and is normal if that is",
        )?;
    }
    validate_order_of_pus(overlay, first_special, &ordinal_of)
}

/// Checks that the PUs of an object are those of its normal children, one after the other, and that
/// the objects of a level are in the order of their PUs. `end` is the ordinal behind the last
/// normal object.
fn validate_order_of_pus(
    overlay: &ArchivedOverlay,
    end: usize,
    ordinal_of: &impl Fn(u64) -> Option<usize>,
) -> Result<(), ValidationError> {
    let (moved, levels) = (&overlay.moved, &overlay.levels);
    let pus = levels.pus();
    if pus.is_empty() {
        return Ok(());
    }
    let first_pu = pus.start as usize;
    // The PUs of each object as a run of ordinals, from the lowest objects up.
    let mut runs: Vec<Range<usize>> = (0..end).map(|ordinal| ordinal..ordinal + 1).collect();
    for ordinal in (0..first_pu).rev() {
        let rows = overlay.child_rows(u32::try_from(ordinal).unwrap_or(u32::MAX));
        let mut own = 0..0;
        for row in rows.start as usize..rows.end as usize {
            let child = ordinal_of(moved.children.get(row)).filter(|child| *child < end);
            // Special children are not in these runs.
            let Some(run) = child.and_then(|child| runs.get(child)) else { continue };
            if own.is_empty() {
                own = run.clone();
                continue;
            }
            let follows = run.is_empty() || run.start == own.end;
            ensure(
                follows,
                "overlay.moved.children",
                row,
                "has children in the order of their PUs",
            )?;
            own.end = own.end.max(run.end);
        }
        runs.get_mut(ordinal).into_iter().for_each(|run| *run = own.clone());
    }
    for level in 0..(levels.normal.to_native() as usize).saturating_sub(1) {
        let (mut last, level) = (0, levels.first(level)..levels.first(level + 1));
        for ordinal in level {
            let run = runs.get(ordinal as usize).cloned().unwrap_or_default();
            let follows = run.is_empty() || run.start >= last;
            let rule = "has the objects of a level in the order of their PUs";
            ensure(follows, "overlay.moved.order", ordinal as usize, rule)?;
            last = last.max(run.end);
        }
    }
    Ok(())
}
