"""How a rank is bound, and why."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, Optional

if TYPE_CHECKING:
    from topobroker import Object, Set

# How this process was bound: for whom, to what, and what it had before. So a second call, also of the
# program that `python -m topobroker bind` becomes, divides the same PUs.
_BOUND = "TOPOBROKER_BOUND"


class Binding:
    """How a rank is bound, and why."""

    rank: int
    """Number of the rank on this node."""
    size: int
    """Number of ranks on this node."""
    launcher: str
    """Where rank and size are from."""
    cpus: Set
    """PUs of the rank."""
    nodes: Set
    """NUMA nodes that its memory comes from."""
    memory: Literal["default", "auto", "bind", "interleave", "firsttouch"]
    """Memory policy; "auto" is "bind" if the kernel lets this process."""
    gpu: Optional[Object]
    """The GPU that it is near; None without one."""
    gpu_name: Optional[str]
    """The instance of MIG that it has; None if it has a whole GPU."""
    nics: list[Object]
    """Its NICs, the best first."""
    variables: dict[str, str]
    """Environment variables that are set; those that are set already are not among them."""
    reasons: list[str]
    """Why it is so, a sentence for each step."""

    def __init__(self, rank: int, size: int, launcher: str) -> None:
        self.rank, self.size, self.launcher = rank, size, launcher
        self.memory = "default"
        self.gpu = None
        self.gpu_name = None
        self.nics = []
        self.variables = {}
        self.reasons = []
        self._before: Optional[Set] = None

    def __str__(self) -> str:
        """What it does, in one line."""
        parts = [f"rank {self.rank} of {self.size} ({self.launcher})"]
        if self.gpu is not None:
            name = self.gpu_name or self.gpu.uuid or self.gpu.name or ""
            parts.append(f"GPU {name} {self.gpu.bus_id or ''}".rstrip())
        parts.append(f"PUs {self.cpus}")
        if self.memory != "default":
            policy = "bind" if self.memory == "auto" else self.memory
            parts.append(f"memory {policy} {self.nodes}".rstrip())
        if self.nics:
            parts.append("NIC " + ",".join(nic.name or "" for nic in self.nics))
        parts.extend(f"{name}={value}" for name, value in self.variables.items())
        return "topobroker: " + "; ".join(parts)

    def explain(self) -> str:
        """What it does, and why, in lines."""
        return "\n".join([str(self), *(f"  {reason}" for reason in self.reasons)])

    def apply(self) -> None:
        """Binds this process, and sets the variables."""
        from topobroker import TopobrokerError, bind_cpus, bind_memory

        os.environ.update(self.variables)
        bind_cpus(self.cpus)
        if self._before is not None:
            words = [self.launcher, str(self.rank), str(self.size), str(self.cpus), str(self._before)]
            os.environ[_BOUND] = ":".join(words)
        if self.memory == "default":
            return
        try:
            bind_memory("bind" if self.memory == "auto" else self.memory, self.nodes)
        except TopobrokerError as error:
            # Containers often forbid it.
            if self.memory != "auto":
                raise
            self.memory = "default"
            self.reasons.append(f"the memory is not bound: {error}")
