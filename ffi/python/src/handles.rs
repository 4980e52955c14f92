//! The classes that make each other. Their methods are in files of their own, which import from
//! here.

use crate::failure::wrong_value;
use crate::kept::{Kept, OfObject, OfTopology};
use pyo3::prelude::*;
use topobroker_reader::{Depth, Object};

/// A node's topology, or a view of it. Counterpart: `hwloc_topology_t`.
///
/// `topobroker.adopt()` returns the one that is published on this node.
#[pyclass(frozen, name = "Topology", module = "topobroker")]
pub(crate) struct PyTopology(pub(crate) Kept<OfTopology>);

/// An object of a topology: a machine, package, core, PU, cache, NUMA node or device. Counterpart:
/// `hwloc_obj_t`. Two are equal if they are the same object of the same topology, even in different
/// views.
#[pyclass(frozen, name = "Object", module = "topobroker")]
pub(crate) struct PyObject(pub(crate) Kept<OfObject>);

/// A sequence of objects. It is not made ahead: it has a length, indexes and slices.
#[pyclass(frozen, name = "Objects", module = "topobroker", sequence)]
pub(crate) struct PyObjects {
    pub(crate) topology: Kept<OfTopology>,
    pub(crate) members: Members,
}

/// Which objects a sequence has.
#[derive(Clone)]
pub(crate) enum Members {
    /// Those of a level.
    Level(Depth),
    /// All.
    All,
    /// Those with these numbers.
    Ids(Vec<u32>),
}

impl PyTopology {
    /// Number of an object, which must be of this topology or view.
    pub(crate) fn own_id(&self, object: &PyObject) -> PyResult<u32> {
        self.0.own_id(object)
    }
}

impl Kept<OfTopology> {
    /// Number of an object, which must be of this topology or view.
    pub(crate) fn own_id(&self, object: &PyObject) -> PyResult<u32> {
        let id = self.ask_with(&object.0, |topology, object| {
            topology.object(object.id()).filter(|own| own == object).map(Object::id)
        });
        id.ok_or_else(|| {
            wrong_value(format!("{} is not of this topology or view", object.__repr__()))
        })
    }
}
