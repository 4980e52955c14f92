"""Splits the processes of a job by the L3 caches that they are bound to.

The argument is mpi_handles.c as a shared library, compiled with the MPI that mpi4py uses.
"""

import ctypes
import sys

from mpi4py import MPI

handles = ctypes.CDLL(sys.argv[1])


def guided(comm, uri, key=0):
    """The processes of a communicator on the same instance; None if this one is on none."""
    made = ctypes.c_int()
    error = handles.tb_example_guided(comm.py2f(), uri.encode(), key, ctypes.byref(made))
    if error != MPI.SUCCESS:
        raise MPI.Exception(error)
    near = MPI.Comm.f2py(made.value)
    return None if near == MPI.COMM_NULL else near


near = guided(MPI.COMM_WORLD, "hwloc://L3Cache")
if near is not None:
    print(f"rank {MPI.COMM_WORLD.rank}: {near.size} ranks on its L3 cache", flush=True)
    near.Free()
