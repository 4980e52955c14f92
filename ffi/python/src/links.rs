//! The graph of links of a node.

use crate::failure::{failed, wrong_value};
use crate::handles::PyObject;
use crate::kept::{Kept, OfLinks, OfObject, OfTopology};
use pyo3::prelude::*;
use topobroker_draw::{Units, svg, svg_to_embed};
use topobroker_reader::links::{
    DeclaredLinks, LinkPath, Links, Measure, Paths, SwitchModel, VertexId,
};

/// The graph of links between CPUs, memory, GPUs, NICs and disks. Its vertices are numbers from 0.
#[pyclass(frozen, name = "Links", module = "topobroker")]
pub(crate) struct PyLinks(Kept<OfLinks>);

impl PyLinks {
    pub(crate) fn of(topology: &Kept<OfTopology>) -> PyResult<Self> {
        let adopted = topobroker_reader::adopted().filter(|_| topology.is_adopted());
        let declared = adopted.map(DeclaredLinks::find).transpose().map_err(failed)?.flatten();
        let graph = topology.fallible(|topology| match declared {
            Some(declared) => topology.links_with_declared(SwitchModel::One, declared),
            None => topology.links(SwitchModel::One),
        });
        graph.map(Self).map_err(failed)
    }

    /// A vertex that is given by its number, its name, or its object.
    fn vertex(&self, given: &Bound<'_, PyAny>) -> PyResult<VertexId> {
        let found = if let Ok(object) = given.cast::<PyObject>() {
            self.0.ask_with(&object.get().0, |links, object| links.vertex_of(*object))
        } else if let Ok(number) = given.extract::<usize>() {
            let count = self.0.ask(|links| links.vertices().len());
            VertexId::at(number).filter(|_| number < count)
        } else {
            let name: String = given.extract()?;
            self.0.ask(|links| links.find(&name))
        };
        found.ok_or_else(|| wrong_value(format!("{given} is no vertex of the graph of links")))
    }
}

/// A vertex of the graph of links.
#[pyclass(frozen, get_all, name = "Vertex", module = "topobroker")]
pub(crate) struct PyVertex {
    /// Its number.
    number: usize,
    /// What it is, such as "gpu" or "memory".
    kind: &'static str,
    /// Its name, such as "mlx5_0".
    name: String,
    /// Its object; None if hwloc has none for it.
    object: Option<Py<PyObject>>,
}

#[pymethods]
impl PyVertex {
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _seen: Py<PyAny>) -> Py<Self> {
        slf
    }
}

/// A link between two vertices. Bandwidths are in MB/s in one direction, latency in nanoseconds;
/// None if unknown.
#[pyclass(frozen, get_all, name = "Link", module = "topobroker")]
pub(crate) struct PyLink {
    /// Number of a vertex.
    one: usize,
    /// Number of the other vertex.
    other: usize,
    /// What it is, such as "NVL" or "PCI".
    kind: &'static str,
    /// Where its values are from.
    origin: &'static str,
    /// Number of parallel links that it stands for.
    links: Option<u16>,
    /// Bandwidth from `one` to `other`.
    forward: Option<u32>,
    /// Bandwidth from `other` to `one`.
    backward: Option<u32>,
    /// Latency.
    latency: Option<u32>,
}

#[pymethods]
impl PyLink {
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _seen: Py<PyAny>) -> Py<Self> {
        slf
    }
}

/// A path between two vertices.
#[pyclass(frozen, get_all, name = "Path", module = "topobroker")]
pub(crate) struct PyPath {
    /// Bandwidth of its narrowest link in MB/s; None if none on it is known.
    bandwidth: Option<u32>,
    /// Whether a link on it has an unknown bandwidth, so that the bandwidth may be less.
    has_unknown_bandwidth: bool,
    /// Latency in nanoseconds; None if that of a link is unknown.
    latency: Option<u32>,
    /// Number of links.
    hops: u16,
    /// Numbers of its vertices, from the first to the last.
    vertices: Vec<usize>,
}

