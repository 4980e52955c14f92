"""The node's hwloc topology, shared by all processes.

>>> import topobroker
>>> t = topobroker.load()
>>> len(t.cores) >= 1 and t.cores[0].cpuset <= t.cpuset
True

`load()` finds what is published on this node or discovers it, and shows what the cgroup of this process
leaves, as hwloc would. `adopt()` maps all of what is published. `mine()` is the part that this process may use. `bind_this_rank()` binds a worker to cores near its GPU.
"""

from topobroker._topobroker import (
    __version__,
    adopt,
    adopt_cluster,
    adopted,
    bind_cpus,
    bind_memory,
    bound_cpus,
    cpu_quota,
    job,
    mine,
    open,
    variables_of,
)

# pyright: reportUnsupportedDunderAll=false, reportUnusedImport=false
# What is in a module of Python, and is read when it is used.
_MODULES: dict[str, str] = {
    "load": "topobroker._load",
    "bind_this_rank": "topobroker._bind",
    "Binding": "topobroker._binding",
    "diff": "topobroker._tools",
    "Difference": "topobroker._tools",
    "audit": "topobroker._tools",
    "Audit": "topobroker._tools",
    "AuditedProcess": "topobroker._tools",
    "AuditedCall": "topobroker._tools",
}

__all__ = [
    "AdoptError",
    "Audit",
    "AuditedCall",
    "AuditedProcess",
    "Binding",
    "Cluster",
    "CpuKind",
    "Difference",
    "Distances",
    "Job",
    "Link",
    "Links",
    "Locality",
    "MemoryAttribute",
    "Network",
    "Node",
    "NodeGroup",
    "Object",
    "Objects",
    "Path",
    "Rank",
    "Set",
    "TopobrokerError",
    "Topology",
    "Vertex",
    "__version__",
    "adopt",
    "adopt_cluster",
    "adopted",
    "audit",
    "bind_cpus",
    "bind_memory",
    "bind_this_rank",
    "bound_cpus",
    "cpu_quota",
    "diff",
    "job",
    "load",
    "mine",
    "variables_of",
]


def __getattr__(name: str) -> object:
    """Classes and modules when they are first used: a process pays for what it uses."""
    if name in _MODULES:
        import importlib

        value: object = getattr(importlib.import_module(_MODULES[name]), name)
    elif name in __all__:
        from topobroker import _topobroker

        value = getattr(_topobroker, name)
    else:
        raise AttributeError(f"module 'topobroker' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
