"""Loading: what is published, else what the first of many processes discovers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Optional

from topobroker._topobroker import _adopt_elected, _adopt_keys, adopt, adopted

if TYPE_CHECKING:
    from topobroker import Topology


def load() -> Topology:
    """The topology of this node: what is published to this process, else what one process of this
    user has discovered, else it is discovered now.

    Discovering is work of the program `topobroker`, if it is installed, else of a helper in this
    package, which needs hwloc's library. Of many processes that come at once, one discovers, and all
    share one segment, which goes with the last of them.

    Raises AdoptError if there is neither, and says what to install.

    >>> load() is not None
    True
    """
    topology = adopted()
    if topology is not None:
        return topology
    from topobroker._topobroker import AdoptError

    try:
        return adopt()
    except AdoptError:
        pass
    return _adopt_elected() or _discovered()


def _discoverers() -> list[str]:
    """The programs that can discover a node, the best first."""
    import shutil

    helper = os.path.join(os.path.dirname(__file__), "topobroker-discover")
    found = [shutil.which("topobroker"), helper if os.access(helper, os.X_OK) else None]
    return [program for program in found if program is not None]


def _discovered() -> Topology:
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
            _release_at_exit(program, topology.keys)
            return topology
        failures.append(f"{program}: {ran.stderr.strip() or f'status {ran.returncode}'}")
    reasons = "; ".join(failures) or "there is no program that could discover it"
    raise AdoptError(
        "nothing is published on this node, and it was not discovered: "
        f"{reasons}. Install the program topobroker, or hwloc's library "
        "(libhwloc15 of Debian, hwloc-libs of Red Hat)"
    )


def _release_at_exit(program: str, keys: Optional[dict[str, str]]) -> None:
    """The process with which a segment goes removes it when it ends; children that it forks do not."""
    file = (keys or {}).get("TOPOBROKER_FILE")
    if file is None or not file.startswith("/"):
        return
    import atexit

    owner = os.getpid()

    def release() -> None:
        if os.getpid() == owner and os.path.exists(file):
            os.posix_spawn(program, [program, "load", "--release", file], os.environ)

    atexit.register(release)
