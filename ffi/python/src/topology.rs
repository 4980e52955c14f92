//! Topologies and views.

use crate::failure::{failed, of_file, wrong_value};
use crate::handles::{Members, PyObject, PyObjects, PyTopology};
use crate::kept::{Kept, OfTopology};
use crate::links::PyLinks;
use crate::networks::PyNetwork;
use crate::object::{Given, type_named};
use crate::set::{AnySet, PySet};
use crate::tables::{PyCpuKind, PyDistances, PyMemoryAttribute};
use crate::{adopt, devices, locality::PyLocality};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use topobroker_draw::{Fold, NodeOptions, Units, node, svg, svg_to_embed};
use topobroker_reader::devices::{NicChoice, RankDevice};
use topobroker_reader::text::{synthetic, xml};
use topobroker_reader::{Depth, Distribution, Object, ObjectType, RestrictFlags, View};

fn depth_of(raw: i32) -> PyResult<Depth> {
    Depth::from_raw(raw).ok_or_else(|| wrong_value(format!("{raw} is no depth of hwloc")))
}

#[pymethods]
impl PyTopology {
    /// The machine, which all other objects are below.
    #[getter]
    fn root(&self) -> PyObject {
        PyObject(self.0.map(|topology| topology.root()))
    }

    /// Number of levels of the tree.
    #[getter]
    fn depth(&self) -> u32 {
        self.0.ask(|topology| topology.depth())
    }

    /// The cores.
    #[getter]
    fn cores(&self) -> PyObjects {
        self.of_plain_type(ObjectType::Core)
    }

    /// The PUs (hardware threads).
    #[getter]
    fn pus(&self) -> PyObjects {
        self.of_plain_type(ObjectType::PU)
    }

    /// The packages (sockets).
    #[getter]
    fn packages(&self) -> PyObjects {
        self.of_plain_type(ObjectType::Package)
    }

    /// The NUMA nodes.
    #[getter]
    fn numa_nodes(&self) -> PyObjects {
        self.of_plain_type(ObjectType::NUMANode)
    }

    /// The GPUs that processes are given, each once, although hwloc has several objects of one.
    #[getter]
    fn gpus(&self) -> PyObjects {
        self.ids(|topology| topology.gpus().map(Object::id).collect())
    }

    /// The NICs that processes are given: those that are ready for messages, one of each adapter.
    #[getter]
    fn nics(&self) -> PyObjects {
        self.ids(|topology| topology.nics(NicChoice::Active).map(Object::id).collect())
    }

