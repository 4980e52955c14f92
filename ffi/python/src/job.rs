//! The job of this process, and its ranks.

use crate::adopt::adopt;
use crate::failure::{failed, wrong_value};
use crate::handles::{PyObject, PyTopology};
use crate::kept::Kept;
use crate::locality::PyLocality;
use crate::set::PySet;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use topobroker_reader::devices::environment::{Interface, of_gpus_of_rank, of_nics_of_rank};
use topobroker_reader::groups::Uri;
use topobroker_reader::jobs::{Job, JobRank, adopt_job};
use topobroker_reader::{Locality, Object};

/// A job on this node: its part of the topology and its ranks.
#[pyclass(frozen, name = "Job", module = "topobroker")]
pub(crate) struct PyJob(Job<'static>);

/// One rank of a job.
#[pyclass(frozen, name = "Rank", module = "topobroker")]
pub(crate) struct PyRank {
    job: Job<'static>,
    rank: JobRank,
}

/// The job of this process; None if it has none. With `file`, the job in that file. It is adopted,
/// and stays.
#[pyfunction]
#[pyo3(signature = (file = None))]
pub(crate) fn job(py: Python<'_>, file: Option<PathBuf>) -> PyResult<Option<PyJob>> {
    adopt(py)?;
    let Some(base) = topobroker_reader::adopted() else { return Ok(None) };
    let found = py.detach(|| match file {
        Some(file) => adopt_job(base, file).map(Some),
        None => Job::find(base),
    });
    Ok(found.map_err(failed)?.map(PyJob))
}

impl PyJob {
    fn not_here(&self, rank: u32) -> PyErr {
        PyKeyError::new_err(format!("rank {rank} of job {} is not on this node", self.0.name()))
    }

    fn rank(&self, rank: u32) -> PyResult<PyRank> {
        let found = self.0.rank(rank).ok_or_else(|| self.not_here(rank))?;
        Ok(PyRank { job: self.0, rank: found })
    }
}

fn uri(text: &str) -> PyResult<Uri<'_>> {
    Uri::parse(text).map_err(|error| wrong_value(error.to_string()))
}

#[pymethods]
impl PyJob {
    /// Its name.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    /// The part of the topology that the job may use, as a view.
    #[getter]
    fn topology(&self) -> PyTopology {
        PyTopology(Kept::of_adopted_view(self.0.view()))
    }

    /// Its ranks on this node, in the order of their local ranks.
    #[getter]
    fn ranks(&self) -> Vec<PyRank> {
        self.0.ranks().map(|rank| PyRank { job: self.0, rank }).collect()
    }

    /// What two ranks share. Counterpart: `PMIx_Get_relative_locality`.
    fn locality(&self, one: u32, other: u32) -> PyResult<PyLocality> {
        self.rank(one)?;
        let shared = self.0.locality(one, other).ok_or_else(|| self.not_here(other))?;
        Ok(PyLocality(shared))
    }

    /// What a rank shares with each rank on this node, in the order of local ranks.
    fn localities(&self, rank: u32) -> PyResult<Vec<PyLocality>> {
        let all = self.0.localities(rank).ok_or_else(|| self.not_here(rank))?;
        Ok(all.map(PyLocality).collect())
    }

    /// Ranks on this node that share something, such as "L3", with a rank. ValueError if ranks
    /// share no such thing.
    fn sharing(&self, rank: u32, what: &str) -> PyResult<Vec<u32>> {
        let shared = Locality::named(what).ok_or_else(|| {
            wrong_value(format!(
                "{what:?} is shared by no ranks; expected one such as \"L3\" or \"NUMA\""
            ))
        })?;
        self.rank(rank)?;
        Ok(self.0.sharing(rank, shared).collect())
    }

