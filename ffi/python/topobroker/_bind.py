"""Binding workers: cores near the GPU of a rank, divided among the ranks that are near it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, Optional, Union

if TYPE_CHECKING:
    from topobroker import Object, Set, Topology

    _Memory = Literal["bind", "interleave", "firsttouch"]

# Variables with the rank and the number of ranks on this node, by who sets them. The first one that is
# there counts: torchrun below srun has both, and its own are those of the worker.
_LAUNCHERS = (
    ("torchrun", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
    ("Open MPI", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("MPICH", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ("MVAPICH", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"),
    ("PALS", "PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"),
    ("PMIx", "PMIX_LOCAL_RANK", "PMIX_LOCAL_SIZE"),
)

# Launchers whose workers all have the PUs of the launcher.
_NEVER_BIND = ("torchrun", "given")

_VISIBLE = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")


class Binding:
    """How a rank is bound, and why."""

    rank: int
    """Number of the rank on this node."""
    size: int
    """Number of ranks on this node."""
    launcher: str
    """Who told rank and size."""
    cpus: Set
    """PUs of the rank."""
    nodes: Set
    """NUMA nodes that its memory comes from."""
    memory: Literal["default", "bind", "interleave", "firsttouch"]
    """Memory policy."""
    gpu: Optional[Object]
    """The GPU that it is near; None without one."""
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
        self.nics = []
        self.variables = {}
        self.reasons = []

    def __str__(self) -> str:
        """What it does, in one line."""
        parts = [f"rank {self.rank} of {self.size} ({self.launcher})"]
        if self.gpu is not None:
            parts.append(f"GPU {self.gpu.uuid or self.gpu.name or ''} {self.gpu.bus_id or ''}".rstrip())
        parts.append(f"PUs {self.cpus}")
        if self.memory != "default":
            parts.append(f"memory {self.memory} {self.nodes}".rstrip())
        if self.nics:
            parts.append("NIC " + ",".join(nic.name or "" for nic in self.nics))
        parts.extend(f"{name}={value}" for name, value in self.variables.items())
        return "topobroker: " + "; ".join(parts)

    def explain(self) -> str:
        """What it does, and why, in lines."""
        return "\n".join([str(self), *(f"  {reason}" for reason in self.reasons)])

    def apply(self) -> None:
        """Binds this process, and sets the variables."""
        from topobroker import bind_cpus, bind_memory

        bind_cpus(self.cpus)
        if self.memory != "default":
            bind_memory(self.memory, self.nodes)
        os.environ.update(self.variables)


def bind_this_rank(
    rank: Optional[int] = None,
    size: Optional[int] = None,
    *,
    gpu: Union[int, str, None] = None,
    memory: Optional[_Memory] = "bind",
    hyperthreads: bool = True,
    nic_variables: bool = True,
    gpu_variables: bool = False,
    dry_run: bool = False,
    quiet: bool = False,
    topology: Optional[Topology] = None,
    environ: Optional[Mapping[str, str]] = None,
) -> Binding:
    """Binds this process, one of `size` ranks on this node, and returns how.

    `rank` and `size` are numbers on this node; by default those that torchrun, Slurm, Open MPI, MPICH,
    PALS or `topobroker job exec` set. `gpu` is the UUID of the rank's GPU (or MIG instance), or its number
    as CUDA or ROCm show it to this process, or -1 for none; by default the GPU that the rank uses by
    convention, cuda:LOCAL_RANK.

    A rank has cores near its GPU, and shares them with no rank that it need not share with. Without a GPU
    the cores that the ranks may use are divided among them. Ranks that a launcher has bound already keep
    their PUs. `memory` is the policy for NUMA nodes of ordinary memory near these cores: "bind" (others
    only if they are full), "interleave", "firsttouch", or None. With `hyperthreads=False` a rank has one
    PU of each core. Variables tell UCX, NCCL and MPICH which NIC is near the GPU (not if they are set);
    with `gpu_variables` also CUDA, ROCm and Level Zero the GPU.

    One line on standard error says what was done, unless `quiet`. With `dry_run` nothing is done, and the
    line says why too.

    Raises ValueError if the rank is unknown, and TopobrokerError if the kernel refuses.
    """
    import sys

    environ = os.environ if environ is None else environ
    planner = _Planner(topology, environ)
    binding = planner.plan(rank, size, gpu, memory, hyperthreads)
    planner.add_devices(binding, nic_variables, gpu_variables)
    if not quiet:
        print(binding.explain() if dry_run else binding, file=sys.stderr)
    if not dry_run:
        binding.apply()
    return binding


def _rank_of(environ: Mapping[str, str]) -> tuple[str, int, int]:
    """Who launched this process, and its rank and the number of ranks on this node."""
    for launcher, rank, size in _LAUNCHERS:
        if rank in environ and size in environ:
            return launcher, int(environ[rank]), int(environ[size])
    if "SLURM_LOCALID" in environ:
        counts = environ.get("SLURM_STEP_TASKS_PER_NODE") or environ.get("SLURM_TASKS_PER_NODE", "")
        sizes: list[int] = []
        for part in filter(None, counts.split(",")):
            count, _, times = part.partition("(x")
            sizes.extend([int(count)] * int(times.rstrip(")") or 1))
        node = int(environ.get("SLURM_NODEID", "0"))
        if node < len(sizes):
            return "Slurm", int(environ["SLURM_LOCALID"]), sizes[node]
    raise ValueError(
        "nobody told this process its rank: it has neither LOCAL_RANK and LOCAL_WORLD_SIZE (torchrun) nor "
        "variables of Slurm, Open MPI, MPICH or PALS; give bind_this_rank(rank, size)"
    )


class _Planner:
    """Finds out which PUs and which GPU a rank has. It is the same for all ranks of a node, so each rank
    knows what the others have."""

    def __init__(self, topology: Optional[Topology], environ: Mapping[str, str]) -> None:
        from topobroker import load

        self.whole = topology if topology is not None else load()
        self.own = topology is None
        self.environ = environ

    def plan(
        self,
        rank: Optional[int],
        size: Optional[int],
        gpu: Union[int, str, None],
        memory: Optional[_Memory],
        hyperthreads: bool,
    ) -> Binding:
        if rank is None and size is None and "TOPOBROKER_RANK" in self.environ:
            of_job = self._of_job(memory, hyperthreads)
            if of_job is not None:
                return of_job
        launcher = "given"
        if rank is None or size is None:
            launcher, own_rank, own_size = _rank_of(self.environ)
            rank = own_rank if rank is None else rank
            size = own_size if size is None else size
        if not 0 <= rank < size:
            raise ValueError(f"rank {rank} of {size} ranks on this node; expected 0 to {size - 1}")
        binding = Binding(rank, size, launcher)
        usable, is_bound = self._usable(binding)
        gpus = self._gpus(binding)
        binding.gpu = self._gpu(binding, gpus, gpu)
        if is_bound:
            cpus = usable
        elif binding.gpu is not None:
            cpus = self._near(binding, gpus, binding.gpu, usable)
        else:
            cpus = self._share(usable, size, rank)
            binding.reasons.append(f"no GPU: {size} ranks divide the PUs {usable}")
        return self._finish(binding, cpus, memory, hyperthreads)

    def _of_job(self, memory: Optional[_Memory], hyperthreads: bool) -> Optional[Binding]:
        """What a job of topobroker has for the rank."""
        from topobroker import job

        own = job()
        number = int(self.environ["TOPOBROKER_RANK"])
        if own is None or number not in own:
            return None
        rank = own[number]
        binding = Binding(rank.local_rank, len(own), f"job {own.name}")
        binding.gpu = rank.gpus[0] if rank.gpus else None
        binding.nics = rank.nics
        binding.reasons.append(f"job {own.name} says what rank {number} has")
        usable, _ = self._usable(binding)
        return self._finish(binding, rank.cpuset or usable, memory, hyperthreads)

    def _usable(self, binding: Binding) -> tuple[Set, bool]:
        """The PUs that the ranks divide, or those of this rank if its launcher has bound it."""
        whole = self.whole.allowed_cpuset & self.whole.cpuset
        if not self.own:
            return whole, False
        from topobroker._topobroker import _limits

        affinity, possible = _limits()
        usable = affinity & whole
        if not usable:
            binding.reasons.append(f"the topology has none of the PUs {affinity} of this process: it is of another machine")
            return whole, False
        if usable == possible & whole or binding.launcher in _NEVER_BIND:
            if usable != whole:
                binding.reasons.append(f"affinity and cgroup leave the PUs {usable} of {whole}")
            return usable, False
        binding.reasons.append(f"{binding.launcher} has bound this rank to the PUs {usable}: they stay")
        return usable, True

    def _gpus(self, binding: Binding) -> list[Object]:
        """The GPUs that this process sees, in the order of their numbers. An instance of MIG is its GPU."""
        all_gpus = sorted(self.whole.gpus, key=lambda gpu: gpu.bus_id or "")
        name = next((name for name in _VISIBLE if self.environ.get(name) is not None), None)
        if name is None:
            reachable = [gpu for gpu in all_gpus if not self.own or _is_reachable(gpu)]
            if len(reachable) < len(all_gpus):
                binding.reasons.append(f"the cgroup leaves {len(reachable)} of {len(all_gpus)} GPUs")
            return reachable
        vendor = 0x10DE if name.startswith("CUDA") else 0x1002
        of_vendor = [gpu for gpu in all_gpus if _vendor(gpu) in (vendor, None)]
        numbered = [gpu for gpu in of_vendor if not self.own or _is_reachable(gpu)]
        visible: list[Object] = []
        for word in filter(None, (word.strip() for word in self.environ[name].split(","))):
            found = _named(word, numbered, of_vendor)
            if found is None:
                # CUDA takes no GPU behind one that is not there.
                break
            visible.append(found)
        binding.reasons.append(f"{name}={self.environ[name]} leaves {len(visible)} of {len(all_gpus)} GPUs")
        return visible

    def _gpu(
        self, binding: Binding, gpus: list[Object], wanted: Union[int, str, None]
    ) -> Optional[Object]:
        """The GPU of the rank."""
        if wanted is None:
            found = self._gpu_of_rank(binding.rank, gpus)
            if found is not None:
                binding.reasons.append(_which(binding, gpus))
            return found
        if isinstance(wanted, int):
            if wanted < 0:
                return None
            if wanted >= len(gpus):
                raise ValueError(f"GPU {wanted}: this process sees {len(gpus)} GPUs")
            return gpus[wanted]
        everywhere = list(self.whole.gpus)
        found = _named(wanted, [], everywhere)
        if found is None:
            known = ", ".join(gpu.uuid or gpu.bus_id or str(gpu) for gpu in everywhere) or "none"
            raise ValueError(f"GPU {wanted!r} is not on this node; it has {known}")
        return found

    def _gpu_of_rank(self, rank: int, gpus: list[Object]) -> Optional[Object]:
        return gpus[rank % len(gpus)] if gpus else None

    def _near(self, binding: Binding, gpus: list[Object], gpu: Object, usable: Set) -> Set:
        """The PUs of a rank with a GPU. PUs near several GPUs are divided among these, and those of a GPU
        among the ranks that have it."""
        near = _locality(gpu, usable)
        # If this process sees a GPU of its own alone, so do others: any GPU may be one of theirs.
        is_shared = len(gpus) > 1 or binding.size == 1
        used = list(dict.fromkeys(gpus)) if is_shared else list(self.whole.gpus)
        if gpu not in used:
            used.append(gpu)
        if is_shared:
            ranks = [rank for rank in range(binding.size) if self._gpu_of_rank(rank, gpus) == gpu]
            if binding.rank not in ranks:
                # The rank has another GPU than by convention, and so have others.
                ranks = [binding.rank]
            used = used[: max(binding.size, used.index(gpu) + 1)]
            sharers, own = len(ranks), ranks.index(binding.rank)
        else:
            sharers = -(-binding.size // len(used))
            own = binding.rank % sharers
        rivals = sorted(
            {other for other in used if _locality(other, usable) == near},
            key=lambda other: (other.bus_id or "", other.id),
        )
        part = self._share(near, len(rivals), rivals.index(gpu))
        binding.reasons.append(
            f"the PUs {near} are near the GPU, and near {len(rivals) - 1} others: {part} are its part"
        )
        if sharers == 1:
            return part
        binding.reasons.append(f"{sharers} ranks have this GPU, and divide its PUs")
        return self._share(part, sharers, own)

    def _share(self, cpus: Set, count: int, number: int) -> Set:
        """A share of some PUs. Cores are not split, unless there are more shares than PUs of all cores."""
        view = self.whole.view(cpus)
        shares = view.distribute(count, "core" if count <= len(view.cores) else None)
        return shares[number] & cpus

    def _finish(self, binding: Binding, cpus: Set, memory: Optional[_Memory], hyperthreads: bool) -> Binding:
        from topobroker import Set

        if not hyperthreads:
            cpus = self.whole.singlify_per_core(cpus)
        binding.cpus = cpus
        near = self.whole.nodeset_of(cpus)
        binding.nodes = (near & self.whole.default_nodeset) or near
        if memory is not None and binding.nodes:
            binding.memory = memory
            if memory == "firsttouch":
                binding.nodes = Set()
        cores = (len(self.whole.view(cpus).cores), len(self.whole.cores))
        if binding.size > cores[1]:
            binding.reasons.append(f"{binding.size} ranks share {cores[1]} cores: oversubscribed")
        binding.reasons.append(f"it has {len(cpus)} PUs of {cores[0]} cores")
        return binding

    def add_devices(self, binding: Binding, nic_variables: bool, gpu_variables: bool) -> None:
        """The NIC near the GPU, else near the PUs, and the variables of both."""
        from topobroker import variables_of

        networks = self.whole.networks
        if not binding.nics and networks:
            nics = networks[0].nics
            if binding.gpu is not None:
                # All GPUs of the node take NICs in turn, so that two beside one NIC know of each other.
                gpus = list(self.whole.gpus)
                gpus = gpus if binding.gpu in gpus else [*gpus, binding.gpu]
                binding.nics = self.whole.assign(nics, gpus)[gpus.index(binding.gpu)]
            else:
                binding.nics = self.whole.assign(nics, [binding.cpus])[0]
        found = variables_of(
            self.whole,
            nics=binding.nics if nic_variables else [],
            gpus=[binding.gpu] if gpu_variables and binding.gpu is not None else [],
        )
        binding.variables = {name: value for name, value in found if name not in self.environ}


def _which(binding: Binding, gpus: list[Object]) -> str:
    if len(gpus) == 1:
        return "it is the only GPU that this process sees"
    if len(gpus) < binding.size:
        return f"{binding.size} ranks take {len(gpus)} GPUs in turn"
    return f"rank {binding.rank} has GPU {binding.rank} of those that it sees, as cuda:LOCAL_RANK"


def _vendor(gpu: Object) -> Optional[int]:
    """PCI vendor of a GPU; None if it is on no PCI device."""
    above = [gpu, *gpu.ancestors]
    return next((it.attributes["vendor_id"] for it in above if it.type == "PCIDevice"), None)


def _named(word: str, numbered: list[Object], known: list[Object]) -> Optional[Object]:
    """The GPU that a word of CUDA_VISIBLE_DEVICES names: a number, a UUID or its beginning, or a MIG
    instance."""
    if word.isdigit():
        return numbered[int(word)] if int(word) < len(numbered) else None
    # The old name of an instance: MIG-GPU-<uuid>/<instance>/<instance>.
    whole = word.removeprefix("MIG-").split("/")[0] if word.startswith("MIG-GPU-") else word
    plain = word.removeprefix("GPU-")
    for gpu in known:
        uuid = gpu.uuid or ""
        if uuid.startswith(whole) or (uuid and uuid.removeprefix("0x") == plain):
            return gpu
        if word in (gpu.bus_id, gpu.name) or any(it.startswith(word) for it in gpu.mig_instances):
            return gpu
    return None


def _is_reachable(gpu: Object) -> bool:
    """Whether the cgroup of this process lets it open a GPU. If nobody knows its file, it does."""
    minor = next((it.facts["NVIDIAMinor"] for it in [gpu, *gpu.ancestors] if "NVIDIAMinor" in it.facts), None)
    if minor is None:
        return True
    try:
        os.close(os.open(f"/dev/nvidia{minor}", os.O_RDONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def _locality(gpu: Object, usable: Set) -> Set:
    """The PUs near a GPU that may be used; if there are none, those of the nearest object that has some."""
    place: Optional[Object] = gpu.non_io_ancestor
    while place is not None:
        near = (place.cpuset or usable) & usable
        if near:
            return near
        place = place.parent
    return usable
