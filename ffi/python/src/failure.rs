//! Errors as Python's exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError};
use pyo3::prelude::*;
use std::error::Error;
use std::io;
use std::path::Path;
use topobroker_process::with_causes;

create_exception!(
    topobroker,
    TopobrokerError,
    PyException,
    "Something of topobroker failed. The text names the file or value, what was found and what \
     was expected."
);
create_exception!(
    topobroker,
    AdoptError,
    TopobrokerError,
    "Nothing is published to this process, or what is published is refused."
);

/// An error of what is asked.
pub(crate) fn failed(error: impl Error) -> PyErr {
    TopobrokerError::new_err(with_causes(&error))
}

/// An error of adoption.
pub(crate) fn not_adopted(error: impl Error) -> PyErr {
    AdoptError::new_err(with_causes(&error))
}

/// A file that cannot be opened, as the exception of Python that has its name, or that is damaged.
pub(crate) fn of_file<T, E: Error>(file: &Path, opened: io::Result<Result<T, E>>) -> PyResult<T> {
    match opened {
        Ok(Ok(opened)) => Ok(opened),
        Ok(Err(error)) => {
            Err(TopobrokerError::new_err(format!("{}: {}", file.display(), with_causes(&error))))
        }
        Err(error) => match error.raw_os_error() {
            // Python chooses the class by the number.
            Some(number) => {
                let said = io::Error::from_raw_os_error(number).to_string();
                let said = said.split(" (os error").next().unwrap_or_default().to_owned();
                Err(PyOSError::new_err((number, said, file.as_os_str().to_owned())))
            }
            None => Err(TopobrokerError::new_err(format!("{}: {error}", file.display()))),
        },
    }
}

/// An argument of a wrong value.
pub(crate) fn wrong_value(text: impl Into<String>) -> PyErr {
    pyo3::exceptions::PyValueError::new_err(text.into())
}
