//! Pointers that C passes: texts, arrays, buffers and handles. Each type is a plain pointer in C.
//!
//! Only a caller in C makes values of these types, and promises that the pointers are as the
//! documentation of the function demands.

use crate::failure::Failure;
use crate::given::Given;
use crate::status::tb_status;
use alloc::boxed::Box;
use core::ffi::{CStr, c_char};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

/// A text that ends with a zero: `const char *`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Text<'a>(*const c_char, PhantomData<&'a c_char>);

/// Room for a text: `char *`.
#[repr(transparent)]
pub struct Buffer<'a>(*mut c_char, PhantomData<&'a mut c_char>);

/// Where a result goes: `T *`.
#[repr(transparent)]
pub struct Out<'a, T>(Option<&'a mut MaybeUninit<T>>);

/// An array that is read: `const T *`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct List<'a, T>(*const T, PhantomData<&'a T>);

/// Room for an array: `T *`.
#[repr(transparent)]
pub struct Room<'a, T>(*mut T, PhantomData<&'a mut T>);

/// The right to use the handles that a call was given. Reading a handle borrows it, and writing one
/// borrows it exclusively, so no reference to a handle is used after a handle was written. C may
/// pass the same handle twice.
#[derive(Debug)]
pub(crate) struct Handles(());

impl Handles {
    /// Runs the body of one call with the right to its handles. A function of the interface calls
    /// this once, and calls no other function of the interface.
    pub(crate) fn of_call<R>(work: impl FnOnce(&mut Self) -> R) -> R {
        work(&mut Self(()))
    }
}

/// A handle that is read: `const T *`.
#[derive(Debug)]
#[repr(transparent)]
pub struct Input<'a, T>(*const T, PhantomData<&'a T>);

/// A handle that is written: `T *`. The same call may read it through an [`Input`].
#[derive(Debug)]
#[repr(transparent)]
pub struct Output<'a, T>(*mut T, PhantomData<&'a mut T>);

/// A handle that C gives back to be freed: `T *`.
#[derive(Debug)]
#[repr(transparent)]
pub struct Returned<T>(Option<NonNull<T>>);

impl<T> Input<'_, T> {
    /// The handle, `None` if the pointer is NULL.
    pub(crate) fn optional<'h>(&self, _: &'h Handles) -> Option<&'h T> {
        // SAFETY: the pointer is NULL or a handle that this library made. No other thread frees or
        // changes the handle during the call. This call may change it, but only through an
        // `Output`. That borrows `Handles` exclusively, so this reference has ended by then.
        unsafe { self.0.as_ref() }
    }

    /// The handle. NULL is `TB_ERR_ARGUMENT`.
    pub(crate) fn given<'h>(&self, handles: &'h Handles, name: &str) -> Result<&'h T, Failure> {
        self.optional(handles).given(name)
    }
}

impl<T> Output<'_, T> {
    /// The handle, `None` if the pointer is NULL.
    pub(crate) fn optional<'h>(&self, _: &'h mut Handles) -> Option<&'h mut T> {
        // SAFETY: the pointer is NULL or a handle that this library made. No other thread uses the
        // handle during the call. All other references that this call made to it have ended,
        // because they borrowed `Handles`, which is borrowed exclusively here.
        unsafe { self.0.as_mut() }
    }

    /// The handle. NULL is `TB_ERR_ARGUMENT`.
    pub(crate) fn given<'h>(
        &self,
        handles: &'h mut Handles,
        name: &str,
    ) -> Result<&'h mut T, Failure> {
        self.optional(handles).given(name)
    }
}

impl<T> Returned<T> {
    /// Frees a handle that a function of this library made, unless `is_kept` returns true for it.
    pub(crate) fn free_unless(self, is_kept: impl FnOnce(&T) -> bool) {
        let Some(pointer) = self.0 else { return };
        // SAFETY: the pointer is not NULL, so it is a handle that this library made. C has not
        // freed it, and no other thread changes it during the call.
        if is_kept(unsafe { pointer.as_ref() }) {
            return;
        }
        // SAFETY: `Box::into_raw` made the pointer. C has not freed the handle and gives it up with
        // this call. The reference that `is_kept` got has ended.
        drop(unsafe { Box::from_raw(pointer.as_ptr()) });
    }
}

impl<'a, T> Out<'a, T> {
    pub(crate) fn null() -> Self {
        Self(None)
    }

    pub(crate) fn at(place: &'a mut MaybeUninit<T>) -> Self {
        Self(Some(place))
    }

    /// Whether the pointer is not NULL.
    pub(crate) fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// The place, `None` if the pointer is NULL.
    pub(crate) fn optional(self) -> Option<&'a mut MaybeUninit<T>> {
        self.0
    }

    /// Stores a value, unless the pointer is NULL.
    pub(crate) fn store(self, value: T) {
        if let Some(place) = self.0 {
            place.write(value);
        }
    }
}

impl<'a, T> Given<&'a mut MaybeUninit<T>> for Out<'a, T> {
    fn given(self, name: &str) -> Result<&'a mut MaybeUninit<T>, Failure> {
        self.0.given(name)
    }
}

impl<'a> Text<'a> {
    #[cfg(feature = "broker")]
    pub(crate) const fn null() -> Self {
        Self(core::ptr::null(), PhantomData)
    }

