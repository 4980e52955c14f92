"""Who launched this process, and its rank on the node, by the variables that launchers set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Optional

# Variables with the rank and the number of ranks on this node, by who sets them. The first one that is
# there counts: torchrun below srun has both, and its own are those of the worker.
_LAUNCHERS = (
    ("torchrun", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
    ("Open MPI", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("MPICH", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ("MVAPICH", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"),
    ("PALS", "PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"),
    ("PMI", "PMI_LOCAL_RANK", "PMI_LOCAL_SIZE"),
    ("PMIx", "PMIX_LOCAL_RANK", "PMIX_LOCAL_SIZE"),
)


def rank_of(environ: Mapping[str, str]) -> tuple[str, int, int]:
    """Who launched this process, and its rank and the number of ranks on this node."""
    for launcher, rank, size in _LAUNCHERS:
        if environ.get(rank) and environ.get(size):
            return launcher, integer(environ, rank), integer(environ, size)
    # A batch script outside of any step has SLURM_LOCALID too.
    if environ.get("SLURM_LOCALID") and environ.get("SLURM_STEP_TASKS_PER_NODE"):
        node = integer(environ, "SLURM_NODEID") if environ.get("SLURM_NODEID") else 0
        count = tasks_of(node, environ["SLURM_STEP_TASKS_PER_NODE"])
        if count is not None:
            return "Slurm", integer(environ, "SLURM_LOCALID"), count
    raise ValueError(
        "this process does not know its rank: it has neither LOCAL_RANK and LOCAL_WORLD_SIZE (torchrun) nor "
        "variables of Slurm, Open MPI, MPICH or PALS; give bind_this_rank(rank, size)"
    )


def is_number(text: str) -> bool:
    """Whether a text is digits, and nothing else that Python takes for a number too."""
    return text.isascii() and text.isdigit()


def integer(environ: Mapping[str, str], name: str) -> int:
    if not is_number(environ[name]):
        raise ValueError(f"{name} is {environ[name]!r}; expected a number")
    return int(environ[name])


def tasks_of(node: int, text: str) -> Optional[int]:
    """The number of tasks of a node, from text such as 4(x2),3; None if it has no such node."""
    import re

    found = None
    for part in text.split(","):
        matched = re.fullmatch(r"([0-9]{1,9})(?:\(x([0-9]{1,9})\))?", part)
        if matched is None:
            raise ValueError(f"SLURM_STEP_TASKS_PER_NODE is {text!r}; expected numbers such as 4(x2),3")
        times = int(matched[2] or 1)
        if found is None and node < times:
            found = int(matched[1])
        node -= times
    return found
