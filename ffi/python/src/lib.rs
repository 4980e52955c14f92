//! The node's shared hwloc topology in Python: the module `topobroker._topobroker`, which the
//! package `topobroker` in the folder next to this one shows.
//!
//! What Python asks is answered by the reader. Classes are made when they are first used, because
//! each costs every process some kilobytes. Nothing of an object changes, so it is its own copy
//! (`__copy__`, `__deepcopy__`).
#![deny(unsafe_code)]

mod adopt;
mod binding;
mod cluster;
mod devices;
mod failure;
mod handles;
#[allow(unsafe_code, reason = "PyO3 does not say which interpreter this is")]
mod interpreter;
mod job;
#[allow(unsafe_code, reason = "Python has no lifetimes")]
mod kept;
mod links;
mod locality;
mod networks;
mod object;
mod objects;
mod set;
mod tables;
mod topology;

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use topobroker_layout::job::MAX_RANKS;

#[pymodule(gil_used = false)]
fn _topobroker(module: &Bound<'_, PyModule>) -> PyResult<()> {
    interpreter::refuse_others(module.py())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("_MAX_RANKS", MAX_RANKS)?;
    module.add_function(wrap_pyfunction!(adopt::adopt, module)?)?;
    module.add_function(wrap_pyfunction!(adopt::adopted, module)?)?;
    module.add_function(wrap_pyfunction!(adopt::_usable, module)?)?;
    module.add_function(wrap_pyfunction!(adopt::cpu_quota, module)?)?;
    module.add_function(wrap_pyfunction!(adopt::mine, module)?)?;
    module.add_function(wrap_pyfunction!(adopt::_adopt_keys, module)?)?;
    module.add_function(wrap_pyfunction!(adopt::_adopt_elected, module)?)?;
    module.add_function(wrap_pyfunction!(adopt::_publisher, module)?)?;
    module.add_function(wrap_pyfunction!(adopt::_limits, module)?)?;
    module.add_function(wrap_pyfunction!(adopt::_unpickled, module)?)?;
    module.add_function(wrap_pyfunction!(job::job, module)?)?;
    module.add_function(wrap_pyfunction!(topology::open_file, module)?)?;
    module.add_function(wrap_pyfunction!(cluster::adopted_cluster, module)?)?;
    module.add_function(wrap_pyfunction!(binding::bind_cpus, module)?)?;
    module.add_function(wrap_pyfunction!(binding::bound_cpus, module)?)?;
    module.add_function(wrap_pyfunction!(binding::bind_memory, module)?)?;
    module.add_function(wrap_pyfunction!(binding::variables_of, module)?)?;
    module.add_function(wrap_pyfunction!(__getattr__, module)?)
}

/// The classes of the module, made when they are asked for.
#[pyfunction]
fn __getattr__<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let class = match name {
        "Topology" => py.get_type::<handles::PyTopology>(),
        "Object" => py.get_type::<handles::PyObject>(),
        "Objects" => py.get_type::<handles::PyObjects>(),
        "Set" => py.get_type::<set::PySet>(),
        "Locality" => py.get_type::<locality::PyLocality>(),
        "Job" => py.get_type::<job::PyJob>(),
        "Rank" => py.get_type::<job::PyRank>(),
        "Network" => py.get_type::<networks::PyNetwork>(),
        "Distances" => py.get_type::<tables::PyDistances>(),
        "MemoryAttribute" => py.get_type::<tables::PyMemoryAttribute>(),
        "CpuKind" => py.get_type::<tables::PyCpuKind>(),
        "Links" => py.get_type::<links::PyLinks>(),
        "Link" => py.get_type::<links::PyLink>(),
        "Vertex" => py.get_type::<links::PyVertex>(),
        "Path" => py.get_type::<links::PyPath>(),
        "Cluster" => py.get_type::<cluster::PyCluster>(),
        "Node" => py.get_type::<cluster::PyNode>(),
        "NodeGroup" => py.get_type::<cluster::PyGroup>(),
        "TopobrokerError" => py.get_type::<failure::TopobrokerError>(),
        "AdoptError" => py.get_type::<failure::AdoptError>(),
        _ => {
            let text = format!("module 'topobroker' has no attribute '{name}'");
            return Err(PyAttributeError::new_err(text));
        }
    };
    Ok(class.into_any())
}
