"""A communicator of the ranks of one L3 cache, and how many ranks are on a package, without asking hwloc.

topobroker run -- mpirun -n 4 python mpi_groups.py
"""

import topobroker
from mpi4py import MPI

world = MPI.COMM_WORLD
node = world.Split_type(MPI.COMM_TYPE_SHARED)
topology = topobroker.load()

# The PUs that this rank may run on show where it is: the lowest object that has all of it.
place = topology.covering(topobroker.bound_cpus()) or topology.root
cache = place if place.type == "L3Cache" else place.ancestor("L3")
near = node.Split(-1 if cache is None else cache.logical_index, node.rank)
strings = node.allgather(topology.locality_string(topobroker.bound_cpus()) or "")
shared = [topobroker.Locality.of_strings(strings[node.rank], other) for other in strings]
with_package = sum("package" in it for it in shared)
print(f"rank {world.rank}: {near.size} ranks on its L3 cache, {with_package} on its package", flush=True)
near.Free()
node.Free()
