//! Which interpreter of a process the module is in. Its classes are made once in a process, so a
//! second interpreter would share them with the first, and outlive it or not.

use pyo3::exceptions::PyImportError;
use pyo3::ffi::{PyInterpreterState_Get, PyInterpreterState_GetID};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicI64, Ordering};

/// No interpreter has this id.
const NONE: i64 = -1;

/// Refuses all interpreters but the first one that imports the module.
pub(crate) fn refuse_others(_: Python<'_>) -> PyResult<()> {
    static FIRST: AtomicI64 = AtomicI64::new(NONE);
    // SAFETY: this thread is attached to an interpreter, as the argument shows.
    let own = unsafe { PyInterpreterState_GetID(PyInterpreterState_Get()) };
    match FIRST.compare_exchange(NONE, own, Ordering::AcqRel, Ordering::Acquire) {
        Err(first) if first != own => Err(PyImportError::new_err(
            "topobroker is in another interpreter of this process already; import it there alone",
        )),
        _ => Ok(()),
    }
}
