"""Loading: the first of many processes discovers, and nothing stays."""

from __future__ import annotations

import ctypes.util
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

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
