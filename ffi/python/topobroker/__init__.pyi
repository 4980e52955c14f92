from topobroker._bind import bind_this_rank as bind_this_rank
from topobroker._binding import Binding as Binding
from topobroker._load import load as load
from topobroker._tools import Audit as Audit
from topobroker._tools import AuditedCall as AuditedCall
from topobroker._tools import AuditedProcess as AuditedProcess
from topobroker._tools import Difference as Difference
from topobroker._tools import audit as audit
from topobroker._tools import diff as diff
from topobroker._topobroker import (
    AdoptError as AdoptError,
    Cluster as Cluster,
    CpuKind as CpuKind,
    Distances as Distances,
    Job as Job,
    Link as Link,
    Links as Links,
    Locality as Locality,
    MemoryAttribute as MemoryAttribute,
    Network as Network,
    Node as Node,
    NodeGroup as NodeGroup,
    Object as Object,
    Objects as Objects,
    Path as Path,
    Rank as Rank,
    Set as Set,
    TopobrokerError as TopobrokerError,
    Topology as Topology,
    Vertex as Vertex,
    __version__ as __version__,
    adopt as adopt,
    adopt_cluster as adopt_cluster,
    adopted as adopted,
    bind_cpus as bind_cpus,
    bind_memory as bind_memory,
    bound_cpus as bound_cpus,
    cpu_quota as cpu_quota,
    job as job,
    mine as mine,
    open as open,
    variables_of as variables_of,
)