    /// The objects of a type, such as "core", "L3", "Group1" or "gpu"; without one, all, level by
    /// level.
    #[pyo3(signature = (r#type = None))]
    fn objects(&self, r#type: Option<&str>) -> PyResult<PyObjects> {
        match r#type {
            Some(name) => Ok(self.of_type(type_named(name)?)),
            None => Ok(PyObjects { topology: self.0.clone(), members: Members::All }),
        }
    }

    /// The objects of a depth: 0 is the machine, -3 the NUMA nodes, as in hwloc.
    fn objects_at_depth(&self, depth: i32) -> PyResult<PyObjects> {
        let members = Members::Level(depth_of(depth)?);
        Ok(PyObjects { topology: self.0.clone(), members })
    }

    /// The object with a number (`Object.id`); None if it is not in this topology or view.
    fn object(&self, id: u32) -> Option<PyObject> {
        self.find(|topology| topology.object(id))
    }

    /// The PU with an OS index.
    fn pu(&self, os_index: u32) -> Option<PyObject> {
        self.find(|topology| topology.pu_by_os_index(os_index))
    }

    /// The NUMA node with an OS index.
    fn numa_node(&self, os_index: u32) -> Option<PyObject> {
        self.find(|topology| topology.numa_node_by_os_index(os_index))
    }

    /// The OS device with a name, such as "eth0" or "mlx5_0".
    fn os_device(&self, name: &str) -> Option<PyObject> {
        self.find(|topology| topology.os_device(name))
    }

    /// The PCI device with a bus id, such as "0000:41:00.0".
    fn pci_device(&self, bus_id: &str) -> Option<PyObject> {
        self.find(|topology| topology.pci_device_by_bus_id(bus_id))
    }

    /// The lowest object that has all of these PUs; None if there is none.
    fn covering(&self, cpus: AnySet) -> Option<PyObject> {
        self.find(|topology| topology.covering(&cpus))
    }

    /// The objects of a type whose PUs are all in a set.
    fn inside(&self, cpus: AnySet, r#type: &str) -> PyResult<PyObjects> {
        let wanted = type_named(r#type)?;
        Ok(self.ids(|topology| {
            let inside = topology.inside(&cpus);
            let found = inside.objects_with_type(wanted.object_type);
            found.filter(|object| wanted.matches(*object)).map(Object::id).collect()
        }))
    }

    /// Indexes of its PUs.
    #[getter]
    fn cpuset(&self) -> PySet {
        PySet(self.0.ask(|topology| topology.root().cpuset().unwrap_or_default()))
    }

    /// Indexes of its NUMA nodes.
    #[getter]
    fn nodeset(&self) -> PySet {
        PySet(self.0.ask(|topology| topology.root().nodeset().unwrap_or_default()))
    }

    /// Indexes of the PUs that may be used.
    #[getter]
    fn allowed_cpuset(&self) -> PySet {
        PySet(self.0.ask(|topology| topology.allowed_cpuset()))
    }

    /// Indexes of the NUMA nodes that may be used.
    #[getter]
    fn allowed_nodeset(&self) -> PySet {
        PySet(self.0.ask(|topology| topology.allowed_nodeset()))
    }

    /// The NUMA nodes near some PUs. Counterpart: `hwloc_cpuset_to_nodeset`.
    fn nodeset_of(&self, cpus: AnySet) -> PySet {
        PySet(self.0.ask(|topology| topology.nodeset_of(&cpus)))
    }

    /// The PUs near some NUMA nodes. Counterpart: `hwloc_cpuset_from_nodeset`.
    fn cpuset_of(&self, nodes: AnySet) -> PySet {
        PySet(self.0.ask(|topology| topology.cpuset_of_nodes(&nodes)))
    }

    /// Splits the PUs into `count` sets that are far from each other; objects of the type `until`,
    /// such as "core", are not split. Counterpart: `hwloc_distrib`.
    #[pyo3(signature = (count, until = None))]
    fn distribute(&self, count: usize, until: Option<&str>) -> PyResult<Vec<PySet>> {
        let until = until.map(type_named).transpose()?;
        let most = self.0.ask(|topology| topology.most_parts());
        if count > most {
            return Err(wrong_value(format!(
                "{count} sets; expected {most} of this machine at most"
            )));
        }
        let sets = self.0.ask(|topology| {
            let depth = until.and_then(|it| topology.type_or_above_depth(it.object_type));
            let how = Distribution { until: depth, ..Distribution::default() };
            topology.distribute(&[topology.root()], count, how)
        });
        Ok(sets.into_iter().map(PySet).collect())
    }

    /// The NUMA nodes of ordinary memory, one near each PU: not those of devices or of fast or slow
    /// memory next to it. Counterpart: `hwloc_topology_get_default_nodeset`.
    #[getter]
    fn default_nodeset(&self) -> PySet {
        PySet(
            self.0.ask(|topology| {
                topology.default_numa_nodes().filter_map(Object::os_index).collect()
            }),
        )
    }

    /// Removes all but the first PU of each core from a set. Counterpart:
    /// `hwloc_bitmap_singlify_per_core`.
    #[pyo3(signature = (cpus, which = 0))]
    fn singlify_per_core(&self, cpus: AnySet, which: usize) -> PySet {
        let mut set = cpus.clone();
        self.0.ask(|topology| topology.singlify_per_core(&mut set, which));
        PySet(set)
    }

    /// A view of some PUs, with their NUMA nodes. It takes no copy: objects keep their `id`.
    /// Counterpart: `hwloc_topology_restrict` on a duplicate.
    fn view(&self, cpus: AnySet) -> PyResult<Self> {
        self.0.view(|topology| View::of_pus(topology, &cpus)).map(Self).map_err(failed)
    }

    /// A view as `hwloc_topology_restrict` makes it, with names of its flags: "remove_cpuless",
    /// "adapt_misc", "adapt_io", "bynodeset", "remove_memless".
    #[pyo3(signature = (indexes, *flags))]
    fn restrict(&self, indexes: AnySet, flags: Vec<String>) -> PyResult<Self> {
        let mut bits = 0;
        for flag in flags {
            let place = RestrictFlags::NAMES.iter().position(|name| *name == flag);
            let place = place.ok_or_else(|| {
                wrong_value(format!("flag {flag:?}; expected {}", RestrictFlags::NAMES.join(", ")))
            })?;
            bits |= 1 << place;
        }
        let flags = RestrictFlags::from_bits(bits);
        self.0.view(|topology| View::new(topology, &indexes, flags)).map(Self).map_err(failed)
    }

    /// Distance matrices. Counterpart: `hwloc_distances_get`.
    #[getter]
    fn distances(&self) -> Vec<PyDistances> {
        let count = self.0.ask(|topology| topology.distances().count());
        (0..count).map(|number| PyDistances::new(self.0.clone(), number)).collect()
    }

    /// Memory attributes, such as "Bandwidth". Counterpart: `hwloc_memattr_get_name`.
    #[getter]
    fn memory_attributes(&self) -> Vec<PyMemoryAttribute> {
        let count = self.0.ask(|topology| topology.memory_attributes().len());
        (0..count).map(|id| PyMemoryAttribute::new(self.0.clone(), id)).collect()
    }

    /// Kinds of CPUs, the least efficient first. Counterpart: `hwloc_cpukinds_get_info`.
    #[getter]
    fn cpu_kinds(&self) -> PyResult<Vec<PyCpuKind>> {
        self.0.ask(|topology| topology.cpu_kinds().map(PyCpuKind::of).collect())
    }

    /// What processes that are bound to two sets share. Counterpart: `PMIx_Get_relative_locality`.
    fn locality(&self, one: AnySet, other: AnySet) -> PyLocality {
        PyLocality(self.0.ask(|topology| topology.relative_locality(&one, &other)))
    }

    /// PMIx's locality string of a process that is bound to a set; None if it is not bound.
    fn locality_string(&self, cpus: AnySet) -> Option<String> {
        self.0.ask(|topology| topology.locality_string(&cpus))
    }

    /// The device, "nic" or "gpu", that is best for a process that is bound to PUs, if no other
    /// process counts; None if there is none.
    fn nearest(&self, cpus: AnySet, device: &str) -> PyResult<Option<PyObject>> {
        let device = match device {
            "nic" => RankDevice::Nic,
            "gpu" => RankDevice::Gpu,
            other => return Err(wrong_value(format!("{other:?}; expected \"nic\" or \"gpu\""))),
        };
        Ok(self.find(|topology| topology.nearest(&cpus, device)))
    }

    /// A NIC that is nearer to a process on PUs than the NIC that it has, and down; None if there
    /// is none.
    fn nearer_but_down(&self, cpus: AnySet, nic: &PyObject) -> PyResult<Option<PyObject>> {
        let id = self.own_id(nic)?;
        Ok(self.find(|topology| topology.nearer_but_down(&cpus, topology.object(id)?)))
    }

    /// Deals devices, such as `nics` or `gpus`, to ranks. NICs are shared; ranks share a GPU only
    /// if there are more ranks than GPUs. Each of `ranks` is the PUs of a rank, or a device that
    /// its devices should be near. Returns a list of devices for each rank.
    #[pyo3(signature = (devices, ranks, per_rank = 1))]
    fn assign(
        &self,
        devices: Given,
        ranks: &Bound<'_, PyAny>,
        per_rank: usize,
    ) -> PyResult<Vec<Vec<PyObject>>> {
        devices::assign(self, &devices, ranks, per_rank)
    }

    /// The networks of the node, the one that ranks should use first.
    #[getter]
    fn networks(&self) -> Vec<PyNetwork> {
        PyNetwork::of(&self.0)
    }

    /// The graph of links between CPUs, memory, GPUs, NICs and disks, with those that are declared.
    fn links(&self) -> PyResult<PyLinks> {
        PyLinks::of(&self.0)
    }

    /// The topology as XML of hwloc 2. Counterpart: `hwloc_topology_export_xmlbuffer`.
    fn to_xml(&self) -> String {
        self.0.ask(|topology| xml::export(*topology))
    }

    /// The topology as a synthetic description, if it is regular enough for one.
    fn to_synthetic(&self) -> PyResult<String> {
        self.0.ask(|topology| synthetic::export(*topology)).map_err(failed)
    }

    /// A picture of it as SVG. With `fold`, neighbours that are alike are drawn once; by default
    /// only in large pictures. What `highlighted` has is marked.
    #[pyo3(signature = (*, fold = None, highlighted = None))]
    fn to_svg(&self, fold: Option<bool>, highlighted: Option<AnySet>) -> String {
        let fold = match fold {
            None => Fold::Large,
            Some(true) => Fold::Alike(4),
            Some(false) => Fold::Nothing,
        };
        let highlighted = highlighted.map(|set| set.clone());
        self.0.ask(|topology| {
            let options = NodeOptions { fold, highlighted, ..NodeOptions::default() };
            svg(&node(*topology, &options, Units::PIXELS))
        })
    }

    fn _repr_svg_(&self) -> String {
        svg_to_embed(&self.to_svg(None, None))
    }

    /// The keys of the segment that this process has adopted, as its environment has them; None for
    /// views and other topologies.
    #[getter]
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        if !self.0.is_adopted() {
            return Ok(None);
        }
        let keys = PyDict::new(py);
        let adopted = topobroker_reader::adopted();
        for (name, value) in adopted.into_iter().flat_map(|adopted| adopted.keys().to_env()) {
            keys.set_item(name, value)?;
        }
        Ok(Some(keys))
    }

    /// Whether it is of the machine that this process runs on, as far as hwloc knows.
    #[getter]
    fn is_this_system(&self) -> bool {
        self.0.ask(|topology| topology.is_this_system())
    }

    /// Two are equal if they are the same topology, or views of one that have the same objects.
    fn __eq__(&self, other: &Self) -> bool {
        self.0.ask_with(&other.0, |one, other| {
            one.root() == other.root() && one.objects().eq(other.objects())
        })
    }

    fn __hash__(&self) -> u64 {
        self.0.ask(|topology| topology.object_count() as u64)
    }

    fn __len__(&self) -> usize {
        self.0.ask(|topology| topology.object_count())
    }

    fn __contains__(&self, object: &PyObject) -> bool {
        self.0.ask_with(&object.0, |topology, object| {
            topology.object(object.id()).is_some_and(|own| own == *object)
        })
    }

    fn __repr__(&self) -> String {
        let count =
            |object_type| self.0.ask(|topology| topology.objects_with_type(object_type).count());
        let (cores, pus) = (count(ObjectType::Core), count(ObjectType::PU));
        let host = self.0.ask(|topology| topology.root().info("HostName").map(str::to_owned));
        let host = host.map(|host| format!(" of {host}")).unwrap_or_default();
        format!("<Topology{host}: {cores} cores, {pus} PUs, {} objects>", self.__len__())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<adopt::Pickled<'py>> {
        let segment = adopt::segment_of(&self.0).ok_or_else(|| {
            PyTypeError::new_err(
                "only the adopted topology can be pickled; send the cpuset of a view",
            )
        })?;
        let make = py.import("topobroker._topobroker")?.getattr("_unpickled")?;
        let is_whole = self.0.ask(|topology| adopt::is_whole(*topology));
        Ok((make, (segment, None, !is_whole)))
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _seen: Py<PyAny>) -> Py<Self> {
        slf
    }
}

/// Opens the topology in a segment's file without adopting it, such as one that another node has
/// published.
#[pyfunction]
#[pyo3(name = "open")]
pub(crate) fn open_file(py: Python<'_>, file: PathBuf) -> PyResult<PyTopology> {
    let opened = py.detach(|| Kept::<OfTopology>::in_file(&file));
    of_file(&file, opened).map(PyTopology)
}
