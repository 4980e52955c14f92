//! Networks of a node.

use crate::handles::PyObject;
use crate::kept::{Kept, OfObject, OfTopology};
use pyo3::prelude::*;
use topobroker_reader::devices::{NetworkId, NicChoice};
use topobroker_reader::text::known_rate;

/// NICs of a node that reach each other.
#[pyclass(frozen, name = "Network", module = "topobroker")]
pub(crate) struct PyNetwork {
    id: NetworkId,
    mbps: u64,
    nics: Vec<Kept<OfObject>>,
}

impl PyNetwork {
    pub(crate) fn of(topology: &Kept<OfTopology>) -> Vec<Self> {
        let shares = topology.ask(|it| it.network_shares(NicChoice::Active).collect::<Vec<_>>());
        let with_nics = shares.into_iter().map(|share| {
            let nics =
                topology.each(|it| it.nics_of_network(NicChoice::Active, share.id).collect());
            Self { id: share.id, mbps: share.mbps, nics }
        });
        with_nics.collect()
    }
}

#[pymethods]
impl PyNetwork {
    /// What it is: "InfiniBand", "Slingshot", "Omni-Path", "EFA", "RoCE" or "Ethernet".
    #[getter]
    fn kind(&self) -> &'static str {
        self.id.kind()
    }

    /// The prefix of its subnet; None if it has none or it is unknown.
    #[getter]
    fn subnet(&self) -> Option<u64> {
        self.id.subnet()
    }

    /// Its NICs.
    #[getter]
    fn nics(&self) -> Vec<PyObject> {
        self.nics.iter().cloned().map(PyObject).collect()
    }

    /// The sum of the rates of its NICs in Mb/s; unknown rates count as 0.
    #[getter]
    fn mbps(&self) -> u64 {
        self.mbps
    }

    fn __str__(&self) -> String {
        self.id.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Network {}: {} NICs, {}>", self.id, self.nics.len(), known_rate(self.mbps))
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _seen: Py<PyAny>) -> Py<Self> {
        slf
    }
}
