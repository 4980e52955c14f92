"""What the tests share: the program, machines in segments, and processes of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Optional

import pytest

import topobroker
from machines import gpu_node

Machine = Callable[..., topobroker.Topology]

ROOT = Path(__file__).resolve().parents[3]


def _program() -> Optional[str]:
    built = [os.environ.get("TOPOBROKER_PROGRAM"), str(ROOT / "target/release/topobroker"), str(ROOT / "target/debug/topobroker")]
    return next((it for it in built if it and os.access(it, os.X_OK)), shutil.which("topobroker"))


@pytest.fixture(scope="session")
def program() -> str:
    """The program topobroker."""
    found = _program()
    if found is None:
        pytest.skip("the program topobroker is not built: cargo build -p topobroker-cli")
    return found


@pytest.fixture(scope="session")
def quiet_environment() -> dict[str, str]:
    """The environment without what a launcher or daemon sets, and without installed programs of ours."""
    own = {k: v for k, v in os.environ.items() if not k.startswith(("TOPOBROKER_", "PMIX_", "PMI_", "SLURM_", "OMPI_"))}
    return {**own, "TOPOBROKER_RUN": "/none", "XDG_RUNTIME_DIR": "/none", "TOPOBROKER_LOAD_KEEPS": "0"}


@pytest.fixture(scope="session")
def machine(program: str, tmp_path_factory: pytest.TempPathFactory, quiet_environment: dict[str, str]) -> Machine:
    """Opens the topology of an input: a synthetic description, or XML."""
    made: dict[str, topobroker.Topology] = {}

    def make(given: str) -> topobroker.Topology:
        if given not in made:
            folder = tmp_path_factory.mktemp("machine")
            file = folder / "machine.xml"
            if given.lstrip().startswith("<"):
                file.write_text(given)
            keys = published(program, str(file) if file.exists() else given, folder, quiet_environment)
            made[given] = topobroker.open(keys["TOPOBROKER_FILE"])
        return made[given]

    return make


def published(program: str, given: str, folder: Path, environment: dict[str, str]) -> dict[str, str]:
    """Publishes an input in a folder, and returns its keys."""
    command = [program, "publish", "-i", given, "--folder", str(folder)]
    lines = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    return dict(line.split("=", 1) for line in lines.splitlines())


@pytest.fixture(scope="session")
def gpus(machine: Machine) -> topobroker.Topology:
    """A node with 8 GPUs, 4 NICs, 2 packages, 4 NUMA nodes, 32 cores, and 64 PUs."""
    return machine(gpu_node())


Python = Callable[..., str]


@pytest.fixture
def python(program: str, tmp_path: Path, quiet_environment: dict[str, str]) -> Iterator[Python]:
    """Runs code in a Python of its own, to which an input is published, and returns what it prints."""

    def run(code: str, given: Optional[str] = "pack:2 core:4 pu:2", **variables: str) -> str:
        environment = {**quiet_environment, **variables}
        if given is not None:
            environment.update(published(program, given, tmp_path, quiet_environment))
        ran = subprocess.run(
            [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()

    yield run
