//! Binding this process, and the environment variables of its NICs and GPUs.

use crate::failure::{failed, wrong_value};
use crate::handles::PyTopology;
use crate::object::Given;
use crate::set::{AnySet, PySet};
use pyo3::prelude::*;
use topobroker_binding::{MemoryPolicy, Target};
use topobroker_reader::devices::NicChoice;
use topobroker_reader::devices::environment::{Interface, Library, of_gpus, of_nics};
use topobroker_reader::{Object, Topology};

/// Binds all threads of this process to some PUs. Counterpart: `hwloc_set_cpubind`.
#[pyfunction]
pub(crate) fn bind_cpus(cpus: AnySet) -> PyResult<()> {
    topobroker_binding::bind(Target::ThisProcess, &cpus).map_err(failed)
}

/// The PUs that this thread may run on. Counterpart: `hwloc_get_cpubind`.
#[pyfunction]
pub(crate) fn bound_cpus() -> PyResult<PySet> {
    topobroker_binding::binding(Target::ThisThread).map(PySet).map_err(failed)
}

/// Binds the memory that this thread, and the threads and programs that it starts, take from now
/// on: "default", "firsttouch", "bind" (from these NUMA nodes, if they have room; with `strict`
/// from no others), "interleave" or "weighted". Counterpart: `hwloc_set_membind`.
#[pyfunction]
#[pyo3(signature = (policy, nodes = None, *, strict = false))]
pub(crate) fn bind_memory(policy: &str, nodes: Option<AnySet>, strict: bool) -> PyResult<()> {
    let policy = match policy {
        "default" => MemoryPolicy::Default,
        "firsttouch" => MemoryPolicy::FirstTouch,
        "bind" => MemoryPolicy::Bind,
        "interleave" => MemoryPolicy::Interleave,
        "weighted" => MemoryPolicy::WeightedInterleave,
        _ => {
            let expected =
                "expected \"default\", \"firsttouch\", \"bind\", \"interleave\" or \"weighted\"";
            return Err(wrong_value(format!("memory policy {policy:?}: {expected}")));
        }
    };
    let nodes = nodes.map(|nodes| nodes.clone()).unwrap_or_default();
    topobroker_binding::bind_memory(policy, &nodes, strict).map_err(failed)
}

/// Environment variables by which UCX, NCCL and MPICH use the NICs, and CUDA, ROCm and Level Zero
/// the GPUs that are given, the best first.
#[pyfunction]
#[pyo3(signature = (topology, *, nics = Given(Vec::new()), gpus = Given(Vec::new())), text_signature = "(topology, *, nics=(), gpus=())")]
pub(crate) fn variables_of(
    topology: &PyTopology,
    nics: Given,
    gpus: Given,
) -> PyResult<Vec<(String, String)>> {
    let ids = |objects: &Given| -> PyResult<Vec<u32>> {
        objects.0.iter().map(|object| topology.own_id(object.get())).collect()
    };
    let (nics, gpus) = (ids(&nics)?, ids(&gpus)?);
    Ok(topology.0.ask(|topology| variables(*topology, &nics, &gpus)))
}

fn variables(topology: Topology<'_>, nics: &[u32], gpus: &[u32]) -> Vec<(String, String)> {
    let objects = |ids: &[u32]| -> Vec<Object<'_>> {
        ids.iter().filter_map(|id| topology.object(*id)).collect()
    };
    let (nics, gpus) = (objects(nics), objects(gpus));
    let all: Vec<Object<'_>> = topology.nics(NicChoice::Active).collect();
    let of_nics = Library::OF_RANKS.into_iter().flat_map(|library| of_nics(library, &nics, &all));
    let of_gpus = Interface::OF_RANKS.into_iter().flat_map(|it| of_gpus(it, &gpus, topology));
    of_nics.chain(of_gpus).map(|(name, value)| (name.to_owned(), value)).collect()
}
