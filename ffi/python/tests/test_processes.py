"""Nothing that processes, threads and interpreters do breaks a topology, and all share one segment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Python, published

MACHINE = "pack:2 l3:4 core:8 pu:2"


def test_64_processes_share_one_segment(program: str, tmp_path: Path, quiet_environment: dict[str, str]) -> None:
    keys = published(program, MACHINE, tmp_path, quiet_environment)
    code = """
import sys, topobroker
t = topobroker.adopt()
own = [line for line in open("/proc/self/smaps").read().split("VmFlags") if t.keys["TOPOBROKER_FILE"] in line]
private = sum(int(line.split()[1]) for part in own for line in part.splitlines() if line.startswith("Anonymous:"))
print(len(own), private, len(t.pus), flush=True)
sys.stdin.read()
"""
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env={**quiet_environment, **keys},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(64)
    ]
    answers = [worker.stdout.readline().split() for worker in workers if worker.stdout]
    for worker in workers:
        worker.communicate()
    # No process has a page of the segment of its own.
    assert answers == [["1", "0", "128"]] * 64


@pytest.mark.skipif(sys.version_info >= (3, 14) and not hasattr(os, "fork"), reason="no fork")
def test_forks_of_threads_that_adopt_and_ask_never_hang(python: Python) -> None:
    code = """
import os, threading, warnings, topobroker
warnings.simplefilter("ignore", DeprecationWarning)
stop = threading.Event()
counts = [0] * 4
def ask(own):
    while not stop.is_set():
        t = topobroker.adopt()
        view = t.view(range(own, 64))
        counts[own] += len(view.pus) + sum(pu.os_index for pu in t.pus) + len(list(iter(view.cores)))
threads = [threading.Thread(target=ask, args=(own,)) for own in range(4)]
for thread in threads: thread.start()
failed = 0
for _ in range(100):
    child = os.fork()
    if child == 0:
        t = topobroker.adopt()
        os._exit(0 if len(t.cores) == 64 and len(t.view([0]).pus) == 1 else 1)
    failed += os.waitpid(child, 0)[1] != 0
stop.set()
for thread in threads: thread.join()
print(failed, all(counts))
"""
    assert python(code, MACHINE) == "0 True"


def test_threads_share_an_iterator_without_losing_objects(python: Python) -> None:
    code = """
import threading, topobroker
t = topobroker.adopt()
for objects in (t.pus, t.gpus, t.inside(range(100), "pu")):
    shared, taken = iter(objects), []
    def take():
        for object in shared:
            taken.append(object.id)
    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert sorted(taken) == [object.id for object in objects]
indexes, taken = iter(topobroker.Set(range(5000))), []
threads = [threading.Thread(target=lambda: taken.extend(indexes)) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert sorted(taken) == list(range(5000)), len(taken)
print("all")
"""
    assert python(code, MACHINE) == "all"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_of_multiprocessing_send_objects(python: Python, tmp_path: Path, method: str) -> None:
    script = tmp_path / "work.py"
    script.write_text(
        """
import multiprocessing, sys, topobroker
def where(core):
    return core.parent, topobroker.adopt().cores[core.logical_index].cpuset
if __name__ == "__main__":
    t = topobroker.adopt()
    with multiprocessing.get_context(sys.argv[1]).Pool(4) as pool:
        found = pool.map(where, t.cores)
    assert found == [(core.parent, core.cpuset) for core in t.cores]
    print("same")
"""
    )
    code = f"""
import runpy, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)
import subprocess
print(subprocess.run([sys.executable, {str(script)!r}, {method!r}], check=True, stdout=subprocess.PIPE, text=True).stdout)
"""
    assert python(code, MACHINE) == "same"


def test_a_second_interpreter_is_refused_and_breaks_nothing(python: Python) -> None:
    code = """
try:
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
except ImportError:
    print("refused 64")
    raise SystemExit
import topobroker
t = topobroker.adopt()
for _ in range(3):
    other = interpreters.create()
    run = getattr(interpreters, "exec", None) or interpreters.run_string
    source = '''
try:
    import topobroker
except ImportError:
    pass
else:
    raise SystemError("imported")
'''
    result = run(other, source)
    assert result is None, result
    interpreters.destroy(other)
print("refused", len(t.cores))
"""
    assert python(code, MACHINE) == "refused 64"


def test_nothing_published_is_an_error_that_says_what_to_do(python: Python) -> None:
    code = """
import topobroker
assert topobroker.adopted() is None
try:
    topobroker.adopt()
except topobroker.AdoptError as error:
    print(error)
"""
    said = python(code, None)
    assert "TOPOBROKER_FILE is not set" in said and "topobroker run" in said


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("TOPOBROKER_FILE", "/dev/shm/absent", "/dev/shm/absent"),
        ("TOPOBROKER_SIZE", "12", "12"),
        ("TOPOBROKER_ADDR", "zero", "zero"),
    ],
)
def test_keys_that_do_not_fit_are_errors_that_name_them(
    program: str, tmp_path: Path, quiet_environment: dict[str, str], python: Python, name: str, value: str, says: str
) -> None:
    keys = {**published(program, MACHINE, tmp_path, quiet_environment), name: value}
    code = "import topobroker\ntry:\n    topobroker.adopt()\nexcept topobroker.AdoptError as error:\n    print(error)"
    assert says in python(code, None, **keys)
