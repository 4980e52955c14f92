//! The classes that make each other. Their methods are in files of their own, which import from
//! here.

use crate::failure::wrong_value;
use crate::kept::{Kept, OfObject, OfTopology};
use pyo3::prelude::*;
use topobroker_reader::{Depth, Object, ObjectType, Topology, TypeDepth, TypeName};

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

    pub(crate) fn find(
        &self,
        of: impl for<'a> FnOnce(Topology<'a>) -> Option<Object<'a>>,
    ) -> Option<PyObject> {
        self.0.find(|topology| of(*topology)).map(PyObject)
    }

    pub(crate) fn ids(&self, of: impl for<'a> FnOnce(Topology<'a>) -> Vec<u32>) -> PyObjects {
        let ids = self.0.ask(|topology| of(*topology));
        PyObjects { topology: self.0.clone(), members: Members::Ids(ids) }
    }

    pub(crate) fn of_type(&self, wanted: TypeName) -> PyObjects {
        let has_details = wanted.group_depth.is_some() || wanted.os_device_kind.is_some();
        match self.0.ask(|topology| topology.type_depth(wanted.object_type)) {
            TypeDepth::Depth(depth) if !has_details => {
                PyObjects { topology: self.0.clone(), members: Members::Level(depth) }
            }
            _ => self.ids(|topology| {
                let all = topology.objects_with_type(wanted.object_type);
                all.filter(|object| wanted.matches(*object)).map(Object::id).collect()
            }),
        }
    }

    pub(crate) fn of_plain_type(&self, object_type: ObjectType) -> PyObjects {
        self.of_type(TypeName { object_type, group_depth: None, os_device_kind: None })
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
