//! Functions that answer a question: what they need, and where the answer goes.

use crate::failure::Failure;
use crate::given::Given;
use crate::pointers::{Handles, Input, Text};

/// The body of a function that stores one result: `answer!(count, |topology, set| ...)`. The
/// arguments that are named before the expression must not be NULL; in it, a topology and a set are
/// those that it stands for. The expression may use `?`.
///
/// `count` is where the result goes, an [`Out`](crate::pointers::Out). `*set` is a set that becomes
/// the result. `objs(capacity, count)` are filled with it: an array, a text or a struct of the
/// caller, with the arguments that go with it.
macro_rules! answer {
    (*$set:ident, || $value:expr) => { answer!(@set $set, [], $value) };
    (*$set:ident, |$($read:ident),*| $value:expr) => { answer!(@set $set, [$($read),*], $value) };
    (@set $set:ident, [$($read:ident),*], $value:expr) => {
        $crate::call::call_with(|handles| {
            let value = {
                $(let $read = $crate::answer::Argument::read(&$read, handles, stringify!($read))?;)*
                $value
            };
            $set.given(handles, stringify!($set))?.0 = value;
            Ok(())
        })
    };
    ($out:ident, || $value:expr) => { answer!(@out $out, [], $value) };
    ($out:ident, |$($read:ident),*| $value:expr) => { answer!(@out $out, [$($read),*], $value) };
    (@out $out:ident, [$($read:ident),*], $value:expr) => {
        $crate::call::call_with(|_handles| {
            let $out = $crate::given::Given::given($out, stringify!($out))?;
            $(let $read = $crate::answer::Argument::read(&$read, _handles, stringify!($read))?;)*
            $out.write($value);
            Ok(())
        })
    };
    ($room:ident($($with:ident),+), || $value:expr) => {
        $crate::call::call(|| $room.fill($value, $($with),+))
    };
    ($room:ident($($with:ident),+), |$($read:ident),*| $value:expr) => {
        $crate::call::call_with(|_handles| {
            $(let $read = $crate::answer::Argument::read(&$read, _handles, stringify!($read))?;)*
            $room.fill($value, $($with),+)
        })
    };
}
pub(crate) use answer;

/// An argument of [`answer`] that must not be NULL.
pub(crate) trait Argument<'h> {
    type Read;
    /// What the argument stands for. NULL is TB_ERR_ARGUMENT.
    fn read(&self, handles: &'h Handles, name: &str) -> Result<Self::Read, Failure>;
}

/// A handle of C.
pub(crate) trait Handle {
    type Means<'h>
    where
        Self: 'h;
    /// What the handle stands for.
    fn means(&self) -> Self::Means<'_>;
}

impl<'h, 'a: 'h, T: Handle> Argument<'h> for Option<&'a T> {
    type Read = T::Means<'a>;

    fn read(&self, _: &'h Handles, name: &str) -> Result<Self::Read, Failure> {
        Ok(self.given(name)?.means())
    }
}

impl<'h, T: Handle + 'h> Argument<'h> for Input<'_, T> {
    type Read = T::Means<'h>;

    fn read(&self, handles: &'h Handles, name: &str) -> Result<Self::Read, Failure> {
        Ok(self.given(handles, name)?.means())
    }
}

impl<'h, 'a> Argument<'h> for Text<'a> {
    type Read = &'a str;

    fn read(&self, _: &'h Handles, name: &str) -> Result<&'a str, Failure> {
        self.get(name)
    }
}

/// Handles that stand for nothing but themselves.
macro_rules! means_itself {
    ($($handle:ident),+) => {
        $(impl $crate::answer::Handle for $handle {
            type Means<'h> = &'h Self;

            fn means(&self) -> &Self {
                self
            }
        })+
    };
}
pub(crate) use means_itself;
