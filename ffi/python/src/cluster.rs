//! Clusters: many nodes in one file.

use crate::failure::{failed, of_file};
use crate::handles::PyTopology;
use crate::kept::{Kept, OfCluster, OfGroup, OfNode};
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use std::path::PathBuf;
use topobroker_draw::{Fold, Units, svg, svg_to_embed};
use topobroker_reader::cluster::{Cluster, ClusterNode, NodeGroup, adopt_cluster};

/// A cluster: nodes by name or number, groups of nodes, and the fabric between them.
///
/// >>> cluster = Cluster("site.cluster")          # doctest: +SKIP
/// >>> cluster["n007"].topology.numa_nodes        # doctest: +SKIP
#[pyclass(frozen, name = "Cluster", module = "topobroker", mapping)]
pub(crate) struct PyCluster(Kept<OfCluster>);

/// The cluster in the file that TOPOBROKER_CLUSTER names. The first call maps it; every later one
/// returns the same.
#[pyfunction]
#[pyo3(name = "adopt_cluster")]
pub(crate) fn adopted_cluster(py: Python<'_>) -> PyResult<PyCluster> {
    let cluster = py.detach(adopt_cluster).map_err(failed)?;
    Ok(PyCluster(Kept::adopted(cluster)))
}

impl PyCluster {
    fn find(
        &self,
        of: impl for<'a> FnOnce(&'a Cluster<'a>) -> Option<ClusterNode<'a>>,
    ) -> Option<PyNode> {
        self.0.find(|cluster| of(*cluster)).map(PyNode)
    }
}

#[pymethods]
impl PyCluster {
    /// Opens the cluster in a file that `topobroker cluster build` or `gather` wrote.
    #[new]
    fn new(py: Python<'_>, file: PathBuf) -> PyResult<Self> {
        let opened = py.detach(|| Kept::<OfCluster>::in_file(&file));
        of_file(&file, opened).map(Self)
    }

    /// The nodes, by number.
    #[getter]
    fn nodes(&self) -> Vec<PyNode> {
        self.0.each(|cluster| cluster.nodes().collect()).into_iter().map(PyNode).collect()
    }

    /// The node that this process runs on; None if it is not in the cluster.
    #[getter]
    fn local(&self) -> Option<PyNode> {
        self.find(|cluster| cluster.local())
    }

    /// Number of classes: nodes of one class are alike but for some values.
    #[getter]
    fn class_count(&self) -> u32 {
        self.0.ask(|cluster| cluster.class_count())
    }

    /// Names of nodes that could not be read when the cluster was built.
    #[getter]
    fn missing(&self) -> PyResult<Vec<String>> {
        self.0.ask(|cluster| {
            cluster.missing().map(|names| names.map(str::to_owned).collect()).map_err(failed)
        })
    }

    /// The group that all others are in.
    #[getter]
    fn root(&self) -> PyResult<PyGroup> {
        self.0.fallible(|cluster| cluster.groups().map(|it| it.root())).map(PyGroup).map_err(failed)
    }

    /// All groups of nodes, each before those in it.
    #[getter]
    fn groups(&self) -> PyResult<Vec<PyGroup>> {
        let count = self.0.ask(|cluster| cluster.groups().map(|it| it.iter().len()));
        let group =
            |number| self.0.find(|cluster| cluster.groups().ok()?.iter().nth(number)).map(PyGroup);
        Ok((0..count.map_err(failed)?).filter_map(group).collect())
    }

    /// Least number of links between two nodes: 2 if they are at one switch; None if there is no
    /// way.
    fn hops(&self, one: &PyNode, other: &PyNode) -> PyResult<Option<u32>> {
        let number = |node: &PyNode| node.0.ask(|node| node.number());
        let (one, other) = (number(one), number(other));
        self.0.ask(|cluster| {
            let fabric = cluster.fabric().map_err(failed)?;
            let ends = cluster.node(one).zip(cluster.node(other));
            Ok(ends.and_then(|(one, other)| fabric.hops_of_nodes(one, other)))
        })
    }

