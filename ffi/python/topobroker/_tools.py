"""Tools: what differs between two nodes, and what a command pays for hwloc."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

if TYPE_CHECKING:
    from topobroker import Object, Topology


class Difference(NamedTuple):
    """A value that two topologies do not have in common."""

    object: Optional[Object]
    """The object of the first topology; None if the topologies are not made alike."""
    what: str
    """What differs: "structure", "name", "local_memory", or the name of an info."""
    one: Any
    """The value in the first topology."""
    other: Any
    """The value in the other one."""


def diff(one: Topology, other: Topology) -> list[Difference]:
    """What differs between two topologies, as `hwloc-diff` finds it: names, memory and infos of
    objects; the first difference of structure ends the list. Counterpart: `hwloc_topology_diff_build`.

    >>> import topobroker
    >>> t = topobroker.load()
    >>> diff(t, t)
    []
    """
    found: list[Difference] = []
    if len(one) != len(other):
        return [Difference(None, "structure", f"{len(one)} objects", f"{len(other)} objects")]
    for a, b in zip(one.objects(), other.objects()):
        if _place(a) != _place(b):
            found.append(Difference(a, "structure", _place(a), _place(b)))
            return found
        if a.name != b.name:
            found.append(Difference(a, "name", a.name, b.name))
        if a.type == "NUMANode":
            memory = [object.attributes["local_memory"] for object in (a, b)]
            if memory[0] != memory[1]:
                found.append(Difference(a, "local_memory", *memory))
        for name in dict.fromkeys(name for name, _ in [*a.infos, *b.infos]):
            values = [[value for own, value in it.infos if own == name] for it in (a, b)]
            if values[0] != values[1]:
                found.append(Difference(a, name, *(", ".join(it) or None for it in values)))
    return found


def _place(object: Object) -> tuple[Any, ...]:
    """What must be the same if two topologies are made alike."""
    attributes = {k: v for k, v in object.attributes.items() if k not in ("local_memory", "page_types")}
    parent = object.parent
    return (
        object.type,
        object.subtype,
        object.os_index,
        object.depth,
        None if parent is None else parent.id,
        None if object.cpuset is None else str(object.cpuset),
        None if object.nodeset is None else str(object.nodeset),
        attributes,
    )


class AuditedCall(NamedTuple):
    """A call that made a topology."""

    call: str
    """The function of hwloc."""
    library: str
    """The file that called it."""
    microseconds: int
    """How long it took."""
    bytes: int
    """How much heap it kept."""
    guard: Optional[str]
    """What the hwloc guard does of it."""


class AuditedProcess(NamedTuple):
    """A process that made topologies."""

    pid: int
    program: str
    calls: list[AuditedCall]


class Audit(NamedTuple):
    """What a command paid for hwloc."""

    status: int
    """The exit status of the command."""
    processes: list[AuditedProcess]
    microseconds: int
    """How long all calls took."""
    bytes_kept: int
    """How much heap they kept."""
    bytes_saved_by_sharing: int
    """How much of that sharing one topology would save."""


def audit(command: Sequence[str], *, guard: bool = False) -> Audit:
    """Runs a command and returns which hwloc topologies its processes load, and their price, as the
    program `topobroker audit` reports it; the program must be installed. With `guard`, the hwloc guard
    works meanwhile.
    """
    import shutil
    import subprocess
    import tempfile

    from topobroker._topobroker import TopobrokerError

    program = shutil.which("topobroker")
    if program is None:
        raise TopobrokerError("audit needs the program topobroker in PATH: install it")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "audit.json")
        options = ["--json", "--output", file, *(["--guard"] if guard else [])]
        ran = subprocess.run([program, "audit", *options, "--", *command], check=False)
        try:
            with open(file, encoding="utf-8") as report:
                found = json.load(report)
        except (OSError, ValueError) as error:
            raise TopobrokerError(f"topobroker audit ended with status {ran.returncode} and left no report") from error
    processes = [
        AuditedProcess(
            process["pid"],
            process["program"],
            [
                AuditedCall(call["call"], call["library"], call["microseconds"], call["bytes"], call["guard"])
                for call in process["calls"]
            ],
        )
        for process in found["processes"]
    ]
    return Audit(
        ran.returncode, processes, found["microseconds"], found["bytes_kept"], found["bytes_saved_by_sharing"]
    )
