"""Binding workers: cores near the GPU of a rank, divided among the ranks that are near it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Optional, Union

from topobroker._binding import _BOUND, Binding
from topobroker._gpus import Gpu, named, seen_gpus
from topobroker._launcher import integer, is_number, rank_of
from topobroker._topobroker import _MAX_RANKS

if TYPE_CHECKING:
    from topobroker import Object, Set, Topology

    _GpuName = Union[int, str]
    _Memory = Literal["auto", "bind", "interleave", "firsttouch"]


def bind_this_rank(
    rank: Optional[int] = None,
    size: Optional[int] = None,
    *,
    gpu: Optional[_GpuName] = None,
    gpus: Optional[Sequence[_GpuName]] = None,
    memory: Optional[_Memory] = "auto",
    hyperthreads: bool = True,
    nic_variables: bool = True,
    gpu_variables: bool = False,
    dry_run: bool = False,
    quiet: bool = False,
    topology: Optional[Topology] = None,
    environ: Optional[Mapping[str, str]] = None,
) -> Binding:
    """Binds this process, one of `size` ranks on this node, and returns how.

    `rank` and `size` are numbers on this node; by default those that torchrun (also of Ray Train), Slurm,
    Open MPI, MPICH, PALS or `topobroker job exec` set. Dask sets no such variables: give them.

    A rank without `gpu` has the GPU that it uses by convention: cuda:LOCAL_RANK of those that it sees, in turn
    if there are more ranks than GPUs. If a program uses other GPUs, `gpus` gives the GPU of each rank; then all
    ranks know what the others have, and have no core in common that they need not share. `gpu` is the GPU of
    this rank alone: it is assumed that the others have theirs in turn or in blocks, whichever fits, or
    otherwise divide them evenly. Both take a UUID, the name of a MIG instance, or a number among the GPUs that
    this process sees, in the order of their bus ids (CUDA_DEVICE_ORDER=PCI_BUS_ID); -1 is none.

    A rank has cores near its GPU. With fewer ranks than GPUs, a rank may use several, and is bound to the cores
    near one GPU only if `gpu`, `gpus` or `gpu_variables` is given. Without GPUs the cores that the ranks may
    use are divided among them. Ranks that a launcher has bound already keep their PUs. `memory` is the policy
    for NUMA nodes of ordinary memory near these cores: "bind" (others only if they are full), "auto" (the same,
    if the kernel lets this process), "interleave", "firsttouch", or None. With `hyperthreads=False` a rank has
    one PU of each core. Variables make UCX, NCCL and MPICH use the NIC near the GPU (not if they are set); with
    `gpu_variables` also CUDA, ROCm and Level Zero the GPU, which then is number 0.

    One line on standard error says what was done, unless `quiet`. With `dry_run` nothing is done, and the line
    says why too. A second call of the same rank has the same result. `topology` is used instead of `load()`,
    for example to plan for another node; `environ` instead of `os.environ`.

    Raises ValueError if the rank is unknown, and TopobrokerError if the kernel refuses.
    """
    import sys

    environ = os.environ if environ is None else environ
    planner = _Planner(topology, environ, gpu_variables)
    binding = planner.plan(rank, size, _number(gpu), gpus and [_number(it) for it in gpus], memory, hyperthreads)
    planner.add_devices(binding, nic_variables, gpu_variables)
    if not dry_run:
        binding.apply()
    if not quiet:
        print(binding.explain() if dry_run else binding, file=sys.stderr)
    return binding


def _number(gpu: Union[int, str, None]) -> Union[int, str, None]:
    """A GPU, as a number if the text is one."""
    return int(gpu) if isinstance(gpu, str) and is_number(gpu) else gpu


class _Choice:
    """The GPU of a rank: GPUs that are used, how many ranks have this one, and which of these it is."""

    # Whether a rank may use more GPUs than its own, because there are more than ranks.
    is_one_of_several = False

    def __init__(self, own: Optional[Gpu], used: list[Object], sharers: int, index: int) -> None:
        self.own, self.used, self.sharers, self.index = own, used, sharers, index

    @classmethod
    def of_all(cls, of_ranks: Sequence[Optional[Gpu]], rank: int) -> _Choice:
        """The choice of a rank, if that of each rank is known."""
        own = of_ranks[rank]
        objects = [None if it is None else it.object for it in of_ranks]
        ranks = [it for it, other in enumerate(objects) if own is not None and other == own.object]
        used = list(dict.fromkeys(it for it in objects if it is not None))
        return cls(own, used, max(len(ranks), 1), ranks.index(rank) if ranks else 0)


class _Planner:
    """Finds out which PUs and which GPU a rank has. It computes what each rank of the node has, so that
    each rank knows what the others have."""

    def __init__(self, topology: Optional[Topology], environ: Mapping[str, str], narrows: bool) -> None:
        from topobroker import load

        self.whole = topology if topology is not None else load()
        # Whether it says something of this process, and not only of another machine.
        self.own = self.whole.keys is not None and self.whole.is_this_system
        self.environ = environ
        # Whether a rank sees its own GPU alone.
        self.narrows = narrows

    def plan(
        self,
        rank: Optional[int],
        size: Optional[int],
        gpu: Optional[_GpuName],
        gpus: Optional[Sequence[Optional[_GpuName]]],
        memory: Optional[_Memory],
        hyperthreads: bool,
    ) -> Binding:
        if rank is None and size is None and self.environ.get("TOPOBROKER_RANK") and self.whole.keys is not None:
            of_job = self._of_job(memory, hyperthreads)
            if of_job is not None:
                return of_job
        launcher = "given"
        if rank is None or size is None:
            launcher, own_rank, own_size = rank_of(self.environ)
            rank = own_rank if rank is None else rank
            size = own_size if size is None else size
        if size > _MAX_RANKS:
            raise ValueError(f"{size} ranks on this node; expected {_MAX_RANKS} at most")
        if not 0 <= rank < size:
            raise ValueError(f"rank {rank} of {size} ranks on this node; expected 0 to {size - 1}")
        if gpus is not None and len(gpus) != size:
            raise ValueError(f"gpus names {len(gpus)} GPUs; expected one for each of the {size} ranks")
        binding = Binding(rank, size, launcher)
        usable, is_bound = self._usable(binding)
        self.reachable, seen = seen_gpus(self.whole.gpus, self.environ, self.own, binding.reasons)
        choice = self._choice(binding, seen, gpu, gpus)
        if choice.own is not None:
            binding.gpu, binding.gpu_name = choice.own.object, choice.own.instance
        if is_bound or choice.is_one_of_several:
            cpus = usable
        elif choice.own is not None:
            cpus = self._near(binding, choice, choice.own.object, usable)
        else:
            cpus = self._share(usable, size, rank)
            binding.reasons.append(f"no GPU: {size} ranks divide the PUs {usable}")
        return self._finish(binding, cpus, usable, memory, hyperthreads)

    def _of_job(self, memory: Optional[_Memory], hyperthreads: bool) -> Optional[Binding]:
        """What a job of topobroker has for the rank."""
        from topobroker import job

        own = job()
        number = integer(self.environ, "TOPOBROKER_RANK")
        if own is None or number not in own:
            return None
        rank = own[number]
        binding = Binding(rank.local_rank, len(own), f"job {own.name}")
        binding.gpu = rank.gpus[0] if rank.gpus else None
        binding.nics = rank.nics
        binding.variables = {**rank.gpu_variables, **rank.nic_variables}
        binding.reasons.append(f"job {own.name} says what rank {number} has")
        usable, _ = self._usable(binding)
        return self._finish(binding, rank.cpuset or usable, usable, memory, hyperthreads)

    def _usable(self, binding: Binding) -> tuple[Set, bool]:
        """The PUs that the ranks divide; or those of this rank, if its launcher has bound it."""
        whole = self.whole.allowed_cpuset & self.whole.cpuset
        if not self.own:
            return whole, False
        from topobroker._topobroker import _limits

        affinity, possible = _limits()
        before = self._before(binding, affinity)
        affinity = affinity if before is None else before
        binding._before = affinity
        usable = affinity & whole
        if not usable:
            binding.reasons.append(f"the topology has no PU of {affinity}, those of this process: it is of another machine")
            return whole, False
        if usable == possible & whole:
            return usable, False
        by = self._bound_by(binding, affinity) if before is None else None
        if by is not None:
            binding.reasons.append(f"{by} has bound this rank to the PUs {usable}: they stay")
            return usable, True
        binding.reasons.append(f"affinity and cgroup leave the PUs {usable} of {whole}")
        return usable, False

    def _before(self, binding: Binding, affinity: Set) -> Optional[Set]:
        """The PUs that this process had before this package bound it as the same rank."""
        from topobroker import Set

        words = os.environ.get(_BOUND, "").split(":")
        if words[:-1] != [binding.launcher, str(binding.rank), str(binding.size), str(affinity)]:
            return None
        binding.reasons.append(f"this rank was bound before: it had the PUs {words[-1]}")
        return Set(words[-1])

    def _bound_by(self, binding: Binding, affinity: Set) -> Optional[str]:
        """Who has bound this rank; None if it has the PUs that all ranks have."""
        from topobroker import Set

        launcher = binding.launcher
        if launcher == "given":
            try:
                launcher = rank_of(self.environ)[0]
            except ValueError:
                return None
        if launcher != "torchrun":
            return launcher
        # torchrun binds only if it is asked to, and then not itself.
        try:
            return None if Set(os.sched_getaffinity(os.getppid())) == affinity else launcher
        except OSError:
            return None

    def _choice(
        self,
        binding: Binding,
        seen: list[Gpu],
        gpu: Optional[_GpuName],
        gpus: Optional[Sequence[Optional[_GpuName]]],
    ) -> _Choice:
        """The GPU of the rank, and which others have it, as far as this one can know."""
        rank, size = binding.rank, binding.size
        if gpus is not None:
            binding.reasons.append("the GPU of each rank is given")
            return _Choice.of_all([self._given(it, seen) for it in gpus], rank)
        if gpu is None and (len(seen) != 1 or size == 1 or self._count() <= 1):
            if not seen:
                return _Choice(None, [], 1, 0)
            binding.reasons.append(_which(binding, seen))
            choice = _Choice.of_all([seen[it % len(seen)] for it in range(size)], rank)
            count = len({it.object for it in seen})
            if size < count and not self.narrows:
                choice.is_one_of_several = True
                text = f"{size} ranks may use {count} GPUs: none is bound to the cores near one; gpu= or gpus= binds"
                binding.reasons.append(text)
            return choice
        own = self._given(gpu, seen) if gpu is not None else seen[0]
        if own is None:
            return _Choice(None, [], 1, 0)
        # What others have is not known, and they must come to the same result: any GPU may have a rank.
        every = [it.object for it in (seen if len(seen) > 1 else self.reachable)]
        used = list(dict.fromkeys([*every, own.object]))
        ways = {
            "in turn": [every[it % len(every)] for it in range(size)],
            "in blocks": [every[it * len(every) // size] for it in range(size)],
        }
        for way, of_ranks in ways.items():
            if of_ranks[rank] == own.object:
                binding.reasons.append(f"it is assumed that {size} ranks take {len(every)} GPUs {way}")
                ranks = [it for it in range(size) if of_ranks[it] == own.object]
                return _Choice(own, used, len(ranks), ranks.index(rank))
        sharers = -(-size // max(self._count() if gpu is None else len(every), 1))
        binding.reasons.append(f"it is assumed that {sharers} of {size} ranks have this GPU")
        return _Choice(own, used, sharers, rank % sharers)

    def _count(self) -> int:
        """The number of GPUs that the ranks of this node have together, as far as their launcher says."""
        count = self.environ.get("SLURM_GPUS_ON_NODE", "")
        return int(count) if is_number(count) else len(self.reachable)

    def _given(self, gpu: Optional[_GpuName], seen: list[Gpu]) -> Optional[Gpu]:
        """A GPU that the user names."""
        if gpu is None or gpu == -1:
            return None
        if isinstance(gpu, int):
            if not 0 <= gpu < len(seen):
                raise ValueError(f"GPU {gpu}: this process sees {len(seen)} GPUs")
            return seen[gpu]
        everywhere = list(self.whole.gpus)
        found = named(str(gpu), [], everywhere)
        if found is None:
            known = ", ".join(it.uuid or it.bus_id or str(it) for it in everywhere) or "none"
            raise ValueError(f"GPU {gpu!r} is not on this node; it has {known}")
        return found

    def _near(self, binding: Binding, choice: _Choice, gpu: Object, usable: Set) -> Set:
        """The PUs of a rank with a GPU. PUs near several GPUs that are used are divided among these, and
        those of a GPU among the ranks that have it."""
        near = _locality(gpu, usable)
        rivals = sorted(
            (other for other in choice.used if _locality(other, usable) == near),
            key=lambda other: (other.bus_id or "", other.id),
        )
        part = self._share(near, len(rivals), rivals.index(gpu))
        binding.reasons.append(f"GPUs that are used near the PUs {near}: {len(rivals)}; the part of this one is {part}")
        if choice.sharers == 1:
            return part
        binding.reasons.append(f"{choice.sharers} ranks have this GPU, and divide its PUs")
        return self._share(part, choice.sharers, choice.index)

    def _share(self, cpus: Set, count: int, number: int) -> Set:
        """A share of some PUs. Cores are not split, unless there are more shares than cores."""
        view = self.whole.view(cpus)
        shares = view.distribute(count, "core" if count <= len(view.cores) else None)
        return shares[number] & cpus

    def _finish(
        self, binding: Binding, cpus: Set, usable: Set, memory: Optional[_Memory], hyperthreads: bool
    ) -> Binding:
        from topobroker import Set, cpu_quota

        if not hyperthreads:
            cpus = self.whole.singlify_per_core(cpus)
        binding.cpus = cpus
        near = self.whole.nodeset_of(cpus)
        if self.own:
            # The memory controller of the cgroup may leave fewer.
            near = (near & _allowed_nodes()) or near
        binding.nodes = (near & self.whole.default_nodeset) or near
        if memory is not None and binding.nodes:
            binding.memory = memory
            if memory == "firsttouch":
                binding.nodes = Set()
        cores = (len(self.whole.view(cpus).cores), len(self.whole.view(usable).cores))
        if binding.size > cores[1]:
            binding.reasons.append(f"{binding.size} ranks share {cores[1]} cores: oversubscribed")
        quota = cpu_quota() if self.own else None
        if quota is not None and binding.size > quota:
            binding.reasons.append(f"the quota of the cgroup leaves {binding.size} ranks the CPU time of {quota:.2f} PUs")
        binding.reasons.append(f"PUs: {len(cpus)}, of cores: {cores[0]}")
        return binding

    def add_devices(self, binding: Binding, nic_variables: bool, gpu_variables: bool) -> None:
        """The NIC near the GPU, or near the PUs if there is none, and the variables of both."""
        from topobroker import variables_of

        found = binding.variables
        networks = self.whole.networks
        if not binding.nics and networks:
            nics = networks[0].nics
            if binding.gpu is not None:
                # All GPUs of the node take NICs in turn, so that two near one NIC share it evenly.
                gpus = list(self.whole.gpus)
                binding.nics = self.whole.assign(nics, gpus)[gpus.index(binding.gpu)]
            else:
                binding.nics = self.whole.assign(nics, [binding.cpus])[0]
        nearer = self.whole.nearer_but_down(binding.cpus, binding.nics[0]) if binding.nics else None
        if nearer is not None:
            binding.reasons.append(f"{nearer.name} is nearer than {binding.nics[0].name}, and down")
        if not found:
            gpus = [] if binding.gpu is None else [binding.gpu]
            found = dict(variables_of(self.whole, nics=binding.nics, gpus=gpus))
            if binding.gpu_name is not None:
                found = {name: value for name, value in found.items() if not _is_of_gpus(name)}
                found["CUDA_VISIBLE_DEVICES"] = binding.gpu_name
        wanted = {True: gpu_variables, False: nic_variables}
        # What a launcher has set for GPUs is what the rank sees now: with `gpu_variables` it sees fewer.
        binding.variables = {
            name: value
            for name, value in found.items()
            if wanted[_is_of_gpus(name)] and (_is_of_gpus(name) or name not in self.environ)
        }


def _is_of_gpus(name: str) -> bool:
    return name.startswith(("CUDA_", "ROCR_", "ZE_"))


def _which(binding: Binding, seen: list[Gpu]) -> str:
    if len(seen) == 1:
        return "it is the only GPU that this process sees"
    if len(seen) < binding.size:
        return f"{binding.size} ranks take {len(seen)} GPUs in turn"
    return f"rank {binding.rank} has GPU {binding.rank} of those that it sees, as cuda:LOCAL_RANK"


def _locality(gpu: Object, usable: Set) -> Set:
    """The PUs near a GPU that may be used; if there are none, those of the nearest object that has some."""
    place: Optional[Object] = gpu.non_io_ancestor
    while place is not None:
        near = (place.cpuset or usable) & usable
        if near:
            return near
        place = place.parent
    return usable


def _allowed_nodes() -> Set:
    """The NUMA nodes that the kernel lets this process take memory from."""
    from topobroker import Set

    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            lines = [line.split()[1] for line in status if line.startswith("Mems_allowed_list:")]
        return Set(lines[0]) if lines else ~Set()
    except (OSError, ValueError, IndexError):
        return ~Set()