    /// The ranks that are on the same instance of hardware, a pair of URIs and ranks for each.
    /// Counterpart: `MPI_Hw_groups_get` of the proposal to the MPI Forum.
    #[pyo3(signature = (least = 1))]
    fn groups(&self, least: usize) -> Vec<(Vec<String>, Vec<u32>)> {
        let groups = self.0.hw_resources().groups(least).into_iter();
        let named =
            groups.map(|group| (group.uris.iter().map(ToString::to_string).collect(), group.ranks));
        named.collect()
    }

    /// The ranks on a resource, such as "hwloc://NUMANode/0".
    fn ranks_on(&self, resource: &str) -> PyResult<Vec<u32>> {
        let resources = self.0.hw_resources();
        let ranks = resources.ranks_on(uri(resource)?).map_err(failed)?;
        Ok(ranks.collect())
    }

    /// Which instance of a type, such as "hwloc://L3Cache", each rank is on, in the order of local
    /// ranks: the colours for `MPI_Comm_split`.
    fn instances(&self, resource: &str) -> PyResult<Vec<Option<u32>>> {
        let resources = self.0.hw_resources();
        let found = resources.instances(uri(resource)?).map_err(failed)?;
        Ok(found.iter().collect())
    }

    fn __len__(&self) -> usize {
        self.0.rank_count()
    }

    fn __getitem__(&self, rank: u32) -> PyResult<PyRank> {
        self.rank(rank)
    }

    fn __contains__(&self, rank: u32) -> bool {
        self.0.rank(rank).is_some()
    }

    fn __repr__(&self) -> String {
        format!("<Job {}: {} ranks here>", self.0.name(), self.0.rank_count())
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _seen: Py<PyAny>) -> Py<Self> {
        slf
    }
}

impl PyRank {
    fn given(&self, devices: impl Iterator<Item = Object<'static>>) -> Vec<PyObject> {
        devices.map(|device| PyObject(Kept::adopted(device))).collect()
    }
}

#[pymethods]
impl PyRank {
    /// Its number in the job.
    #[getter]
    fn rank(&self) -> u32 {
        self.rank.rank
    }

    /// Its number among the ranks on this node.
    #[getter]
    fn local_rank(&self) -> u32 {
        self.rank.local_rank
    }

    /// The PUs that it is bound to; None if it is not bound.
    #[getter]
    fn cpuset(&self) -> Option<PySet> {
        self.rank.cpuset.clone().map(PySet)
    }

    /// The NICs that it was given, the best first.
    #[getter]
    fn nics(&self) -> Vec<PyObject> {
        self.given(self.job.nics(self.rank.rank))
    }

    /// The GPUs that it was given, the best first.
    #[getter]
    fn gpus(&self) -> Vec<PyObject> {
        self.given(self.job.gpus(self.rank.rank))
    }

    /// The NVLink domain over nodes that all of its GPUs are in; None if they are in none or
    /// several.
    #[getter]
    fn nvlink_domain(&self) -> Option<&'static str> {
        self.job.nvlink_domain(self.rank.rank)
    }

    /// Environment variables by which UCX, NCCL and MPICH use its NICs.
    #[getter]
    fn nic_variables(&self) -> BTreeMap<&'static str, String> {
        of_nics_of_rank(self.job, self.rank.rank).into_iter().collect()
    }

    /// Environment variables by which CUDA, ROCm and Level Zero use its GPUs, or its instance of a
    /// GPU that is parted by MIG.
    #[getter]
    fn gpu_variables(&self) -> BTreeMap<&'static str, String> {
        let variables = |it| of_gpus_of_rank(it, self.job, self.rank.rank);
        Interface::OF_RANKS.into_iter().flat_map(variables).collect()
    }

    fn __repr__(&self) -> String {
        let bound = self.rank.cpuset.as_ref();
        let bound = bound.map_or("not bound".to_owned(), |set| format!("{set:?}"));
        format!("<Rank {} of {}: {bound}>", self.rank.rank, self.job.name())
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _seen: Py<PyAny>) -> Py<Self> {
        slf
    }
}
