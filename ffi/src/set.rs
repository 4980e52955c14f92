//! Sets of OS indexes, of PUs or NUMA nodes.

use crate::answer::{Handle, answer};
use crate::call::{call_with, value_with};
use crate::failure::Failure;
use crate::pointers::{Buffer, Handles, Input, List, Out, Output, Room, Text};
use crate::status::tb_status;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::mem::MaybeUninit;
use topobroker_layout::set::Format;
use topobroker_reader::Set;

/// A set of OS indexes of PUs or of NUMA nodes. tb_set_new makes it and tb_set_free frees it. Every
/// function that returns a set writes it into a set of the caller. Counterpart: hwloc_bitmap_t.
pub struct tb_set(pub(crate) Set);

impl Handle for tb_set {
    type Means<'h> = &'h Set;

    fn means(&self) -> &Set {
        &self.0
    }
}

/// Formats of sets as texts.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_set_format {
    /// hwloc's mask: 0xf,0x00000001.
    TB_SET_MASK = 0,
    /// hwloc's list: 0-3,8,12-.
    TB_SET_LIST = 1,
    /// The mask of taskset: 0xf00000001.
    TB_SET_TASKSET = 2,
}

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

/// Makes an empty set. Never returns NULL. Free it with tb_set_free. Counterpart:
/// hwloc_bitmap_alloc.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_new() -> Option<Box<tb_set>> {
    Some(Box::new(tb_set(Set::new())))
}

/// Makes a copy of a set; NULL if `set` is NULL. Free it with tb_set_free. Counterpart:
/// hwloc_bitmap_dup.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_dup(set: Input<'_, tb_set>) -> Option<Box<tb_set>> {
    value_with(None, |handles| set.optional(handles).map(|set| Box::new(tb_set(set.0.clone()))))
}

/// Frees a set. If `set` is NULL, nothing happens. Counterpart: hwloc_bitmap_free.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_free(set: Option<Box<tb_set>>) {
    drop(set);
}

/// Makes `set` equal to `from`. Both may be the same set. Counterpart: hwloc_bitmap_copy.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_copy(set: Output<'_, tb_set>, from: Input<'_, tb_set>) -> tb_status {
    answer!(*set, |from| from.clone())
}

/// Makes `set` the set that a text describes: a mask if the text begins with 0x, else a list such
/// as 0-3,8 or 12-. TB_ERR_TEXT if it is neither. Counterparts: hwloc_bitmap_list_sscanf,
/// hwloc_bitmap_sscanf.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_parse(set: Output<'_, tb_set>, text: Text<'_>) -> tb_status {
    answer!(*set, |text| parsed(text)?)
}

/// Writes `set` as a text with a zero at its end. `format` is a tb_set_format. `length` (may be
/// NULL) is set to the bytes of the text without the zero, also with TB_ERR_TRUNCATED. Counterpart:
/// hwloc_bitmap_list_snprintf.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_text(
    set: Input<'_, tb_set>,
    format: i32,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    answer!(buffer(size, length), |set| {
        let format = match format {
            0 => Format::Hwloc,
            1 => Format::List,
            2 => Format::Taskset,
            other => return Err(Failure::argument(format!("set format {other}"))),
        };
        set.to_text(format)
    })
}

/// Makes `set` the bits of `count` words of 64 bits, the lowest indexes first. A cpu_set_t has this
/// form on a little-endian machine.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_from_words(
    set: Output<'_, tb_set>,
    words: List<'_, u64>,
    count: usize,
) -> tb_status {
    answer!(*set, || {
        let words = words.get(count, "words")?;
        Set::from_words(words.iter().copied(), false)
    })
}

/// Stores the bits of `set` as words of 64 bits, the lowest indexes first. All `capacity` words are
/// stored: words after the end of the set are 0, or all ones if the set is infinite. `count` (may
/// be NULL) is set to the number of words that the set has, which may be more than `capacity`. An
/// array that is too short is no error.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_words(
    set: Input<'_, tb_set>,
    words: Room<'_, u64>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    call_with(|handles| {
        let set = &set.given(handles, "set")?.0;
        let all = (0..capacity.max(set.words().len())).map(|word| set.word(word));
        words.fill(all, capacity, Out::at(&mut MaybeUninit::uninit()))?;
        count.optional().map(|count| count.write(set.words().len()));
        Ok(())
    })
}

/// Adds an index to `set`. TB_ERR_ARGUMENT if it is 16777216 or more. Counterpart:
/// hwloc_bitmap_set.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_add(set: Output<'_, tb_set>, index: u32) -> tb_status {
    call_with(|handles| {
        set.given(handles, "set")?.0.insert(within_reach(index)?);
        Ok(())
    })
}

/// Removes an index from `set`. TB_ERR_ARGUMENT if it is 16777216 or more. Counterpart:
/// hwloc_bitmap_clr.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_remove(set: Output<'_, tb_set>, index: u32) -> tb_status {
    call_with(|handles| {
        set.given(handles, "set")?.0.remove(within_reach(index)?);
        Ok(())
    })
}

