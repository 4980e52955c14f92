//! Sets of OS indexes of PUs or NUMA nodes: making them, and as texts and words.

use crate::answer::{Handle, answer};
use crate::call::{call_with, value_with};
use crate::failure::Failure;
use crate::pointers::{Buffer, Handles, Input, List, Out, Output, Room, Text};
use crate::status::tb_status;
use alloc::boxed::Box;
use alloc::vec::Vec;
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

/// Makes `set` the set that a text describes: a mask if the text begins with 0x, otherwise a list
/// such as 0-3,8 or 12-. TB_ERR_TEXT if it is neither. Counterparts: hwloc_bitmap_list_sscanf,
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
            other => return Err(Failure::argument(format_args!("set format {other}"))),
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
        count.store(set.words().len());
        Ok(())
    })
}

/// Parses a mask if the text begins with 0x, otherwise a list.
pub(crate) fn parsed(text: &str) -> Result<Set, Failure> {
    let format = if text.starts_with("0x") { Format::Hwloc } else { Format::List };
    Ok(Set::parse(text, format)?)
}

/// The sets of a caller that are to be written. They must not be NULL.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::{tb_set_combine, tb_set_is_empty, tb_set_next};
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
