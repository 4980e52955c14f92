"""Loading: the first of many processes discovers, and nothing stays."""

from __future__ import annotations

import ctypes.util
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import topobroker
from conftest import Python

HELPER = Path(topobroker.__file__).parent / "topobroker-discover"


def own_files() -> set[str]:
    return {name for name in os.listdir("/dev/shm") if name.startswith("topobroker-")}


@pytest.fixture(params=["program", "helper"])
def discoverer(request: pytest.FixtureRequest, program: str, tmp_path: Path) -> Iterator[str]:
    """A PATH on which the program is, or is not."""
    folder = tmp_path / "bin"
    folder.mkdir()
    if request.param == "program":
        (folder / "topobroker").symlink_to(program)
    elif not HELPER.exists() or ctypes.util.find_library("hwloc") is None:
        pytest.skip("this installation has no helper, or this machine no libhwloc")
    yield f"{folder}:/usr/bin:/bin"


def test_the_first_of_many_processes_discovers_and_nothing_stays(
    discoverer: str, quiet_environment: dict[str, str]
) -> None:
    before = own_files()
    code = """
import sys, topobroker
t = topobroker.load()
assert topobroker.load().root == t.root == topobroker.adopt().root
print(t.keys["TOPOBROKER_FILE"], len(t.pus), flush=True)
sys.stdin.read()
"""
    environment = {**quiet_environment, "PATH": discoverer, "TOPOBROKER_LOAD_KEEPS": "0"}
    workers = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(16)
    ]
    answers = {worker.stdout.readline() for worker in workers if worker.stdout}
    late = subprocess.run([sys.executable, "-c", code], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    for worker in workers:
        worker.communicate()
        assert worker.returncode == 0
    assert len(answers) == 1 and late.stdout in answers
    deadline = time.monotonic() + 10
    while own_files() - before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert own_files() <= before


def test_a_segment_stays_as_long_as_the_process_that_discovered_it(discoverer: str, quiet_environment: dict[str, str]) -> None:
    environment = {**quiet_environment, "PATH": discoverer, "TOPOBROKER_LOAD_KEEPS": "0", "HWLOC_NOBODY": "stays"}
    code = "import sys, topobroker; print(topobroker.load().keys['TOPOBROKER_FILE'], flush=True); sys.stdin.read()"
    begin: dict[str, Any] = dict(env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    owner = subprocess.Popen([sys.executable, "-c", code], **begin)
    assert owner.stdout is not None
    file = Path(owner.stdout.readline().strip())
    # Those that came at the same time have asked a discoverer too.
    other = "import topobroker, topobroker._load as own; own._discover(); print(topobroker.adopt().keys['TOPOBROKER_FILE'])"
    for words in (code, other):
        ran = subprocess.run([sys.executable, "-c", words], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        assert ran.stdout.strip() == str(file)
    time.sleep(0.3)
    assert file.exists()
    owner.communicate()
    deadline = time.monotonic() + 10
    while file.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not file.exists()


def test_threads_that_load_at_once_load_one_topology(discoverer: str, quiet_environment: dict[str, str]) -> None:
    environment = {**quiet_environment, "PATH": discoverer, "HWLOC_SYNTHETIC": "core:3 pu:2"}
    code = """
import threading, topobroker
found = []
threads = [threading.Thread(target=lambda: found.append(topobroker.load())) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(found), len({t.keys["TOPOBROKER_FILE"] for t in found}), len(found[0].pus))
"""
    before = own_files()
    ran = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert ran.stdout.split() == ["8", "1", "6"], ran.stderr
    deadline = time.monotonic() + 10
    while own_files() - before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert own_files() <= before


def test_objects_of_a_topology_that_was_discovered_are_pickled(discoverer: str, quiet_environment: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "work.py"
    script.write_text(
        """
import multiprocessing, topobroker
def where(core):
    return core.parent
if __name__ == "__main__":
    cores = topobroker.load().cores
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(where, cores) == [core.parent for core in cores])
"""
    )
    environment = {**quiet_environment, "PATH": discoverer}
    ran = subprocess.run([sys.executable, str(script)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert ran.stdout == "True\n", ran.stderr


def test_what_is_published_is_adopted_and_no_process_is_started(python: Python) -> None:
    code = """
import sys, topobroker
t = topobroker.load()
assert "subprocess" not in sys.modules and len(t.pus) == 16
print("adopted")
"""
    assert python(code, PATH="/none") == "adopted"


def test_without_a_discoverer_the_error_says_what_to_install(tmp_path: Path, python: Python) -> None:
    code = """
import topobroker, topobroker._load
topobroker._load._discoverers = lambda: [path for path in ("/none/topobroker",) if False]
try:
    topobroker.load()
except topobroker.AdoptError as error:
    print(error)
"""
    said = python(code, None, PATH=str(tmp_path), HWLOC_NOBODY="else")
    assert "Install the program topobroker" in said and "libhwloc15" in said


def test_a_discoverer_that_fails_is_named_with_its_message(tmp_path: Path, python: Python) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "topobroker").write_text("#!/bin/sh\necho no machine here >&2\nexit 3\n")
    (folder / "topobroker").chmod(0o755)
    code = """
import shutil, topobroker, topobroker._load
topobroker._load._discoverers = lambda: [shutil.which("topobroker")]
try:
    topobroker.load()
except topobroker.AdoptError as error:
    print(error)
"""
    assert f"{folder}/topobroker: no machine here" in python(code, None, PATH=f"{folder}:/bin", HWLOC_NOBODY="else")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("#!/nonexistent\n", "No such file"),
        ("#!/bin/sh\nprintf 'caf\\303'\n", ""),
        ("#!/bin/sh\nprintf 'caf\\303' >&2; exit 1\n", "caf\ufffd"),
        ("#!/bin/sh\nexec cat /dev/zero\n", "more than 65536 bytes"),
        ("#!/bin/sh\nexec sleep 60\n", "did not end within 1 seconds"),
    ],
)
def test_a_discoverer_that_answers_with_anything_else_is_an_error(
    tmp_path: Path, python: Python, script: str, said: str
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "topobroker").write_text(script)
    (folder / "topobroker").chmod(0o755)
    code = """
import os, topobroker, topobroker._load
topobroker._load._LONGEST = 1.0
found = topobroker._load._discoverers()
topobroker._load._discoverers = lambda: found[:1]
try:
    topobroker.load()
except topobroker.AdoptError as error:
    os.write(1, str(error).encode())
"""
    text = python(code, None, PATH=f"{folder}:/bin", HWLOC_NOBODY="else", PYTHONIOENCODING="utf-8")
    assert f"{folder}/topobroker: " in text and said in text


@pytest.mark.parametrize("after", [0.0, 0.001, 0.003, 0.01])
def test_a_child_that_is_forked_while_threads_load_loads_too(
    discoverer: str, quiet_environment: dict[str, str], after: float
) -> None:
    code = f"""
import faulthandler, os, threading, time, topobroker
threads = [threading.Thread(target=topobroker.load) for _ in range(20)]
[it.start() for it in threads]
time.sleep({after})
child = os.fork()
if child == 0:
    faulthandler.dump_traceback_later(20, exit=True)
    raise SystemExit(len(topobroker.load().pus) == 0)
status = os.waitpid(child, 0)[1]
[it.join() for it in threads]
raise SystemExit(status != 0)
"""
    environment = {**quiet_environment, "PATH": discoverer, "TOPOBROKER_LOAD_KEEPS": "0", "HWLOC_NOBODY": f"forks {after}"}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.skipif(os.geteuid() != 0 or not os.path.isdir("/sys/fs/cgroup/cpuset"), reason="needs root and cgroups of version 1")
def test_load_shows_what_the_cgroup_leaves_and_adopt_all(python: Python, program: str) -> None:
    code = """
import os, pickle, topobroker
folder = f"/sys/fs/cgroup/cpuset/topobroker-python-{os.getpid()}"
first = min(os.sched_getaffinity(0))
os.mkdir(folder)
try:
    for file, text in [("cpuset.cpus", first), ("cpuset.mems", 0), ("tasks", os.getpid())]:
        with open(f"{folder}/{file}", "w") as written:
            written.write(str(text))
    t = topobroker.load()
    assert [pu.os_index for pu in t.pus] == [first] and t.cpuset == {first}, t
    assert topobroker.load() == t == pickle.loads(pickle.dumps(t)) and t.keys == topobroker.adopt().keys
    assert len(topobroker.adopt().pus) >= len(t.pus) and pickle.loads(pickle.dumps(t.pus[0])) == t.pus[0]
finally:
    with open("/sys/fs/cgroup/cpuset/tasks", "w") as written:
        written.write(str(os.getpid()))
    os.rmdir(folder)
"""
    python(code, "machine")
