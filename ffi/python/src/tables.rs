//! Distances, memory attributes and kinds of CPUs.

use crate::failure::wrong_value;
use crate::handles::PyObject;
use crate::kept::{Kept, OfObject, OfTopology};
use crate::set::{AnySet, PySet};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use topobroker_reader::{CpuKind, Distances, Initiator, MemoryAttribute, Set, Topology};

/// A matrix of values between objects. Counterpart: `struct hwloc_distances_s`.
///
/// `numpy.asarray(distances)` shows the archive itself, without a copy, where it has the values in
/// rows.
#[pyclass(frozen, name = "Distances", module = "topobroker")]
pub(crate) struct PyDistances {
    topology: Kept<OfTopology>,
    number: usize,
}

impl PyDistances {
    pub(crate) fn new(topology: Kept<OfTopology>, number: usize) -> Self {
        Self { topology, number }
    }

    fn ask<R>(&self, question: impl for<'a> FnOnce(Distances<'a>) -> R) -> PyResult<R> {
        self.topology
            .ask(|topology| topology.distances().nth(self.number).map(question))
            .ok_or_else(|| wrong_value("no such matrix"))
    }
}

#[pymethods]
impl PyDistances {
    /// Name, such as "NUMALatency"; None if it has none.
    #[getter]
    fn name(&self) -> PyResult<Option<String>> {
        self.ask(|matrix| matrix.name().map(str::to_owned))
    }

    /// Sum of hwloc's HWLOC_DISTANCES_KIND_*.
    #[getter]
    fn kind(&self) -> PyResult<u64> {
        self.ask(|it| it.kind())
    }

    /// The objects, in the order of rows and columns.
    #[getter]
    fn objects(&self) -> Vec<PyObject> {
        let objects = self.topology.each(|topology| {
            let matrix = topology.distances().nth(self.number);
            matrix.into_iter().flat_map(Distances::objects).collect()
        });
        objects.into_iter().map(PyObject).collect()
    }

    /// The values, a list for each row.
    #[getter]
    fn values(&self) -> PyResult<Vec<Vec<u64>>> {
        self.ask(|matrix| {
            let count = matrix.objects().count();
            let row = |from| (0..count).filter_map(|to| matrix.value(from, to)).collect();
            (0..count).map(row).collect()
        })
    }

    /// The value from one object to another; None if one of them is not in the matrix.
    fn between(&self, one: &PyObject, other: &PyObject) -> PyResult<Option<u64>> {
        let place = |object: &PyObject| {
            let id = self.topology.own_id(object)?;
            self.ask(|matrix| matrix.objects().position(|it| it.id() == id))
        };
        match (place(one)?, place(other)?) {
            (Some(from), Some(to)) => self.ask(|matrix| matrix.value(from, to)),
            _ => Ok(None),
        }
    }

    /// What numpy makes an array of.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        let count = self.ask(|matrix| matrix.objects().count())?;
        interface.set_item("shape", (count, count))?;
        let stored = self.ask(|matrix| {
            matrix.stored_values().map(|(bytes, width)| (bytes.as_ptr().addr(), width))
        })?;
        match stored {
            Some((address, width)) => {
                interface.set_item("typestr", format!("<u{width}"))?;
                interface.set_item("data", (address, true))?;
            }
            None => {
                let values = self.values()?.into_iter().flatten();
                let bytes: Vec<u8> = values.flat_map(u64::to_le_bytes).collect();
                interface.set_item("typestr", "<u8")?;
                interface.set_item("data", PyBytes::new(py, &bytes))?;
            }
        }
        Ok(interface)
    }

    fn __repr__(&self) -> PyResult<String> {
        self.ask(|matrix| {
            let name = matrix.name().unwrap_or("unnamed");
            format!("<Distances {name} of {} objects>", matrix.objects().count())
        })
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _seen: Py<PyAny>) -> Py<Self> {
        slf
    }
}

/// An attribute of memory, such as "Bandwidth" or "Latency". Counterpart: `hwloc_memattr_id_t`.
#[pyclass(frozen, name = "MemoryAttribute", module = "topobroker")]
pub(crate) struct PyMemoryAttribute {
    topology: Kept<OfTopology>,
    id: usize,
}

/// From where a value is asked: PUs, or an object.
enum From {
    Nowhere,
    Cpus(Set),
    Object(u32),
}

