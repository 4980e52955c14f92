//! Objects of a topology.

use crate::failure::wrong_value;
use crate::handles::{Members, PyObject, PyObjects, PyTopology};
use crate::set::{AnySet, PySet};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::hash::{DefaultHasher, Hash, Hasher};
use topobroker_layout::archive::INDEX_LIMIT;
use topobroker_reader::devices::{LinkState, NetworkId};
use topobroker_reader::{AttributeValue, Info, Object, ObjectType, Set, TypeName};

/// A type as Python names it.
pub(crate) fn type_named(name: &str) -> PyResult<TypeName> {
    TypeName::parse(name).ok_or_else(|| {
        wrong_value(format!(
            "{name:?} is no type; expected one of hwloc, such \
             as \"package\", \"core\", \"L3\", \"gpu\" or \"net\""
        ))
    })
}

impl PyObject {
    fn find(&self, of: impl for<'a> FnOnce(Object<'a>) -> Option<Object<'a>>) -> Option<Self> {
        self.0.find(|object| of(*object)).map(Self)
    }

    fn each(&self, of: impl for<'a> FnOnce(Object<'a>) -> Vec<Object<'a>>) -> Vec<Self> {
        self.0.each(|object| of(*object)).into_iter().map(Self).collect()
    }

    fn set(&self, of: impl for<'a> FnOnce(Object<'a>) -> Option<Set>) -> Option<PySet> {
        self.0.ask(|object| of(*object)).map(PySet)
    }

    /// A text of the object, as Python's.
    fn text<'py>(
        &self,
        py: Python<'py>,
        of: impl for<'a> FnOnce(Object<'a>) -> Option<&'a str>,
    ) -> Option<Bound<'py, pyo3::types::PyString>> {
        self.0.ask(|object| of(*object).map(|text| pyo3::types::PyString::new(py, text)))
    }
}

/// Any iterable of objects.
pub(crate) struct Given(pub(crate) Vec<Py<PyObject>>);

impl<'py> FromPyObject<'_, 'py> for Given {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let given = within(INDEX_LIMIT as usize, "objects", &given)?;
        let each = given.into_iter().map(|object| Ok(object.cast_into::<PyObject>()?.unbind()));
        each.collect::<PyResult<_>>().map(Self)
    }
}

/// What Python gives in turn, `most` of them at most. It is not asked how many there are: what it
/// says may be wrong, or more than there is memory for.
pub(crate) fn within<'py>(
    most: usize,
    what: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let mut found = Vec::new();
    for one in given.try_iter()? {
        if found.len() == most {
            return Err(wrong_value(format!("more than {most} {what}; expected {most} at most")));
        }
        found.push(one?);
    }
    Ok(found)
}

/// Names and values, in their order: a name may be there twice.
pub(crate) fn pairs<'a>(infos: impl Iterator<Item = Info<'a>>) -> Vec<(&'a str, &'a str)> {
    infos.map(|info| (info.name, info.value)).collect()
}

