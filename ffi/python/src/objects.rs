//! Sequences of objects.

use crate::failure::wrong_value;
use crate::handles::{Members, PyObject, PyObjects};
use crate::kept::{Kept, OfObject, OfObjects, OfTopology};
use parking_lot::Mutex;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PySliceMethods};
use std::sync::atomic::{AtomicUsize, Ordering};
use topobroker_reader::Topology;

impl Members {
    fn len(&self, topology: Topology<'_>) -> usize {
        match self {
            Self::Level(depth) => topology.objects_at_depth(*depth).len(),
            Self::All => topology.objects().len(),
            Self::Ids(ids) => ids.len(),
        }
    }
}

impl PyObjects {
    fn at(&self, index: usize) -> Option<PyObject> {
        let found: Option<Kept<OfObject>> = self.topology.find(|topology| match &self.members {
            Members::Level(depth) => topology.objects_at_depth(*depth).nth(index),
            Members::All => topology.objects().nth(index),
            Members::Ids(ids) => topology.object(*ids.get(index)?),
        });
        found.map(PyObject)
    }
}

#[pymethods]
impl PyObjects {
    fn __len__(&self) -> usize {
        self.topology.ask(|topology| self.members.len(*topology))
    }

    fn __getitem__<'py>(&self, place: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, count) = (place.py(), self.__len__());
        if let Ok(slice) = place.cast::<PySlice>() {
            let asked = slice.indices(isize::try_from(count)?)?;
            let steps = (0..asked.slicelength).map(|step| {
                let place = asked.start + asked.step * isize::try_from(step).unwrap_or(0);
                self.at(place.unsigned_abs())
            });
            return steps.flatten().collect::<Vec<_>>().into_pyobject(py);
        }
        let asked: isize = place.extract()?;
        let place = if asked < 0 { asked.saturating_add_unsigned(count) } else { asked };
        let found = usize::try_from(place).ok().and_then(|place| self.at(place));
        let found =
            found.ok_or_else(|| PyIndexError::new_err(format!("object {asked} of {count}")))?;
        Ok(found.into_pyobject(py)?.into_any())
    }

    fn __iter__(&self) -> ObjectsIterator {
        let walk = match &self.members {
            Members::Level(depth) => {
                Walk::Level(self.topology.map(|it| Mutex::new(it.objects_at_depth(*depth))))
            }
            Members::All => Walk::Level(self.topology.map(|it| Mutex::new(it.objects()))),
            Members::Ids(ids) => Walk::Ids {
                topology: self.topology.clone(),
                ids: ids.clone(),
                next: AtomicUsize::new(0),
            },
        };
        ObjectsIterator(walk)
    }

    /// The place of an object; ValueError if it is not in the sequence.
    fn index(&self, object: &PyObject) -> PyResult<usize> {
        let place = (0..self.__len__()).find(|place| {
            self.at(*place).is_some_and(|own| own.0.ask_with(&object.0, |own, it| own == it))
        });
        place.ok_or_else(|| wrong_value(format!("{} is not in the sequence", object.__repr__())))
    }

    /// How often an object is in the sequence: once or not at all.
    fn count(&self, object: &Bound<'_, PyAny>) -> usize {
        usize::from(self.__contains__(object))
    }

    fn __contains__(&self, object: &Bound<'_, PyAny>) -> bool {
        let Ok(object) = object.cast::<PyObject>() else { return false };
        let object = object.get();
        self.topology.ask_with(&object.0, |topology, object| {
            let is_here = topology.object(object.id()).is_some_and(|own| own == *object);
            is_here
                && match &self.members {
                    Members::Level(depth) => object.depth() == *depth,
                    Members::All => true,
                    Members::Ids(ids) => ids.contains(&object.id()),
                }
        })
    }

    fn __repr__(&self) -> PyResult<String> {
        /// More objects than this are not named.
        const MOST: usize = 4;
        let count = self.__len__();
        let named = (0..count.min(MOST)).filter_map(|place| self.at(place));
        let mut names: Vec<String> =
            named.map(|object| object.0.ask(|it| format!("{it:?}"))).collect();
        if count > MOST {
            names.push("...".to_owned());
        }
        Ok(format!("<{count} Objects: {}>", names.join(", ")))
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _seen: Py<PyAny>) -> Py<Self> {
        slf
    }
}

/// Iterator over a sequence of objects.
#[pyclass(frozen, module = "topobroker")]
pub(crate) struct ObjectsIterator(Walk);

enum Walk {
    Level(Kept<OfObjects>),
    Ids { topology: Kept<OfTopology>, ids: Vec<u32>, next: AtomicUsize },
}

#[pymethods]
impl ObjectsIterator {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self) -> Option<PyObject> {
        let found: Option<Kept<OfObject>> = match &self.0 {
            Walk::Level(objects) => objects.find(|objects| objects.lock().next()),
            Walk::Ids { topology, ids, next } => {
                let id = *ids.get(next.fetch_add(1, Ordering::Relaxed))?;
                topology.find(|topology| topology.object(id))
            }
        };
        found.map(PyObject)
    }
}