impl From {
    fn extract(topology: &Kept<OfTopology>, given: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        Ok(match given {
            None => Self::Nowhere,
            Some(given) => match given.cast::<PyObject>() {
                Ok(object) => Self::Object(topology.own_id(object.get())?),
                Err(_) => Self::Cpus(given.extract::<AnySet>()?.clone()),
            },
        })
    }

    fn initiator(self, topology: Topology<'_>) -> Initiator<'_> {
        match self {
            Self::Nowhere => Initiator::None,
            Self::Cpus(set) => Initiator::Cpuset(set),
            Self::Object(id) => topology.object(id).map_or(Initiator::None, Initiator::Object),
        }
    }
}

impl PyMemoryAttribute {
    pub(crate) fn new(topology: Kept<OfTopology>, id: usize) -> Self {
        Self { topology, id }
    }

    fn ask<R>(&self, question: impl for<'a> FnOnce(MemoryAttribute<'a>) -> R) -> PyResult<R> {
        self.topology
            .ask(|topology| topology.memory_attributes().nth(self.id).map(question))
            .ok_or_else(|| wrong_value("no such attribute"))
    }

    fn object(&self, id: u32) -> Option<PyObject> {
        let found: Option<Kept<OfObject>> = self.topology.find(|topology| topology.object(id));
        found.map(PyObject)
    }
}

#[pymethods]
impl PyMemoryAttribute {
    /// Name, such as "Bandwidth".
    #[getter]
    fn name(&self) -> PyResult<String> {
        self.ask(|attribute| attribute.name().to_owned())
    }

    /// Sum of hwloc's HWLOC_MEMATTR_FLAG_*.
    #[getter]
    fn flags(&self) -> PyResult<u64> {
        self.ask(|it| it.flags())
    }

    /// Whether its values depend on the place from which the memory is used.
    #[getter]
    fn needs_initiator(&self) -> PyResult<bool> {
        self.ask(|it| it.needs_initiator())
    }

    /// The value of a NUMA node in bytes, PUs, MiB/s or nanoseconds, from some PUs or an object;
    /// None if unknown. Counterpart: `hwloc_memattr_get_value`.
    #[pyo3(signature = (target, initiator = None))]
    fn value(
        &self,
        target: &PyObject,
        initiator: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<u64>> {
        let from = From::extract(&self.topology, initiator)?;
        let target = self.topology.own_id(target)?;
        Ok(self.topology.ask(|topology| {
            let attribute = topology.memory_attributes().nth(self.id)?;
            attribute.value(topology.object(target)?, &from.initiator(*topology))
        }))
    }

    /// The best NUMA node from some PUs or an object, with its value; None if unknown. Counterpart:
    /// `hwloc_memattr_get_best_target`.
    #[pyo3(signature = (initiator = None))]
    fn best_target(
        &self,
        initiator: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<(PyObject, u64)>> {
        let from = From::extract(&self.topology, initiator)?;
        let best = self.topology.ask(|topology| {
            let attribute = topology.memory_attributes().nth(self.id)?;
            let (target, value) = attribute.best_target(&from.initiator(*topology))?;
            Some((target.id(), value))
        });
        Ok(best.and_then(|(id, value)| Some((self.object(id)?, value))))
    }

    fn __repr__(&self) -> PyResult<String> {
        self.ask(|attribute| format!("<MemoryAttribute {}>", attribute.name()))
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _seen: Py<PyAny>) -> Py<Self> {
        slf
    }
}

/// A kind of CPUs, such as performance cores. Counterpart: `hwloc_cpukinds_get_info`.
#[pyclass(frozen, get_all, name = "CpuKind", module = "topobroker")]
pub(crate) struct PyCpuKind {
    /// Its PUs.
    cpuset: Py<PySet>,
    /// Its rank from 0, the least efficient; None if unknown.
    efficiency: Option<u32>,
    /// Names and values of its infos, such as of "CoreType".
    infos: Vec<(String, String)>,
}

#[pymethods]
impl PyCpuKind {
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _seen: Py<PyAny>) -> Py<Self> {
        slf
    }
}

impl PyCpuKind {
    pub(crate) fn of(kind: CpuKind<'_>) -> PyResult<Self> {
        let infos = kind.infos().map(|info| (info.name.to_owned(), info.value.to_owned()));
        let cpuset = Python::attach(|py| Py::new(py, PySet(kind.cpuset())))?;
        Ok(Self { cpuset, efficiency: kind.efficiency(), infos: infos.collect() })
    }
}
