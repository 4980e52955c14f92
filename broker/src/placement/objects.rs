//! The objects that ranks are mapped and bound to.

use topobroker_reader::{Object, ObjectType, Topology};

/// Objects of a type that have PUs; the root if there are none. NUMA nodes are those whose memory
/// is the default of their PUs, as in PRRTE and Open MPI 5: not high-bandwidth memory of the same
/// PUs.
pub(super) fn objects(topology: Topology<'_>, kind: ObjectType) -> Vec<Object<'_>> {
    let all: Vec<Object<'_>> = match kind {
        ObjectType::NUMANode => topology.default_numa_nodes().collect(),
        kind => topology.objects_with_type(kind).collect(),
    };
    let all: Vec<Object<'_>> = all.into_iter().filter(|it| it.cpuset_weight() != Some(0)).collect();
    if all.is_empty() { vec![topology.root()] } else { all }
}

/// Whether the machine has cores: without them launchers bind nothing, unless they are asked to.
pub(super) fn has_cores(topology: Topology<'_>) -> bool {
    objects(topology, ObjectType::Core).iter().all(|it| it.object_type() == ObjectType::Core)
}

/// Type and logical index of an object, for errors.
pub(super) fn named(object: Object<'_>) -> String {
    format!("{} L#{}", object.type_name(false), object.logical_index())
}
