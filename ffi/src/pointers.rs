//! What C hands over: texts, arrays and buffers. Each type is a pointer of C and nothing else; it is
//! only ever made by a caller in C, who promises what the function's documentation says of it.

use crate::call::Failure;
use crate::status::tb_status;
use std::ffi::{CStr, c_char};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// A text that ends with a zero, `const char *`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Text<'a>(*const c_char, PhantomData<&'a c_char>);

/// Room for a text, `char *`.
#[repr(transparent)]
pub struct Buffer<'a>(*mut c_char, PhantomData<&'a mut c_char>);

/// An array that is read, `const T *`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct List<'a, T>(*const T, PhantomData<&'a T>);

/// Room for an array, `T *`.
#[repr(transparent)]
pub struct Room<'a, T>(*mut T, PhantomData<&'a mut T>);

/// The right to look at the handles that a call was given. Reading a handle borrows it, and writing one borrows it
/// exclusively, so that no reference to a handle is used after a handle was written: C may pass the same one twice.
#[derive(Debug)]
pub(crate) struct Handles(());

impl Handles {
    /// Does the work of one call with the right to its handles. A function of the interface asks for it once, and calls
    /// no other function of the interface.
    pub(crate) fn of_call<R>(work: impl FnOnce(&mut Self) -> R) -> R {
        work(&mut Self(()))
    }
}

/// A handle that is read, `const T *`.
#[derive(Debug)]
#[repr(transparent)]
pub struct Input<'a, T>(*const T, PhantomData<&'a T>);

/// A handle that is written, `T *`. It may be one that the same call reads.
#[derive(Debug)]
#[repr(transparent)]
pub struct Output<'a, T>(*mut T, PhantomData<&'a mut T>);

/// A handle that C gives back to be freed, `T *`.
#[derive(Debug)]
#[repr(transparent)]
pub struct Returned<T>(Option<NonNull<T>>);

impl<T> Input<'_, T> {
    /// What is there, `None` if the pointer is NULL.
    pub(crate) fn optional<'h>(&self, _: &'h Handles) -> Option<&'h T> {
        // SAFETY: NULL, or a handle of this library that nobody frees or changes during the call, but this function
        // through an `Output`: that takes `Handles` exclusively, so it ends the life of this reference first.
        unsafe { self.0.as_ref() }
    }

    /// What must be there.
    pub(crate) fn given<'h>(&self, handles: &'h Handles, name: &str) -> Result<&'h T, Failure> {
        self.optional(handles).ok_or_else(|| Failure::argument(format!("{name} is NULL")))
    }
}

impl<T> Output<'_, T> {
    /// What is there, `None` if the pointer is NULL.
    pub(crate) fn optional<'h>(&self, _: &'h mut Handles) -> Option<&'h mut T> {
        // SAFETY: NULL, or a handle of this library that nobody else uses during the call. Every other reference to it
        // that this call has made has ended, because it had borrowed `Handles`.
        unsafe { self.0.as_mut() }
    }

    /// What must be there.
    pub(crate) fn given<'h>(
        &self,
        handles: &'h mut Handles,
        name: &str,
    ) -> Result<&'h mut T, Failure> {
        self.optional(handles).ok_or_else(|| Failure::argument(format!("{name} is NULL")))
    }
}

impl<T> Returned<T> {
    /// Frees what a function of this library has made, unless `is_kept` says that it is not to be freed.
    pub(crate) fn free_unless(self, is_kept: impl FnOnce(&T) -> bool) {
        let Some(pointer) = self.0 else { return };
        // SAFETY: a handle of this library that C has not freed and that nobody changes during the call.
        if is_kept(unsafe { pointer.as_ref() }) {
            return;
        }
        // SAFETY: the handle was made by `Box::into_raw`, C has not freed it, and gives it up with this call. The
        // reference above has ended.
        drop(unsafe { Box::from_raw(pointer.as_ptr()) });
    }
}

impl<'a> Text<'a> {
    #[cfg(feature = "broker")]
    pub(crate) const fn null() -> Self {
        Self(std::ptr::null(), PhantomData)
    }

