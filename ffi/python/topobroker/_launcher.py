"""Who launched this process, and its rank on the node, by the variables that launchers set."""

from __future__ import annotations

from collections.abc import Mapping

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
        sizes = tasks(environ["SLURM_STEP_TASKS_PER_NODE"])
        node = int(environ.get("SLURM_NODEID", "0"))
        if node < len(sizes):
            return "Slurm", integer(environ, "SLURM_LOCALID"), sizes[node]
    raise ValueError(
        "nobody told this process its rank: it has neither LOCAL_RANK and LOCAL_WORLD_SIZE (torchrun) nor "
        "variables of Slurm, Open MPI, MPICH or PALS; give bind_this_rank(rank, size)"
    )


def integer(environ: Mapping[str, str], name: str) -> int:
    try:
        return int(environ[name])
    except ValueError:
        raise ValueError(f"{name} is {environ[name]!r}; expected a number") from None


def tasks(text: str) -> list[int]:
    """The number of tasks of each node, from text such as 4(x2),3."""
    sizes: list[int] = []
    try:
        for part in text.split(","):
            count, _, times = part.partition("(x")
            sizes.extend([int(count)] * int(times.rstrip(")") or 1))
    except ValueError:
        raise ValueError(f"SLURM_STEP_TASKS_PER_NODE is {text!r}; expected numbers such as 4(x2),3") from None
    return sizes
