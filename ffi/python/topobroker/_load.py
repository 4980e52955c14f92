"""Loading: what is published, else what the first of many processes discovers."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Optional

from topobroker._topobroker import _adopt_elected, _adopt_keys, _publisher, _usable, adopt, adopted

if TYPE_CHECKING:
    from topobroker import Topology

_one_at_a_time = threading.Lock()


def _unlock_in_child() -> None:
    """A lock that another thread holds when this process is forked would never be given back."""
    global _one_at_a_time
    _one_at_a_time = threading.Lock()


os.register_at_fork(after_in_child=_unlock_in_child)


def load() -> Topology:
    """The topology of this node: what is published to this process, else what one process of this
    user has discovered, else it is discovered now. In a cgroup it is the part that the cgroup leaves, as
    hwloc would find it there; `adopt()` is all of it.

    The program `topobroker` discovers, if it is installed, else a helper in this package, which needs
    hwloc's library. Of many processes that come at once, one discovers, and all share its segment. The
    segment is removed when that process ends; others keep what they have adopted, and a later process
    discovers again.

    Raises AdoptError if there is neither, and says what to install.

    >>> load() == load()
    True
    """
    if adopted() is None:
        with _one_at_a_time:
            if adopted() is None:
                _load()
    return _usable()


def _load() -> None:
    from topobroker._topobroker import AdoptError

    try:
        adopt()
        return
    except AdoptError:
        pass
    topology = _adopt_elected()
    if topology is None:
        _discover()
    elif _publisher() == os.getpid():
        # This process has discovered it before it became another program.
        _release_at_exit(topology.keys)


def _discoverers() -> list[str]:
    """The programs that can discover a node, the best first."""
    import shutil

    helper = os.path.join(os.path.dirname(__file__), "topobroker-discover")
    found = [shutil.which("topobroker"), helper if os.access(helper, os.X_OK) else None]
    return [program for program in found if program is not None]


def _discover() -> None:
    import subprocess

    from topobroker._topobroker import AdoptError

    failures: list[str] = []
    for program in _discoverers():
        ran = subprocess.run(
            [program, "load", "--for", str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if ran.returncode == 0:
            topology = _adopt_keys(ran.stdout)
            if _publisher() == os.getpid():
                _release_at_exit(topology.keys)
            return
        failures.append(f"{program}: {ran.stderr.strip() or f'status {ran.returncode}'}")
    reasons = "; ".join(failures) or "there is no program that could discover it"
    raise AdoptError(
        "nothing is published on this node, and it was not discovered: "
        f"{reasons}. Install the program topobroker, or hwloc's library "
        "(libhwloc15 of Debian, hwloc-libs of Red Hat)"
    )


def _release_at_exit(keys: Optional[dict[str, str]]) -> None:
    """The process that a segment was discovered for removes it when it ends; its forked children do not."""
    file = (keys or {}).get("TOPOBROKER_FILE")
    if file is None or not file.startswith("/"):
        return
    import atexit

    owner = os.getpid()

    def release() -> None:
        if os.getpid() != owner or not os.path.exists(file):
            return
        # Nobody waits for it, so it must not hold a pipe open that somebody reads to its end.
        quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
        for program in _discoverers():
            try:
                os.posix_spawn(
                    program, [program, "load", "--for", str(owner), "--release", file], os.environ, file_actions=quiet
                )
                return
            except OSError:
                # What it leaves is removed by the next process that loads.
                continue

    atexit.register(release)
