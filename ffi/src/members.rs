//! Members of a set: adding and removing them, combining sets, and asking for them.

use crate::answer::answer;
use crate::call::{call_with, value_with};
use crate::failure::Failure;
use crate::pointers::{Input, Output};
use crate::set::tb_set;
use crate::status::tb_status;
use core::cmp::Ordering;
use topobroker_reader::Set;

/// Operations that combine two sets.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_set_operation {
    /// Indexes that are in either set. Counterpart: hwloc_bitmap_or.
    TB_SET_OR = 0,
    /// Indexes that are in both sets. Counterpart: hwloc_bitmap_and.
    TB_SET_AND = 1,
    /// Indexes that are only in the first set. Counterpart: hwloc_bitmap_andnot.
    TB_SET_ANDNOT = 2,
    /// Indexes that are in exactly one of the sets. Counterpart: hwloc_bitmap_xor.
    TB_SET_XOR = 3,
}

/// Adds an index to `set`. TB_ERR_ARGUMENT if it is 16777216 or more. Counterpart:
/// hwloc_bitmap_set.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_add(set: Output<'_, tb_set>, index: u32) -> tb_status {
    change(set, |set| {
        set.insert(within_reach(index)?);
        Ok(())
    })
}

/// Removes an index from `set`. TB_ERR_ARGUMENT if it is 16777216 or more. Counterpart:
/// hwloc_bitmap_clr.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_remove(set: Output<'_, tb_set>, index: u32) -> tb_status {
    change(set, |set| {
        set.remove(within_reach(index)?);
        Ok(())
    })
}

/// Adds the indexes from `first` to `last` to `set`; if `last` is -1, all from `first` on.
/// TB_ERR_ARGUMENT if one of them is 16777216 or more. Counterpart: hwloc_bitmap_set_range.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_add_range(set: Output<'_, tb_set>, first: u32, last: i64) -> tb_status {
    change(set, |set| {
        *set |= &range(first, last)?;
        Ok(())
    })
}

/// Removes the indexes from `first` to `last` from `set`; if `last` is -1, all from `first` on.
/// TB_ERR_ARGUMENT if one of them is 16777216 or more. Counterpart: hwloc_bitmap_clr_range.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_remove_range(set: Output<'_, tb_set>, first: u32, last: i64) -> tb_status {
    change(set, |set| {
        *set = set.and_not(&range(first, last)?);
        Ok(())
    })
}

/// Makes `set` have `index` alone. TB_ERR_ARGUMENT if it is 16777216 or more. Counterpart:
/// hwloc_bitmap_only.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_only(set: Output<'_, tb_set>, index: u32) -> tb_status {
    change(set, |set| {
        *set = [within_reach(index)?].into_iter().collect();
        Ok(())
    })
}

/// Removes all indexes from `set`. Counterpart: hwloc_bitmap_zero.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_clear(set: Output<'_, tb_set>) -> tb_status {
    change(set, |set| {
        set.clear();
        Ok(())
    })
}

/// Makes `set` have all indexes; it is infinite then. Counterpart: hwloc_bitmap_fill.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_fill(set: Output<'_, tb_set>) -> tb_status {
    change(set, |set| {
        *set = !&Set::new();
        Ok(())
    })
}

/// Makes `set` have the indexes that `other` does not have. Both may be the same set. Counterpart:
/// hwloc_bitmap_not.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_not(set: Output<'_, tb_set>, other: Input<'_, tb_set>) -> tb_status {
    answer!(*set, |other| !other)
}

fn change(
    set: Output<'_, tb_set>,
    work: impl FnOnce(&mut Set) -> Result<(), Failure>,
) -> tb_status {
    call_with(|handles| work(&mut set.given(handles, "set")?.0))
}

/// The indexes from `first` to `last`, which is -1 for all.
fn range(first: u32, last: i64) -> Result<Set, Failure> {
    let mut range = Set::new();
    within_reach(first)?;
    match u32::try_from(last) {
        Ok(last) => range.insert_range(first..=within_reach(last)?),
        Err(_) if last == -1 => range.insert_from(first),
        Err(_) => return Err(Failure::argument(format_args!("last index {last}"))),
    }
    Ok(range)
}

/// Checks that an index is not too high. A set stores a bit for every index below its highest one,
/// and no machine has indexes beyond this limit.
fn within_reach(index: u32) -> Result<u32, Failure> {
    const MOST: u32 = 1 << 24;
    match index {
        0..MOST => Ok(index),
        _ => Err(Failure::argument(format_args!("index {index}, expected below {MOST}"))),
    }
}

/// Combines `set` with `other`, and stores the result in `set`. `operation` is a tb_set_operation.
/// Both may be the same set.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_combine(
    set: Output<'_, tb_set>,
    operation: i32,
    other: Input<'_, tb_set>,
) -> tb_status {
    call_with(|handles| {
        // A copy, because `other` may be the same set as `set`.
        let other = other.given(handles, "other")?.0.clone();
        let set = &mut set.given(handles, "set")?.0;
        *set = match operation {
            0 => &*set | &other,
            1 => &*set & &other,
            2 => set.and_not(&other),
            3 => &*set ^ &other,
            unknown => return Err(Failure::argument(format_args!("operation {unknown}"))),
        };
        Ok(())
    })
}