    /// The text as bytes, `None` if the pointer is NULL.
    pub(crate) fn bytes(self) -> Option<&'a CStr> {
        // SAFETY: the pointer is not NULL. Every function of the header demands that a text ends
        // with a zero and does not change during the call.
        (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) })
    }

    /// The text as UTF-8, `None` if the pointer is NULL.
    pub(crate) fn optional(self, name: &str) -> Result<Option<&'a str>, Failure> {
        let text = self.bytes().map(CStr::to_str).transpose();
        text.map_err(|error| Failure::new(tb_status::TB_ERR_TEXT, format_args!("{name}: {error}")))
    }

    /// The text as UTF-8. NULL is `TB_ERR_ARGUMENT`.
    pub(crate) fn get(self, name: &str) -> Result<&'a str, Failure> {
        self.optional(name)?.given(name)
    }
}

impl Buffer<'_> {
    /// Writes a text with a zero at its end, and stores its length without the zero. Writes nothing
    /// to a buffer that is too small. A buffer of size 0 may be NULL.
    pub(crate) fn fill(
        self,
        text: impl AsRef<str>,
        size: usize,
        length: Out<'_, usize>,
    ) -> Result<(), Failure> {
        let text = text.as_ref();
        length.store(text.len());
        if size <= text.len() {
            let detail =
                format_args!("a text of {} bytes and a zero, buffer of {size}", text.len());
            return Err(Failure::new(tb_status::TB_ERR_TRUNCATED, detail));
        }
        if self.0.is_null() {
            return Err(Failure::argument(format_args!("buffer is NULL")));
        }
        // SAFETY: the buffer is not NULL, and C has room for `size` bytes there, which is more than
        // the length of the text. The text belongs to this library, so the buffer does not overlap
        // it.
        unsafe {
            core::ptr::copy_nonoverlapping(text.as_ptr(), self.0.cast(), text.len());
            self.0.add(text.len()).write(0);
        }
        Ok(())
    }
}

impl<'a, T> List<'a, T> {
    /// The `count` elements of the array, which may be NULL if there are none.
    pub(crate) fn get(self, count: usize, name: &str) -> Result<&'a [T], Failure> {
        if count == 0 {
            return Ok(&[]);
        }
        if self.0.is_null() || count > isize::MAX as usize / size_of::<T>().max(1) {
            return Err(Failure::argument(format_args!(
                "{name}: {count} elements at NULL, or too many"
            )));
        }
        // SAFETY: the pointer is not NULL, and C has `count` elements there, which do not change
        // during the call. Their size is at most `isize::MAX`.
        Ok(unsafe { core::slice::from_raw_parts(self.0, count) })
    }
}

impl<'a, T> Room<'a, T> {
    /// Writes as many values as there is room for, and stores the number of all values. If `count`
    /// is NULL and the room is too small, returns `TB_ERR_TRUNCATED`.
    pub(crate) fn fill(
        self,
        values: impl IntoIterator<Item = T>,
        capacity: usize,
        count: Out<'_, usize>,
    ) -> Result<(), Failure> {
        fill(self.0.is_null(), values, capacity, count, |at, value| {
            // SAFETY: the pointer is not NULL, C has room for `capacity` elements there, and `at`
            // is below that.
            unsafe { self.0.add(at).write(value) }
        })
    }
}

/// Writes as many values as there is room for, and stores the number of all values.
pub(crate) fn fill<T>(
    is_null: bool,
    values: impl IntoIterator<Item = T>,
    capacity: usize,
    count: Out<'_, usize>,
    write: impl Fn(usize, T),
) -> Result<(), Failure> {
    if is_null && capacity > 0 {
        return Err(Failure::argument(format_args!("room for elements is NULL")));
    }
    let mut found = 0;
    for value in values {
        if found < capacity {
            write(found, value);
        }
        found += 1;
    }
    match count.optional() {
        Some(count) => _ = count.write(found),
        None if found > capacity => {
            let detail =
                format_args!("{found} elements, room for {capacity}, and no count to say so");
            return Err(Failure::new(tb_status::TB_ERR_TRUNCATED, detail));
        }
        None => {}
    }
    Ok(())
}

/// The hwloc topology that C has loaded, `None` if the pointer is NULL.
#[cfg(feature = "broker")]
pub(crate) fn borrow_topology<'a>(
    topology: *mut core::ffi::c_void,
) -> Option<topobroker::hwloc::HwlocTopology<'a>> {
    // SAFETY: the pointer is not NULL, so it is a topology that C has loaded with the hwloc that
    // this library is linked to. C does not change it during the call.
    (!topology.is_null()).then(|| unsafe { topobroker::hwloc::HwlocTopology::borrow_raw(topology) })
}

/// The pointers that C passes, for tests of the interface itself.
#[cfg(test)]
pub(crate) mod from_c {
    use super::{Input, List, Output, PhantomData, Returned};

    /// A handle as C passes it to a function that reads it.
    pub(crate) fn input<T>(pointer: *const T) -> Input<'static, T> {
        Input(pointer, PhantomData)
    }

    /// A handle as C passes it to a function that writes it.
    pub(crate) fn output<T>(pointer: *mut T) -> Output<'static, T> {
        Output(pointer, PhantomData)
    }

    /// An array as C passes it.
    pub(crate) fn list<T>(elements: &[T]) -> List<'_, T> {
        List(elements.as_ptr(), PhantomData)
    }

    /// A handle as C gives it back.
    pub(crate) fn returned<T>(pointer: *mut T) -> Returned<T> {
        Returned(super::NonNull::new(pointer))
    }
}
