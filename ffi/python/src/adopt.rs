//! Adopting the topology that is published on this node.

use crate::failure::{AdoptError, failed, not_adopted};
use crate::handles::{PyObject, PyTopology};
use crate::kept::{Handle, Kept, OfTopology};
use crate::set::PySet;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use std::sync::OnceLock;
use topobroker_reader::ballot::elected;
use topobroker_reader::jobs::{
    CpuQuota, EffectiveViewError, Situation, cgroup_view, effective_view,
};
use topobroker_reader::{Adopted, Keys, Topology, View};

fn whole(adopted: &'static Adopted) -> PyTopology {
    PyTopology(Kept::<OfTopology>::adopted(adopted.topology()))
}

/// Adopts the topology that is published to this process: by its environment, its PMIx server or
/// the node's daemon. The first call maps it, read-only; every later one, from any thread, returns
/// an equal one. It starts no process and changes nothing.
///
/// Raises AdoptError if nothing is published: `topobroker.load()` finds or makes one then.
#[pyfunction]
pub(crate) fn adopt(py: Python<'_>) -> PyResult<PyTopology> {
    py.detach(topobroker_reader::adopt).map(whole).map_err(not_adopted)
}

/// The topology that this process has adopted; None if it has not.
#[pyfunction]
pub(crate) fn adopted() -> Option<PyTopology> {
    topobroker_reader::adopted().map(whole)
}

/// What the cgroup of this process leaves of the adopted topology, as hwloc would find it here.
/// Like the topology itself, it is found once in a process.
#[pyfunction]
pub(crate) fn _usable(py: Python<'_>) -> PyResult<PyTopology> {
    static PART: OnceLock<View<'static>> = OnceLock::new();
    let adopted = py.detach(topobroker_reader::adopt).map_err(not_adopted)?;
    let part = match PART.get() {
        Some(part) => part,
        None => {
            let part = cgroup_view(adopted.topology()).map_err(failed)?;
            PART.get_or_init(|| part)
        }
    };
    Ok(PyTopology(Kept::<OfTopology>::adopted(part.topology())))
}

/// How many PUs the processes of the cgroup of this process can keep busy all the time: the quota
/// of `cpu.max`, or of version 1 of cgroups. None if there is none.
#[pyfunction]
pub(crate) fn cpu_quota() -> PyResult<Option<f64>> {
    let quota = CpuQuota::of_this_process().map_err(failed)?;
    Ok(quota.map(|quota| quota.cpus()))
}

/// Adopts the segment with these keys, as lines NAME=VALUE.
#[pyfunction]
pub(crate) fn _adopt_keys(py: Python<'_>, lines: &str) -> PyResult<PyTopology> {
    let keys = Keys::from_lines(lines).map_err(not_adopted)?;
    py.detach(|| topobroker_reader::adopt_keys(keys)).map(whole).map_err(not_adopted)
}

/// The part of the node's topology that this process may use: that of its job, otherwise what its
/// launcher, affinity and cgroup leave. A view of `adopt()`.
#[pyfunction]
pub(crate) fn mine(py: Python<'_>) -> PyResult<PyTopology> {
    let view = py.detach(effective_view).map_err(|error| match error {
        EffectiveViewError::Adopt(error) => not_adopted(error),
        error => failed(error),
    })?;
    Ok(PyTopology(Kept::of_adopted_view(view)))
}

/// Whether a topology is the whole of what this process has adopted, and not what its cgroup
/// leaves.
pub(crate) fn is_whole(topology: Topology<'_>) -> bool {
    topobroker_reader::adopted()
        .is_some_and(|it| View::whole(it.topology()) == View::whole(topology))
}

/// The segment that a handle of the adopted topology is of; None for views and other topologies.
pub(crate) fn segment_of<H: Handle>(handle: &Kept<H>) -> Option<String> {
    let adopted = topobroker_reader::adopted().filter(|_| handle.is_adopted());
    adopted.map(|adopted| adopted.header().segment_name())
}

/// What pickles something: the function that makes it again, and its arguments.
pub(crate) type Pickled<'py> = (Bound<'py, PyAny>, (String, Option<u32>, bool));

/// The adopted topology again, or the object with a number: what they are pickled as. This process
/// must have adopted the same segment, or finds it as `load` does. `is_part`: what its own cgroup
/// leaves.
#[pyfunction]
#[pyo3(signature = (segment, id = None, is_part = false))]
pub(crate) fn _unpickled(
    py: Python<'_>,
    segment: &str,
    id: Option<u32>,
    is_part: bool,
) -> PyResult<Py<PyAny>> {
    let topology = match adopt(py) {
        Ok(topology) => topology,
        Err(error) => _adopt_elected(py).ok_or(error)?,
    };
    let own = segment_of(&topology.0).unwrap_or_default();
    if own != segment {
        let text = format!("pickled of segment {segment}, but this process has adopted {own}");
        return Err(AdoptError::new_err(text));
    }
    let topology = if is_part { _usable(py)? } else { topology };
    let Some(id) = id else { return Ok(Py::new(py, topology)?.into_any()) };
    let object = topology.0.find(|topology| topology.object(id)).map(PyObject);
    let object = object.ok_or_else(|| PyKeyError::new_err(id))?;
    Ok(Py::new(py, object)?.into_any())
}

/// Adopts the segment that a process of this user has discovered; None if none has, or it is gone.
#[pyfunction]
pub(crate) fn _adopt_elected(py: Python<'_>) -> Option<PyTopology> {
    py.detach(|| topobroker_reader::adopt_keys(elected()?).ok()).map(whole)
}

/// The process that has published what this process has adopted, and with which it goes; 0 if there
/// is none.
#[pyfunction]
pub(crate) fn _publisher() -> u32 {
    topobroker_reader::adopted().map_or(0, |adopted| adopted.header().publisher_pid)
}

/// The PUs that this process may run on, and those that it could have: what its cgroup and its
/// launcher leave of the adopted topology.
#[pyfunction]
pub(crate) fn _limits(py: Python<'_>) -> PyResult<(PySet, PySet)> {
    let topology = adopt(py)?;
    let situation = topology.0.ask(|topology| {
        let published = topobroker_reader::adopted().map(|it| it.header().scope);
        Situation::with_topology(*topology, published.unwrap_or_default())
    });
    let Situation { pus, cgroup, cpu_list, affinity, .. } = situation.map_err(failed)?;
    let limits = [cgroup, cpu_list].into_iter().flatten();
    let possible = limits.fold(pus.clone(), |left, limit| &left & &limit);
    // A topology of another machine says nothing of the limits of this process.
    let possible = if possible.is_empty() { pus } else { possible };
    Ok((PySet(affinity), PySet(possible)))
}