    /// Number of nodes, cores, PUs, GPUs and bytes of memory of all nodes together, by name.
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
        let totals = self.0.ask(|cluster| cluster.totals()).map_err(failed)?;
        let found = pyo3::types::PyDict::new(py);
        for (name, value) in [
            ("nodes", totals.nodes),
            ("cores", totals.cores),
            ("pus", totals.pus),
            ("gpus", totals.gpus),
            ("memory", totals.memory),
        ] {
            found.set_item(name, value)?;
        }
        Ok(found)
    }

    /// A picture of it as SVG.
    fn to_svg(&self) -> PyResult<String> {
        let picture =
            self.0.ask(|cluster| topobroker_draw::cluster(cluster, Fold::Large, Units::PIXELS));
        Ok(svg(&picture.map_err(failed)?))
    }

    fn _repr_svg_(&self) -> PyResult<String> {
        Ok(svg_to_embed(&self.to_svg()?))
    }

    fn __len__(&self) -> usize {
        self.0.ask(|cluster| cluster.node_count() as usize)
    }

    fn __getitem__(&self, which: &Bound<'_, PyAny>) -> PyResult<PyNode> {
        if let Ok(number) = which.extract::<isize>() {
            let count = self.__len__();
            let place = if number < 0 { number.saturating_add_unsigned(count) } else { number };
            let node =
                u32::try_from(place).ok().and_then(|it| self.find(|cluster| cluster.node(it)));
            return node.ok_or_else(|| PyIndexError::new_err(format!("node {number} of {count}")));
        }
        let name: String = which.extract()?;
        let node = self.find(|cluster| cluster.node_by_name(&name));
        node.ok_or_else(|| PyKeyError::new_err(name))
    }

    fn __contains__(&self, name: &str) -> bool {
        self.0.ask(|cluster| cluster.node_by_name(name).is_some())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.nodes().into_pyobject(py)?.call_method0("__iter__")
    }

    fn __repr__(&self) -> String {
        self.0.ask(|cluster| {
            format!("<Cluster: {} nodes, {} classes>", cluster.node_count(), cluster.class_count())
        })
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _seen: Py<PyAny>) -> Py<Self> {
        slf
    }
}

/// A node of a cluster.
#[pyclass(frozen, name = "Node", module = "topobroker")]
pub(crate) struct PyNode(Kept<OfNode>);

#[pymethods]
impl PyNode {
    /// Its name in the cluster.
    #[getter]
    fn name(&self) -> String {
        self.0.ask(|node| node.name().to_owned())
    }

    /// Its number in the cluster.
    #[getter]
    fn number(&self) -> u32 {
        self.0.ask(|node| node.number())
    }

    /// Number of its class.
    #[getter]
    fn class_number(&self) -> u16 {
        self.0.ask(|node| node.class())
    }

    /// Its topology, with the values that are its own.
    #[getter]
    fn topology(&self) -> PyResult<PyTopology> {
        self.0.topology().map(PyTopology).map_err(failed)
    }

    /// The group that it is directly in, such as its leaf switch.
    #[getter]
    fn group(&self) -> PyResult<PyGroup> {
        self.0.fallible(|node| node.group()).map(PyGroup).map_err(failed)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0.ask_with(&other.0, |one, other| one == other)
    }

    fn __hash__(&self) -> u64 {
        u64::from(self.number())
    }

    fn __repr__(&self) -> String {
        format!("<Node {}>", self.name())
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _seen: Py<PyAny>) -> Py<Self> {
        slf
    }
}

/// A group of nodes: a switch, block or rack.
#[pyclass(frozen, name = "NodeGroup", module = "topobroker")]
pub(crate) struct PyGroup(Kept<OfGroup>);

impl PyGroup {
    fn nodes_of(
        &self,
        of: impl for<'a> FnOnce(NodeGroup<'a>) -> Vec<ClusterNode<'a>>,
    ) -> Vec<PyNode> {
        self.0.each(|group| of(*group)).into_iter().map(PyNode).collect()
    }
}

#[pymethods]
impl PyGroup {
    /// Its name.
    #[getter]
    fn name(&self) -> String {
        self.0.ask(|group| group.name().to_owned())
    }

    /// What it is: "cluster", "switch", "block", "rack", "group", "ring" or "torus".
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.ask(|group| group.kind().name())
    }

    /// The group that it is in; None for the cluster.
    #[getter]
    fn parent(&self) -> Option<Self> {
        self.0.find(|group| group.parent()).map(Self)
    }

    /// The groups directly in it.
    #[getter]
    fn children(&self) -> Vec<Self> {
        self.0.each(|group| group.children().collect()).into_iter().map(Self).collect()
    }

    /// The nodes in it and in the groups in it.
    #[getter]
    fn nodes(&self) -> Vec<PyNode> {
        self.nodes_of(|group| group.nodes().collect())
    }

    /// The nodes directly in it.
    #[getter]
    fn own_nodes(&self) -> Vec<PyNode> {
        self.nodes_of(|group| group.own_nodes().collect())
    }

    fn __len__(&self) -> usize {
        self.0.ask(|group| group.node_count() as usize)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0.ask_with(&other.0, |one, other| one == other)
    }

    fn __hash__(&self) -> u64 {
        self.0.ask(|group| u64::from(group.number()))
    }

    fn __repr__(&self) -> String {
        format!("<NodeGroup {} {}: {} nodes>", self.kind(), self.name(), self.__len__())
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _seen: Py<PyAny>) -> Py<Self> {
        slf
    }
}