    /// The text, `None` if the pointer is NULL.
    pub(crate) fn bytes(self) -> Option<&'a CStr> {
        // SAFETY: NULL, or a string that ends with a zero and stays as it is during the call: what
        // every function of the header asks of a `const char *`.
        (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) })
    }

    /// The text as UTF-8, `None` if the pointer is NULL.
    pub(crate) fn optional(self, name: &str) -> Result<Option<&'a str>, Failure> {
        let text = self.bytes().map(CStr::to_str).transpose();
        text.map_err(|error| Failure::new(tb_status::TB_ERR_TEXT, format!("{name}: {error}")))
    }

    /// The text as UTF-8, which must be there.
    pub(crate) fn get(self, name: &str) -> Result<&'a str, Failure> {
        self.optional(name)?.ok_or_else(|| Failure::argument(format!("{name} is NULL")))
    }
}

impl Buffer<'_> {
    /// Writes a text with the zero at its end and stores its length without that. Nothing is
    /// written to a buffer that is too small; of no size, it may be NULL.
    pub(crate) fn fill(
        self,
        text: &str,
        size: usize,
        length: Option<&mut MaybeUninit<usize>>,
    ) -> Result<(), Failure> {
        if let Some(length) = length {
            length.write(text.len());
        }
        if size <= text.len() {
            let detail = format!("a text of {} bytes and a zero, buffer of {size}", text.len());
            return Err(Failure::new(tb_status::TB_ERR_TRUNCATED, detail));
        }
        if self.0.is_null() {
            return Err(Failure::argument("buffer is NULL"));
        }
        // SAFETY: the caller has room for `size` bytes, which are more than these; the text is
        // ours and does not overlap.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), self.0.cast(), text.len());
            self.0.add(text.len()).write(0);
        }
        Ok(())
    }
}

impl<'a, T> List<'a, T> {
    /// `count` elements; none may be NULL.
    pub(crate) fn get(self, count: usize, name: &str) -> Result<&'a [T], Failure> {
        if count == 0 {
            return Ok(&[]);
        }
        if self.0.is_null() || count > isize::MAX as usize / size_of::<T>().max(1) {
            return Err(Failure::argument(format!(
                "{name}: {count} elements at NULL, or too many"
            )));
        }
        // SAFETY: the caller has `count` elements there, which stay as they are during the call.
        Ok(unsafe { std::slice::from_raw_parts(self.0, count) })
    }
}

impl<'a, T> Room<'a, T> {
    /// Writes as many as there is room for, and stores how many there are.
    pub(crate) fn fill(
        self,
        values: impl IntoIterator<Item = T>,
        capacity: usize,
        count: Option<&mut MaybeUninit<usize>>,
    ) -> Result<(), Failure> {
        if self.0.is_null() && capacity > 0 {
            return Err(Failure::argument("room for elements is NULL"));
        }
        let mut found = 0;
        for value in values {
            if found < capacity {
                // SAFETY: the caller has room for `capacity` elements.
                unsafe { self.0.add(found).write(value) }
            }
            found += 1;
        }
        match count {
            Some(count) => _ = count.write(found),
            None if found > capacity => {
                let detail =
                    format!("{found} elements, room for {capacity}, and no count to say so");
                return Err(Failure::new(tb_status::TB_ERR_TRUNCATED, detail));
            }
            None => {}
        }
        Ok(())
    }
}

/// The loaded hwloc topology of a caller, `None` if the pointer is NULL.
#[cfg(feature = "broker")]
pub(crate) fn borrow_topology<'a>(
    topology: *mut std::ffi::c_void,
) -> Option<topobroker::hwloc::HwlocTopology<'a>> {
    // SAFETY: NULL, or a loaded topology of the hwloc that this library is linked to, which the caller
    // leaves as it is during the call.
    (!topology.is_null()).then(|| unsafe { topobroker::hwloc::HwlocTopology::borrow_raw(topology) })
}

/// What C does, for tests of the interface itself.
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