#[pymethods]
impl PyObject {
    /// Name of the type: "Core", "NUMANode", "L3Cache". Counterpart: `type`.
    #[getter]
    fn r#type(&self) -> &'static str {
        self.0.ask(|object| object.object_type().name())
    }

    /// Name of the type with details: "L1d", "Group0", "PCIBridge", "GPU". Counterpart:
    /// `hwloc_obj_type_snprintf`.
    #[getter]
    fn type_name(&self) -> String {
        self.0.ask(|object| object.type_name(false))
    }

    /// Number of the object in its topology, the same in every process and view.
    #[getter]
    fn id(&self) -> u32 {
        self.0.ask(|object| object.id())
    }

    /// Depth in the tree; negative for types outside it, as in hwloc.
    #[getter]
    fn depth(&self) -> i32 {
        self.0.ask(|object| object.depth().raw())
    }

    /// Index among the objects of its level.
    #[getter]
    fn logical_index(&self) -> u32 {
        self.0.ask(|object| object.logical_index())
    }

    /// Number that the operating system gave; None if it has none.
    #[getter]
    fn os_index(&self) -> Option<u32> {
        self.0.ask(|object| object.os_index())
    }

    /// Number that stays the same if the topology is restricted. Counterpart: `gp_index`.
    #[getter]
    fn gp_index(&self) -> u64 {
        self.0.ask(|object| object.gp_index())
    }

    /// Name, such as "mlx5_0" of a device; None if it has none.
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> Option<Bound<'py, pyo3::types::PyString>> {
        self.text(py, |object| object.name())
    }

    /// A more precise type, such as "NVSwitch"; None if it has none.
    #[getter]
    fn subtype<'py>(&self, py: Python<'py>) -> Option<Bound<'py, pyo3::types::PyString>> {
        self.text(py, |object| object.subtype())
    }

    /// Names and values of its infos. A name may be there twice. Counterpart: `infos`.
    #[getter]
    fn infos<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.0.ask(|object| PyList::new(py, pairs(object.infos())))
    }

    /// The value of its first info of a name; None if it has none. Counterpart:
    /// `hwloc_obj_get_info_by_name`.
    fn info<'py>(&self, py: Python<'py>, name: &str) -> Option<Bound<'py, pyo3::types::PyString>> {
        self.text(py, |object| object.info(name))
    }

    /// Names and values of what the publisher found out and hwloc does not know.
    #[getter]
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.0.ask(|object| PyList::new(py, pairs(object.facts())))
    }

    /// The value of its first fact of a name; None if it has none.
    fn fact<'py>(&self, py: Python<'py>, name: &str) -> Option<Bound<'py, pyo3::types::PyString>> {
        self.text(py, |object| object.fact(name))
    }

    /// Attributes of its type by name, such as "size" of a cache in bytes. Counterpart: `attr`.
    #[getter]
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.0.ask(|object| attributes(py, *object))
    }

    /// Memory of the NUMA nodes below it in bytes. Counterpart: `total_memory`.
    #[getter]
    fn total_memory(&self) -> u64 {
        self.0.ask(|object| object.total_memory())
    }

    /// Indexes of its PUs; None for devices and Misc objects.
    #[getter]
    fn cpuset(&self) -> Option<PySet> {
        self.set(|object| object.cpuset())
    }

    /// Indexes of the NUMA nodes near it; None for devices and Misc objects.
    #[getter]
    fn nodeset(&self) -> Option<PySet> {
        self.set(|object| object.nodeset())
    }

    /// As cpuset, with PUs that are not allowed or offline.
    #[getter]
    fn complete_cpuset(&self) -> Option<PySet> {
        self.set(|object| object.complete_cpuset())
    }

    /// As nodeset, with NUMA nodes that are not allowed or offline.
    #[getter]
    fn complete_nodeset(&self) -> Option<PySet> {
        self.set(|object| object.complete_nodeset())
    }

    /// The topology or view that it is of.
    #[getter]
    fn topology(&self) -> PyTopology {
        PyTopology(self.0.map(|object| object.topology()))
    }

    /// The object above it; None for the machine.
    #[getter]
    fn parent(&self) -> Option<Self> {
        self.find(|object| object.parent())
    }

    /// The objects directly below it, without memory, devices and Misc objects.
    #[getter]
    fn children(&self) -> Vec<Self> {
        self.each(|object| object.children().collect())
    }

    /// NUMA nodes and memory-side caches that are attached to it.
    #[getter]
    fn memory_children(&self) -> Vec<Self> {
        self.each(|object| object.memory_children().collect())
    }

    /// Bridges and devices that are attached to it.
    #[getter]
    fn io_children(&self) -> Vec<Self> {
        self.each(|object| object.io_children().collect())
    }

    /// Misc objects that are attached to it.
    #[getter]
    fn misc_children(&self) -> Vec<Self> {
        self.each(|object| object.misc_children().collect())
    }

    /// The objects above it, the nearest first.
    #[getter]
    fn ancestors(&self) -> Vec<Self> {
        self.each(|object| object.ancestors().collect())
    }

    /// It and all objects below it, each before those below itself.
    #[getter]
    fn subtree(&self) -> Vec<Self> {
        self.each(|object| object.subtree().collect())
    }

    /// Its place among its siblings.
    #[getter]
    fn sibling_rank(&self) -> u32 {
        self.0.ask(|object| object.sibling_rank())
    }

    /// The next object of its level; None for the last.
    #[getter]
    fn next_cousin(&self) -> Option<Self> {
        self.find(|object| object.next_cousin())
    }

    /// The object before it in its level; None for the first.
    #[getter]
    fn prev_cousin(&self) -> Option<Self> {
        self.find(|object| object.prev_cousin())
    }

    /// The object of the tree of CPUs that it is attached to, or itself. Counterpart:
    /// `hwloc_get_non_io_ancestor_obj`.
    #[getter]
    fn non_io_ancestor(&self) -> Self {
        Self(self.0.map(|object| object.non_io_ancestor()))
    }

    /// The nearest object above it of a type, such as "package"; None if there is none.
    fn ancestor(&self, r#type: &str) -> PyResult<Option<Self>> {
        let wanted = type_named(r#type)?;
        Ok(self.find(|object| object.ancestors().find(|above| wanted.matches(*above))))
    }

    /// The objects of a type below it.
    fn objects(&self, r#type: &str) -> PyResult<PyObjects> {
        let wanted = type_named(r#type)?;
        let ids = self.0.ask(|object| {
            let below = object.subtree().skip(1).filter(|below| wanted.matches(*below));
            below.map(Object::id).collect()
        });
        let topology = self.0.map(|object| object.topology());
        Ok(PyObjects { topology, members: Members::Ids(ids) })
    }

    /// The lowest object that has both below it or is one of them.
    fn common_ancestor(&self, other: &Self) -> PyResult<Self> {
        let id = self.0.ask_with(&other.0, |one, other| {
            let is_same = one.topology().root() == other.topology().root();
            is_same.then(|| one.common_ancestor(*other).id())
        });
        let id = id.ok_or_else(|| wrong_value("objects of two topologies"))?;
        self.find(|object| object.topology().object(id))
            .ok_or_else(|| wrong_value("an object that this view hides"))
    }

    /// Whether all of its PUs are in a set.
    fn is_inside(&self, cpus: AnySet) -> bool {
        self.0.ask(|object| object.is_inside(&cpus))
    }

    /// Whether some of its PUs are in a set.
    fn intersects(&self, cpus: AnySet) -> bool {
        self.0.ask(|object| object.intersects(&cpus))
    }

    /// PCI bus id, such as "0000:41:00.0"; None if it is on no PCI device.
    #[getter]
    fn bus_id(&self) -> Option<String> {
        self.0.ask(|object| Some(object.bus_id()?.to_string()))
    }

    /// Whether it is ready for messages: True, False, or None if it is unknown.
    #[getter]
    fn link_is_active(&self) -> Option<bool> {
        match self.0.ask(|object| object.link_state()) {
            LinkState::Active => Some(true),
            LinkState::Inactive => Some(false),
            LinkState::Unknown => None,
        }
    }

    /// Rate of a NIC in Mb/s; None if unknown.
    #[getter]
    fn link_mbps(&self) -> Option<u64> {
        self.0.ask(|object| object.link_mbps())
    }

    /// The network of a NIC, such as "InfiniBand fe80:0000:0000:0000"; None if it is no NIC.
    #[getter]
    fn network(&self) -> Option<String> {
        self.0.ask(|object| NetworkId::of(*object).map(|id| id.to_string()))
    }

    /// IP subnets of a NIC, such as "10.1.0.0/16".
    #[getter]
    fn ip_subnets(&self) -> Vec<String> {
        self.0.ask(|object| object.ip_subnets().map(str::to_owned).collect())
    }

    /// UUID of a GPU; None if unknown.
    #[getter]
    fn uuid<'py>(&self, py: Python<'py>) -> Option<Bound<'py, pyo3::types::PyString>> {
        self.text(py, |object| object.gpu_uuid())
    }

    /// UUIDs of the MIG instances of a GPU; none if it is whole.
    #[getter]
    fn mig_instances(&self) -> Vec<String> {
        self.0.ask(|object| object.mig_instances().map(str::to_owned).collect())
    }

    /// The NVLink domain over nodes that a GPU is in; None if it is in none.
    #[getter]
    fn nvlink_domain<'py>(&self, py: Python<'py>) -> Option<Bound<'py, pyo3::types::PyString>> {
        self.text(py, |object| object.nvlink_domain())
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0.ask_with(&other.0, |one, other| one == other)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.id().hash(&mut hasher);
        hasher.finish()
    }

    fn __str__(&self) -> String {
        self.0.ask(|object| format!("{} L#{}", object.type_name(false), object.logical_index()))
    }

    pub(crate) fn __repr__(&self) -> String {
        let name = self.0.ask(|object| object.name().map(|name| format!(" {name:?}")));
        let os_index = self.os_index().map(|index| format!(" P#{index}"));
        format!(
            "<Object {self}{os_index}{name}>",
            self = self.__str__(),
            os_index = os_index.unwrap_or_default(),
            name = name.unwrap_or_default()
        )
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<crate::adopt::Pickled<'py>> {
        let segment = crate::adopt::segment_of(&self.0).ok_or_else(|| {
            PyTypeError::new_err("only objects of the adopted topology can be pickled; send its id")
        })?;
        let make = py.import("topobroker._topobroker")?.getattr("_unpickled")?;
        let is_whole = self.0.ask(|object| crate::adopt::is_whole(object.topology()));
        Ok((make, (segment, Some(self.id()), !is_whole)))
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _seen: Py<PyAny>) -> Py<Self> {
        slf
    }
}

/// Attributes by their names in hwloc.
fn attributes<'py>(py: Python<'py>, object: Object<'_>) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let mut result = Ok(());
    object.attributes().each(&mut |name, value| {
        if result.is_err() {
            return;
        }
        result = match value {
            AttributeValue::Number(number) => found.set_item(name, number),
            AttributeValue::Signed(number) => found.set_item(name, number),
            AttributeValue::PciId(id) => found.set_item(name, id),
            AttributeValue::BusId(bus_id) => found.set_item(name, bus_id.to_string()),
            AttributeValue::Real(number) => found.set_item(name, number),
            AttributeValue::Flag(flag) => found.set_item(name, flag),
            AttributeValue::Text(text) => found.set_item(name, text),
            _ => found.set_item(name, py.None()),
        };
    });
    if object.object_type() == ObjectType::NUMANode {
        let pages = PyDict::new(py);
        object.page_types().try_for_each(|page| pages.set_item(page.size, page.count))?;
        found.set_item("page_types", pages)?;
    }
    result.map(|()| found)
}