#[pymethods]
impl PyPath {
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _seen: Py<PyAny>) -> Py<Self> {
        slf
    }
}

#[pymethods]
impl PyLinks {
    /// The vertices, in the order of their numbers.
    #[getter]
    fn vertices(&self, py: Python<'_>) -> PyResult<Vec<PyVertex>> {
        let count = self.0.ask(|links| links.vertices().len());
        let vertices = (0..count).filter_map(VertexId::at).map(|id| {
            let object: Option<Kept<OfObject>> = self.0.find(|links| links.object(id));
            let (kind, name) = self.0.ask(|links| {
                let kind = links.vertex(id).map_or("", |vertex| vertex.kind.name());
                (kind, links.name(id).into_owned())
            });
            let object = object.map(|object| Py::new(py, PyObject(object))).transpose()?;
            Ok(PyVertex { number: id.index(), kind, name, object })
        });
        vertices.collect()
    }

    /// The links.
    #[getter]
    fn links(&self) -> Vec<PyLink> {
        let link = |link: &topobroker_reader::links::Link| PyLink {
            one: link.one.index(),
            other: link.other.index(),
            kind: link.class.name(),
            origin: link.origin.name(),
            links: link.links,
            forward: link.forward,
            backward: link.backward,
            latency: link.latency,
        };
        self.0.ask(|links| links.links().iter().map(link).collect())
    }

    /// Number of the vertex with a name, such as "mlx5_0", "0000:41:00.0" or "package:0"; None if
    /// there is none.
    fn find(&self, name: &str) -> Option<usize> {
        self.0.ask(|links| links.find(name)).map(VertexId::index)
    }

    /// The best path between two vertices, each a number, a name or an object; None if there is
    /// none. `measure` is "bandwidth", "latency" or "hops"; with `relay`, a GPU on the way may
    /// forward data.
    #[pyo3(signature = (one, other, measure = "bandwidth", relay = false))]
    fn path(
        &self,
        one: &Bound<'_, PyAny>,
        other: &Bound<'_, PyAny>,
        measure: &str,
        relay: bool,
    ) -> PyResult<Option<PyPath>> {
        let measure = match measure {
            "bandwidth" => Measure::Bandwidth,
            "latency" => Measure::Latency,
            "hops" => Measure::Hops,
            _ => {
                let expected = "expected \"bandwidth\", \"latency\" or \"hops\"";
                return Err(wrong_value(format!("measure {measure:?}: {expected}")));
            }
        };
        let (from, to) = (self.vertex(one)?, self.vertex(other)?);
        Ok(self.0.ask(|links| path(links, from, to, measure, relay)))
    }

    /// The graph for networkx, which must be installed: a MultiGraph with the attributes of
    /// vertices and links.
    fn to_networkx<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("topobroker._graph")?.call_method1("of_links", (this,))
    }

    /// A picture of it as SVG.
    fn to_svg(&self) -> String {
        self.0.ask(|links| svg(&topobroker_draw::links(links, Units::PIXELS)))
    }

    fn _repr_svg_(&self) -> String {
        svg_to_embed(&self.to_svg())
    }

    fn __repr__(&self) -> String {
        self.0.ask(|links| {
            format!("<Links: {} vertices, {} links>", links.vertices().len(), links.links().len())
        })
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _seen: Py<PyAny>) -> Py<Self> {
        slf
    }
}

fn path(
    links: &Links<'_>,
    from: VertexId,
    to: VertexId,
    measure: Measure,
    relay: bool,
) -> Option<PyPath> {
    let mut search = Paths::new(links, relay);
    let found = search.between(from, to, measure)?;
    let mut vertices: Vec<usize> = search.way(to).map(VertexId::index).collect();
    vertices.reverse();
    let LinkPath { bandwidth, has_unknown_bandwidth, latency, hops } = found;
    Some(PyPath { bandwidth, has_unknown_bandwidth, latency, hops, vertices })
}
