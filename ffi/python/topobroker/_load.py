"""Loading: what is published or, if nothing is, what the first of many processes discovers."""

from __future__ import annotations

import atexit
import os
import select
import threading
import time
from typing import TYPE_CHECKING, Optional

# All that load() needs is imported here: see _answer.
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
    """The topology of this node: what is published to this process. If nothing is, what one process of
    this user has discovered. If there is none, it is discovered now. In a cgroup it is the part that the
    cgroup leaves, as hwloc would find it there; `adopt()` is all of it.

    The program `topobroker` discovers, if it is installed, otherwise a helper in this package, which needs
    hwloc's library. Of many processes that come at once, one discovers, and all share its segment. The segment
    goes when that process ends, but not before it is ten seconds old; others keep what they have adopted.

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
    # The module is there: this makes the class, which not every process needs.
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
    helper = os.path.join(os.path.dirname(__file__), "topobroker-discover")
    named = [os.path.join(folder, "topobroker") for folder in os.get_exec_path()]
    found = [next(filter(_can_be_run, named), None), helper if _can_be_run(helper) else None]
    return [program for program in found if program is not None]


def _can_be_run(program: str) -> bool:
    return os.path.isfile(program) and os.access(program, os.X_OK)


def _discover() -> None:
    from topobroker._topobroker import AdoptError

    failures: list[str] = []
    for program in _discoverers():
        try:
            topology = _adopt_keys(_answer(program))
        except (AdoptError, OSError, ValueError) as error:
            failures.append(f"{program}: {error}")
            continue
        if _publisher() == os.getpid():
            _release_at_exit(topology.keys)
        return
    reasons = "; ".join(failures) or "there is no program that could discover it"
    raise AdoptError(
        "nothing is published on this node, and it was not discovered: "
        f"{reasons}. Install the program topobroker, or hwloc's library "
        "(libhwloc15 of Debian, hwloc-libs of Red Hat)"
    )


# Most seconds that a program may take to discover the node, and most bytes that it may print.
_LONGEST = 120.0
_MOST = 1 << 16

# That of the module signal, which takes longer to import than all of this one.
_SIGKILL = 9


def _answer(program: str) -> str:
    """The keys that a program prints which discovers the node for this process. Not by the module subprocess: to
    import it here would wait for ever in a child that was forked while another thread imports."""
    ours: list[int] = []
    theirs: list[int] = []
    try:
        for _ in range(2):
            reading, writing = os.pipe()
            ours.append(reading)
            theirs.append(writing)
        ends = [(os.POSIX_SPAWN_DUP2, writing, number) for number, writing in enumerate(theirs, 1)]
        files = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), *ends]
        words = [program, "load", "--for", str(os.getpid())]
        child = os.posix_spawn(program, words, os.environ, file_actions=files)
        while theirs:
            os.close(theirs.pop())
        end = time.monotonic() + _LONGEST
        is_read = False
        try:
            said = _read(ours, end)
            is_read = True
        finally:
            # What else it prints is of no use.
            status = _ended(child, end if is_read else 0.0)
    finally:
        for pipe in (*ours, *theirs):
            os.close(pipe)
    keys, complaint = (text.decode(errors="replace") for text in said)
    if status != 0:
        raise ValueError(complaint.strip() or f"status {status}")
    return keys


def _ended(child: int, end: float) -> int:
    """How a child has ended. It is killed if it still runs at the time `end`."""
    try:
        while True:
            found, status = os.waitpid(child, os.WNOHANG)
            if found:
                return status
            if time.monotonic() >= end:
                os.kill(child, _SIGKILL)
                return os.waitpid(child, 0)[1]
            time.sleep(0.001)
    except ChildProcessError:
        # This process does not want to know how its children end.
        return 0


def _read(pipes: list[int], end: float) -> list[bytes]:
    """What comes out of pipes until all are closed."""
    said = {pipe: b"" for pipe in pipes}
    ready = select.poll()
    for pipe in pipes:
        ready.register(pipe, select.POLLIN)
    is_open = set(pipes)
    while is_open:
        left = end - time.monotonic()
        if left <= 0:
            raise ValueError(f"it did not end within {_LONGEST:.0f} seconds")
        for pipe, _ in ready.poll(left * 1000):
            part = os.read(pipe, _MOST)
            if not part:
                ready.unregister(pipe)
                is_open.discard(pipe)
            said[pipe] += part
            if len(said[pipe]) > _MOST:
                raise ValueError(f"it printed more than {_MOST} bytes")
    return [said[pipe] for pipe in pipes]


def _release_at_exit(keys: Optional[dict[str, str]]) -> None:
    """The process that a segment was discovered for removes it when it ends; its forked children do not."""
    file = (keys or {}).get("TOPOBROKER_FILE")
    if file is None or not file.startswith("/"):
        return
    owner = os.getpid()

    def release() -> None:
        if os.getpid() != owner or not os.path.exists(file):
            return
        # It is not waited for, so it must not hold a pipe open that another process reads to its end.
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
