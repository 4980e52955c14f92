"""Machines of the tests, as XML of hwloc."""

from __future__ import annotations

from collections.abc import Sequence


def gpu_node(
    *,
    numa: int = 4,
    cores: int = 8,
    threads: int = 2,
    gpus: int = 8,
    nics: int = 4,
    order: Sequence[int] = (),
) -> str:
    """A node of two packages. NUMA node n has cores n*cores and so on, and an equal share of GPUs and
    NICs below one host bridge. The OS indexes of second hardware threads follow all first ones, as on Intel's.
    `order` is the NUMA node of each GPU.
    """
    gp = iter(range(1, 10_000))
    total = numa * cores
    order = order or [gpu * numa // gpus for gpu in range(gpus)]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<!DOCTYPE topology SYSTEM "hwloc2.dtd">', '<topology version="2.0">']

    def sets(pus: Sequence[int], nodes: Sequence[int]) -> str:
        cpuset, nodeset = (_mask(indexes) for indexes in (pus, nodes))
        return f'cpuset="{cpuset}" complete_cpuset="{cpuset}" nodeset="{nodeset}" complete_nodeset="{nodeset}" gp_index="{next(gp)}"'

    def pus_of(first: int, end: int) -> list[int]:
        return [core + thread * total for thread in range(threads) for core in range(first, end)]

    everything = (pus_of(0, total), list(range(numa)))
    own = sets(*everything)
    mask, nodes = _mask(everything[0]), _mask(everything[1])
    lines.append(f'<object type="Machine" os_index="0" {own} allowed_cpuset="{mask}" allowed_nodeset="{nodes}">')
    lines.append('<info name="HostName" value="gpunode"/>')
    for package in range(2):
        first = package * numa // 2
        members = list(range(first, first + numa // 2))
        lines.append(f'<object type="Package" os_index="{package}" {sets(pus_of(first * cores, (first + len(members)) * cores), members)}>')
        for node in members:
            pus = pus_of(node * cores, (node + 1) * cores)
            lines.append(f'<object type="Group" {sets(pus, [node])} kind="1001" subkind="0">')
            lines.append(f'<object type="NUMANode" os_index="{node}" {sets(pus, [node])} local_memory="{64 << 30}"/>')
            for core in range(node * cores, (node + 1) * cores):
                lines.append(f'<object type="Core" os_index="{core}" {sets(pus_of(core, core + 1), [node])}>')
                for pu in pus_of(core, core + 1):
                    lines.append(f'<object type="PU" os_index="{pu}" {sets([pu], [node])}/>')
                lines.append("</object>")
            base = node * 0x20
            lines.append(f'<object type="Bridge" gp_index="{next(gp)}" bridge_type="0-1" depth="0" bridge_pci="0000:[{base:02x}-{base + 0x1f:02x}]">')
            bus = base
            for gpu in (gpu for gpu in range(gpus) if order[gpu] == node):
                lines.append(
                    f'<object type="PCIDev" gp_index="{next(gp)}" pci_busid="0000:{bus:02x}:00.0" pci_type="0302 [10de:2330] [10de:16c1] a1" pci_link_speed="63.0">'
                )
                infos = f'<info name="NVIDIAUUID" value="GPU-{gpu:08x}-0000"/>'
                lines.append(f'<object type="OSDev" gp_index="{next(gp)}" name="cuda{gpu}" subtype="CUDA" osdev_type="5">{infos}</object>')
                lines.append("</object>")
                bus += 1
            for nic in (nic for nic in range(nics) if nic * numa // nics == node):
                lines.append(
                    f'<object type="PCIDev" gp_index="{next(gp)}" pci_busid="0000:{bus:02x}:00.0" pci_type="0207 [15b3:1021] [15b3:0041] 00" pci_link_speed="63.0">'
                )
                infos = "".join(
                    f'<info name="{name}" value="{value}"/>'
                    for name, value in [
                        ("NodeGUID", f"0c42:a103:0000:{nic:04x}"),
                        ("Port1State", "4"),
                        ("Port1GID0", f"fe80:0000:0000:0000:0c42:a103:0000:{nic:04x}"),
                    ]
                )
                lines.append(f'<object type="OSDev" gp_index="{next(gp)}" name="mlx5_{nic}" osdev_type="3">{infos}</object>')
                lines.append("</object>")
                bus += 1
            lines.append("</object>")
            lines.append("</object>")
        lines.append("</object>")
    lines.append("</object></topology>")
    return "\n".join(lines)


def _mask(indexes: Sequence[int]) -> str:
    bits = sum(1 << index for index in indexes)
    words: list[str] = []
    while True:
        words.insert(0, f"0x{bits & 0xFFFFFFFF:08x}")
        bits >>= 32
        if not bits:
            return ",".join(words)
