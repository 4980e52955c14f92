"""What the documents and the examples say works as they say it."""

from __future__ import annotations

import doctest
import functools
import importlib
import importlib.util
import operator
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import topobroker
from conftest import ROOT

PACKAGE = Path(__file__).resolve().parents[1]
EXAMPLES = PACKAGE / "examples"
TOOLS = ("_bind", "_binding", "_gpus", "_launcher", "_load", "_tools", "_graph")


@pytest.fixture
def environment(program: str, quiet_environment: dict[str, str]) -> dict[str, str]:
    return {**quiet_environment, "PATH": f"{Path(program).parent}:{os.environ['PATH']}"}


@pytest.fixture(autouse=True)
def with_program(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("TOPOBROKER_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("TOPOBROKER_RUN", "/none")
    monkeypatch.setenv("PATH", f"{Path(program).parent}:{os.environ['PATH']}")


@pytest.mark.parametrize("module", ["topobroker", "topobroker._topobroker", *(f"topobroker.{name}" for name in TOOLS)])
def test_examples_of_docstrings_hold(module: str) -> None:
    topobroker.load()
    names = {name: getattr(topobroker, name) for name in topobroker.__all__}
    failed, _ = doctest.testmod(importlib.import_module(module), extraglobs=names)
    assert failed == 0


@pytest.mark.parametrize("name", [name for name in topobroker.__all__ if not name.startswith("_")])
def test_each_public_name_and_each_of_its_members_is_documented(name: str) -> None:
    public = getattr(topobroker, name)
    assert public.__doc__, name
    # Fields of named tuples have theirs in the source.
    if isinstance(public, type) and not issubclass(public, tuple):
        members = {key: value for key, value in vars(public).items() if not key.startswith("_")}
        assert [key for key, value in members.items() if not value.__doc__] == []


def blocks(file: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", file.read_text(), re.S)


DOCUMENTS = [file for file in (ROOT / "docs/PYTHON.md", PACKAGE / "README.md") if file.exists()]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: str(file.name))
def test_code_of_documents_runs(document: Path, environment: dict[str, str]) -> None:
    codes = blocks(document, "python")
    assert codes
    for code in codes:
        # A worker's call needs a launcher.
        ran = subprocess.run(
            [sys.executable, "-c", code], env={**environment, "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1"}, stderr=subprocess.PIPE, text=True
        )
        assert ran.returncode == 0, code + ran.stderr


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: str(file.name))
def test_lines_that_bind_workers_have_the_options_of_the_program(document: Path, environment: dict[str, str]) -> None:
    lines = [line.strip() for line in document.read_text().splitlines() if " -m topobroker bind " in line]
    assert lines
    for line in lines:
        words = shlex.split(line)
        own = words[words.index("topobroker") + 1 :]
        dry = ["bind", "--dry-run", "--rank", "0", "--size", "1", *own[1:]]
        ran = subprocess.run([sys.executable, "-m", "topobroker", *dry], env=environment, stderr=subprocess.PIPE, text=True)
        assert ran.returncode == 0, ran.stderr


def example(name: str, environment: dict[str, str], *before: str) -> str:
    ran = subprocess.run(
        [*before, sys.executable, str(EXAMPLES / name)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=180
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def needs(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")


def test_the_example_of_multiprocessing_binds_each_process(environment: dict[str, str]) -> None:
    # A process that starts late may find no work left.
    parts = [topobroker.Set(part) for part in re.findall(r"'PUs ([\d,-]+)'", example("multiprocess.py", environment))]
    assert parts and sum(len(part) for part in parts) == len(functools.reduce(operator.or_, parts))
    whole = topobroker.Set(os.sched_getaffinity(0))
    cores = [core for core in topobroker.load().cores if core.cpuset and core.cpuset & whole]
    assert len(cores) < 2 or all(part < whole for part in parts)


def test_the_example_of_a_notebook_runs(environment: dict[str, str]) -> None:
    assert "rank 3 of 4" in example("notebook.py", environment)


def test_the_example_of_dask_binds_each_worker(environment: dict[str, str]) -> None:
    needs("dask.distributed") if importlib.util.find_spec("dask") else needs("dask")
    lines = example("dask_workers.py", environment).splitlines()
    assert [line.split(":")[0] for line in lines] == ["worker 0", "worker 1"]


def test_the_example_of_mpi4py_finds_the_ranks_near_each(environment: dict[str, str]) -> None:
    needs("mpi4py")
    mpirun = shutil.which("mpirun.openmpi")
    if mpirun is None:
        pytest.skip("no mpirun of Open MPI")
    command = [mpirun, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "4"]
    # Lines of ranks may come in pieces.
    printed = example("mpi_groups.py", environment, "topobroker", "run", "--", *command)
    assert len(re.findall(r"rank \d: \d ranks on its L3 cache", printed)) == 4


def test_the_example_of_torchrun_binds_each_worker(environment: dict[str, str]) -> None:
    needs("torch")
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "4", str(EXAMPLES / "torchrun_train.py")]
    ran = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=180)
    assert ran.returncode == 0 and ran.stdout.count("PUs") == 4, ran.stderr


def test_the_example_of_a_job_knows_all_ranks(environment: dict[str, str], program: str) -> None:
    shell = (
        f"{program} job add train -n 4 --map-by core >/dev/null && "
        f'TOPOBROKER_JOB="$TOPOBROKER_FILE.job-train" {sys.executable} {EXAMPLES / "mpi_job.py"}; {program} job remove train >/dev/null'
    )
    ran = subprocess.run(
        [program, "run", "-i", "pack:2 [numa] core:2 pu:1", "--", "sh", "-c", shell], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert ran.stdout.splitlines()[3] == "rank 3: PUs 3, NUMA node 1, with [2, 3]"
