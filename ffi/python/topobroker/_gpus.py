"""The GPUs that a process sees: those that its cgroup and the variables of CUDA, ROCm and Level Zero leave."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Optional

from topobroker._launcher import is_number

if TYPE_CHECKING:
    from topobroker import Object

_NVIDIA, _AMD, _INTEL = 0x10DE, 0x1002, 0x8086

# By vendor, variables that leave some GPUs, each of those that the one before leaves.
_VISIBLE = {
    _NVIDIA: (("CUDA_VISIBLE_DEVICES",),),
    _AMD: (("ROCR_VISIBLE_DEVICES",), ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")),
    _INTEL: (("ZE_AFFINITY_MASK",),),
}


class Gpu:
    """A GPU that a process sees, with the name of the instance if it sees one instance of MIG."""

    def __init__(self, object: Object, instance: Optional[str] = None) -> None:
        self.object, self.instance = object, instance


def seen_gpus(
    gpus: Iterable[Object], environ: Mapping[str, str], is_own: bool, reasons: list[str]
) -> tuple[list[Gpu], list[Gpu]]:
    """The GPUs of the node that this process can reach, and those of them that it sees, in the order of their
    numbers. What leaves some of them goes to the reasons."""
    every = sorted(gpus, key=lambda gpu: (gpu.bus_id or "", gpu.id))
    vendors = [_vendor(gpu) for gpu in every]
    # Numbers are those of one vendor's GPUs: of the vendor with the most.
    vendor = max(dict.fromkeys(vendors), key=vendors.count, default=None)
    known = [gpu for gpu, own in zip(every, vendors) if own == vendor]
    seen = [Gpu(gpu) for gpu in known if not is_own or _is_reachable(gpu)]
    if len(seen) < len(known):
        reasons.append(f"the cgroup leaves {len(seen)} of {len(known)} GPUs")
    reachable = seen
    for names in _VISIBLE.get(vendor or _NVIDIA, ()):
        name = next((name for name in names if environ.get(name) is not None), None)
        if name is None:
            continue
        visible: list[Gpu] = []
        for word in filter(None, (word.strip() for word in environ[name].split(","))):
            found = named(word, seen, known)
            if found is None:
                # CUDA takes no GPU behind one that is not there.
                break
            visible.append(found)
        reasons.append(f"{name}={environ[name]} leaves {len(visible)} of {len(seen)} GPUs")
        seen = visible
    return reachable, seen


def _vendor(gpu: Object) -> Optional[int]:
    """PCI vendor of a GPU; None if it is on no PCI device."""
    above = [gpu, *gpu.ancestors]
    return next((it.attributes["vendor_id"] for it in above if it.type == "PCIDev"), None)


def named(word: str, numbered: Sequence[Gpu], known: Sequence[Object]) -> Optional[Gpu]:
    """The GPU that a word of CUDA_VISIBLE_DEVICES names: a number, a UUID or its beginning, or an instance
    of MIG."""
    number = word.split(".")[0]
    if is_number(number):
        return numbered[int(number)] if int(number) < len(numbered) else None
    # The old name of an instance: MIG-GPU-<uuid>/<instance>/<instance>.
    whole = word[len("MIG-") :].split("/")[0] if word.startswith("MIG-GPU-") else word
    for gpu in known:
        uuid = gpu.uuid or ""
        if any(it.startswith(word) for it in gpu.mig_instances):
            return Gpu(gpu, word)
        # ROCm has GPU- before the digits that hwloc reports with 0x.
        plain = uuid[2:] if uuid.startswith("0x") else uuid
        if uuid and (uuid.startswith(whole) or f"GPU-{plain}".startswith(whole)):
            return Gpu(gpu, word if word.startswith("MIG-") else None)
        if word in (gpu.bus_id, gpu.name):
            return Gpu(gpu)
    return None


def _is_reachable(gpu: Object) -> bool:
    """Whether the cgroup of this process lets it open a GPU. If its file is unknown, it does."""
    minor = next(filter(None, (it.fact("NVIDIAMinor") for it in [gpu, *gpu.ancestors])), None)
    if minor is None:
        return True
    try:
        os.close(os.open(f"/dev/nvidia{minor}", os.O_RDONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True
