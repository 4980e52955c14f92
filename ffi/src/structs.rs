//! Structs that C passes, each with its size, so that programs and libraries of different versions
//! go together.

use crate::failure::Failure;
use crate::given::Given;
use crate::pointers::{Out, fill};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

/// A struct of the caller that is filled: `T *`. Its size follows, as the header says that the
/// caller was compiled with: a caller's struct may be shorter or longer than this library's.
#[repr(transparent)]
pub struct Struct<'a, T>(*mut T, PhantomData<&'a mut T>);

/// Room for an array of such structs: `T *`. The size of one of them follows.
#[repr(transparent)]
pub struct Structs<'a, T>(*mut T, PhantomData<&'a mut T>);

/// A struct of the caller that is read: `const T *`. Its size follows, as for [`Struct`].
#[repr(transparent)]
pub struct Asked<'a, T>(*const T, PhantomData<&'a T>);

impl<T> Struct<'_, T> {
    /// Fills a struct of `size` bytes.
    pub(crate) fn fill(self, value: T, size: usize) -> Result<(), Failure> {
        check_size::<T>(size)?;
        let place = NonNull::new(self.0).given(name::<T>())?;
        // SAFETY: the pointer is not NULL, and C has `size` bytes there.
        unsafe { store(value, place.as_ptr().cast(), size) };
        Ok(())
    }
}

impl<T> Structs<'_, T> {
    /// Writes values as [`Room::fill`] does, into structs of `size` bytes each.
    pub(crate) fn fill(
        self,
        values: impl IntoIterator<Item = T>,
        size: usize,
        capacity: usize,
        count: Out<'_, usize>,
    ) -> Result<(), Failure> {
        if capacity > 0 {
            check_size::<T>(size)?;
        }
        fill(self.0.is_null(), values, capacity, count, |at, value| {
            // SAFETY: the pointer is not NULL, C has room for `capacity` structs of `size` bytes
            // there, and `at` is below `capacity`.
            unsafe { store(value, self.0.cast::<u8>().add(at * size), size) }
        })
    }
}

impl<T> Asked<'_, T> {
    /// The struct, `None` if the pointer is NULL. A field that the caller's struct does not have
    /// yet is 0. One that this library does not know must be 0.
    pub(crate) fn optional(self, size: usize) -> Result<Option<T>, Failure> {
        if self.0.is_null() {
            return Ok(None);
        }
        const { assert!(!core::mem::needs_drop::<T>()) };
        check_size::<T>(size)?;
        let known = size.min(size_of::<T>());
        // SAFETY: the pointer is not NULL, and C has `size` bytes there, which do not change during
        // the call. The ones past `known` are fields of C, so they have values.
        let more = unsafe {
            core::slice::from_raw_parts(self.0.cast::<u8>().wrapping_add(known), size - known)
        };
        if more.iter().any(|byte| *byte != 0) {
            return Err(Failure::argument(format_args!(
                "{} of {size} bytes asks for something that this library does not know: it knows \
                 the first {}",
                name::<T>(),
                size_of::<T>()
            )));
        }
        let mut asked = MaybeUninit::<T>::zeroed();
        // SAFETY: C has `size` bytes there, at least `known`, and `asked` has as many. Each field
        // is that of C or 0 as a whole, because a struct only grows by whole fields. The fields of
        // a struct of C are numbers, truth values and pointers, of which 0 is a value.
        Ok(Some(unsafe {
            core::ptr::copy_nonoverlapping(self.0.cast::<u8>(), asked.as_mut_ptr().cast(), known);
            asked.assume_init()
        }))
    }

    /// The struct. NULL is `TB_ERR_ARGUMENT`.
    pub(crate) fn given(self, size: usize) -> Result<T, Failure> {
        self.optional(size)?.given(name::<T>())
    }
}

/// Stores as much of a value as `size` bytes have room for, and zeros behind it.
///
/// # Safety
///
/// At `to` there are `size` bytes that belong to the caller.
unsafe fn store<T>(value: T, to: *mut u8, size: usize) {
    let known = size.min(size_of::<T>());
    // SAFETY: the value has at least `known` bytes, and `to` has `size`.
    unsafe {
        core::ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), to, known);
        to.add(known).write_bytes(0, size - known);
    }
}

/// Checks a size that C passes: `sizeof` of a struct of this or another version.
fn check_size<T>(size: usize) -> Result<(), Failure> {
    match size {
        1..=0xffff => Ok(()),
        _ => Err(Failure::argument(format_args!(
            "{} of {size} bytes, expected sizeof: {}",
            name::<T>(),
            size_of::<T>()
        ))),
    }
}

/// The name of a struct of C.
#[cold]
fn name<T>() -> &'static str {
    let name = core::any::type_name::<T>();
    let start = name.bytes().rposition(|byte| byte == b':').map_or(0, |colon| colon + 1);
    name.get(start..).unwrap_or(name)
}