/// Adds the indexes from `first` to `last` to `set`; if `last` is -1, all from `first` on.
/// TB_ERR_ARGUMENT if one of them is 16777216 or more. Counterpart: hwloc_bitmap_set_range.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_add_range(set: Output<'_, tb_set>, first: u32, last: i64) -> tb_status {
    change(set, |set| {
        let _: () = *set = &*set | &range(first, last)?;
        Ok(())
    })
}

/// Removes the indexes from `first` to `last` from `set`; if `last` is -1, all from `first` on.
/// TB_ERR_ARGUMENT if one of them is 16777216 or more. Counterpart: hwloc_bitmap_clr_range.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_remove_range(set: Output<'_, tb_set>, first: u32, last: i64) -> tb_status {
    change(set, |set| {
        let _: () = *set = set.and_not(&range(first, last)?);
        Ok(())
    })
}

/// Makes `set` have `index` alone. TB_ERR_ARGUMENT if it is 16777216 or more. Counterpart:
/// hwloc_bitmap_only.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_only(set: Output<'_, tb_set>, index: u32) -> tb_status {
    change(set, |set| {
        let _: () = *set = [within_reach(index)?].into_iter().collect();
        Ok(())
    })
}

/// Removes all indexes from `set`. Counterpart: hwloc_bitmap_zero.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_clear(set: Output<'_, tb_set>) -> tb_status {
    change(set, |set| {
        let _: () = set.clear();
        Ok(())
    })
}

/// Makes `set` have all indexes; it is infinite then. Counterpart: hwloc_bitmap_fill.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_fill(set: Output<'_, tb_set>) -> tb_status {
    change(set, |set| {
        let _: () = *set = !&Set::new();
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
        Err(_) => return Err(Failure::argument(format!("last index {last}"))),
    }
    Ok(range)
}

/// Parses a mask if the text begins with 0x, else a list.
pub(crate) fn parsed(text: &str) -> Result<Set, Failure> {
    let format = if text.starts_with("0x") { Format::Hwloc } else { Format::List };
    Ok(Set::parse(text, format)?)
}

/// The sets of a caller that are to be written. None of them may be NULL.
pub(crate) fn given_sets<'a>(
    handles: &mut Handles,
    sets: List<'a, Output<'a, tb_set>>,
    count: usize,
) -> Result<&'a [Output<'a, tb_set>], Failure> {
    let sets = sets.get(count, "sets")?;
    sets.iter().try_for_each(|set| set.given(handles, "one of the sets").map(|_| ()))?;
    Ok(sets)
}

/// Writes `values` into the sets of a caller.
pub(crate) fn store_sets(
    handles: &mut Handles,
    sets: &[Output<'_, tb_set>],
    values: Vec<Set>,
) -> Result<(), Failure> {
    for (set, value) in sets.iter().zip(values) {
        set.given(handles, "one of the sets")?.0 = value;
    }
    Ok(())
}

/// Checks that an index is not too high. A set stores a bit for every index below its highest one,
/// and no machine has indexes beyond this limit.
fn within_reach(index: u32) -> Result<u32, Failure> {
    const MOST: u32 = 1 << 24;
    match index {
        0..MOST => Ok(index),
        _ => Err(Failure::argument(format!("index {index}, expected below {MOST}"))),
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
            unknown => return Err(Failure::argument(format!("operation {unknown}"))),
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

/// Compares two sets by the highest index that only one of them has: 1 if that is `set`, -1 if it is
/// `other`, 0 if they are equal. NULL is like an empty set. Counterpart: hwloc_bitmap_compare.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pointers::from_c::{input, list, output, returned};

    fn handle(indexes: &[u32]) -> *mut tb_set {
        Box::into_raw(Box::new(tb_set(indexes.iter().copied().collect())))
    }

    fn indexes(set: *mut tb_set) -> Vec<i64> {
        let next = |previous: &i64| Some(tb_set_next(input(set), *previous));
        std::iter::successors(Some(-1), next).skip(1).take_while(|index| *index >= 0).collect()
    }

    fn free(set: *mut tb_set) {
        returned(set).free_unless(|_| false);
    }

    #[test]
    fn a_set_may_be_both_what_is_read_and_what_is_written() {
        let set = handle(&[1, 70]);
        assert_eq!(tb_set_combine(output(set), 0, input(set)), tb_status::TB_OK);
        assert_eq!(tb_set_copy(output(set), input(set)), tb_status::TB_OK);
        assert_eq!(indexes(set), [1, 70]);
        assert_eq!(tb_set_combine(output(set), 3, input(set)), tb_status::TB_OK);
        assert!(tb_set_is_empty(input(set)));
        free(set);
    }

    #[test]
    fn one_set_may_be_given_twice_in_an_array() {
        let set = handle(&[]);
        let sets = [output(set), output(set)];
        let values = vec![[1].into_iter().collect(), [2].into_iter().collect()];
        crate::call::call_with(|handles| {
            let sets = given_sets(handles, list(&sets), 2)?;
            store_sets(handles, sets, values)
        });
        assert_eq!(indexes(set), [2]);
        free(set);
    }

    #[test]
    fn a_handle_that_is_kept_is_not_freed() {
        let set = handle(&[3]);
        returned(set).free_unless(|set| set.0.contains(3));
        assert_eq!(indexes(set), [3]);
        free(set);
        returned(std::ptr::null_mut::<tb_set>()).free_unless(|_| false);
    }
}