/// Whether `index` is in `set`. False if `set` is NULL. Counterpart: hwloc_bitmap_isset.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_has(set: Input<'_, tb_set>, index: u32) -> bool {
    value_with(false, |handles| set.optional(handles).is_some_and(|set| set.0.contains(index)))
}

/// Whether `set` is empty. True if it is NULL. Counterpart: hwloc_bitmap_iszero.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_is_empty(set: Input<'_, tb_set>) -> bool {
    value_with(false, |handles| set.optional(handles).is_none_or(|set| set.0.is_empty()))
}

/// Whether two sets have the same indexes. False if one of them is NULL. Counterpart:
/// hwloc_bitmap_isequal.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_is_equal(set: Input<'_, tb_set>, other: Input<'_, tb_set>) -> bool {
    value_with(false, |handles| {
        set.optional(handles)
            .zip(other.optional(handles))
            .is_some_and(|(set, other)| set.0 == other.0)
    })
}

/// Whether all indexes of `set` are in `other`. False if one of them is NULL. Counterpart:
/// hwloc_bitmap_isincluded.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_is_included(set: Input<'_, tb_set>, other: Input<'_, tb_set>) -> bool {
    value_with(false, |handles| {
        set.optional(handles)
            .zip(other.optional(handles))
            .is_some_and(|(set, other)| set.0.is_included_in(&other.0))
    })
}

/// Whether two sets have an index in common. False if one of them is NULL. Counterpart:
/// hwloc_bitmap_intersects.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_intersects(set: Input<'_, tb_set>, other: Input<'_, tb_set>) -> bool {
    value_with(false, |handles| {
        set.optional(handles)
            .zip(other.optional(handles))
            .is_some_and(|(set, other)| set.0.intersects(&other.0))
    })
}

/// Number of indexes in `set`; -1 if it is infinite or NULL. Counterpart: hwloc_bitmap_weight.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_weight(set: Input<'_, tb_set>) -> i64 {
    value_with(-1, |handles| {
        set.optional(handles).and_then(|set| set.0.weight()).map_or(-1, i64::from)
    })
}

/// The first index of `set`; -1 if it is empty or NULL. Counterpart: hwloc_bitmap_first.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_first(set: Input<'_, tb_set>) -> i64 {
    value_with(-1, |handles| {
        set.optional(handles).and_then(|set| set.0.first()).map_or(-1, i64::from)
    })
}

/// The last index of `set`; -1 if it is empty, infinite or NULL. Counterpart: hwloc_bitmap_last.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_last(set: Input<'_, tb_set>) -> i64 {
    value_with(-1, |handles| {
        set.optional(handles).and_then(|set| set.0.last()).map_or(-1, i64::from)
    })
}

/// The first index of `set` after `previous`; -1 if there is none or `set` is NULL. If `previous`
/// is -1, the first index of all. Counterpart: hwloc_bitmap_next.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_next(set: Input<'_, tb_set>, previous: i64) -> i64 {
    value_with(-1, |handles| {
        let next = u32::try_from(previous.saturating_add(1).max(0));
        let found =
            set.optional(handles).zip(next.ok()).and_then(|(set, next)| set.0.next_from(next));
        found.map_or(-1, i64::from)
    })
}

/// The first index after `previous` that is not in `set`; -1 if there is none or `set` is NULL. If
/// `previous` is -1, the first of all. Counterpart: hwloc_bitmap_next_unset.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_next_unset(set: Input<'_, tb_set>, previous: i64) -> i64 {
    value_with(-1, |handles| {
        let next = u32::try_from(previous.saturating_add(1).max(0));
        let found = set.optional(handles).zip(next.ok());
        let found = found.and_then(|(set, next)| (!&set.0).next_from(next));
        found.map_or(-1, i64::from)
    })
}

/// Compares two sets by the highest index that only one of them has: 1 if that is `set`, -1 if it
/// is `other`, 0 if they are equal. NULL is like an empty set. Counterpart: hwloc_bitmap_compare.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_compare(set: Input<'_, tb_set>, other: Input<'_, tb_set>) -> i32 {
    value_with(0, |handles| {
        let empty = tb_set(Set::new());
        let read = |set: &Input<'_, tb_set>| set.optional(handles).unwrap_or(&empty).0.clone();
        let (one, other) = (read(&set), read(&other));
        let words = (0..one.words().len().max(other.words().len())).rev();
        let by_words = || {
            let differ = words.map(|at| one.word(at).cmp(&other.word(at)));
            differ.fold(Ordering::Equal, Ordering::then)
        };
        one.is_infinite().cmp(&other.is_infinite()).then_with(by_words) as i32
    })
}

/// Keeps only the first index of `set`. Counterpart: hwloc_bitmap_singlify.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_singlify(set: Output<'_, tb_set>) -> tb_status {
    call_with(|handles| {
        let set = &mut set.given(handles, "set")?.0;
        *set = set.singlify();
        Ok(())
    })
}
