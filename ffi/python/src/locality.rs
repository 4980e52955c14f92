//! What processes share.

use crate::failure::failed;
use pyo3::prelude::*;
use topobroker_reader::Locality;

/// What two processes share. Counterpart: `pmix_locality_t`.
///
/// >>> "L3" in Locality.of_strings("SK0:L30:CR0", "SK0:L30:CR1")
/// True
#[pyclass(frozen, eq, hash, name = "Locality", module = "topobroker")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct PyLocality(pub(crate) Locality);

#[pymethods]
impl PyLocality {
    /// What processes with two locality strings of PMIx share.
    #[staticmethod]
    fn of_strings(one: &str, other: &str) -> PyResult<Self> {
        Locality::from_strings(one, other).map(Self).map_err(failed)
    }

    /// The bits of PMIx.
    #[getter]
    fn pmix(&self) -> u16 {
        self.0.bits()
    }

    /// The bits of Open MPI (`opal_hwloc_locality_t`).
    #[getter]
    fn opal(&self) -> u16 {
        self.0.to_opal()
    }

    /// The names of what is shared, such as ("core", "L2", "package", "NUMA", "node").
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.to_string().split(',').map(str::to_owned).collect()
    }

    fn __contains__(&self, name: &str) -> bool {
        self.0.to_string().split(',').any(|own| own.eq_ignore_ascii_case(name))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Locality {}>", self.0)
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _seen: Py<PyAny>) -> Py<Self> {
        slf
    }
}
