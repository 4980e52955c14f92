"""Workers are bound to cores near their GPUs, which they share only where they must."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Optional

import pytest
import topobroker
from conftest import Machine, Python
from machines import gpu_node
from topobroker import Binding, Set, Topology, bind_this_rank
from topobroker._gpus import Gpu, named


def torchrun(rank: int, size: int, **more: str) -> dict[str, str]:
    return {"LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(size), "TORCHELASTIC_RUN_ID": "none", **more}


def plan(t: Topology, environ: Mapping[str, str], rank: Optional[int] = None, size: Optional[int] = None, **how: Any) -> Binding:
    return bind_this_rank(rank, size, topology=t, environ=environ, dry_run=True, quiet=True, **how)


def plans(t: Topology, size: int, **how: Any) -> list[Binding]:
    more = how.pop("more", {})
    return [plan(t, torchrun(rank, size, **more), **how) for rank in range(size)]


def cores(t: Topology, binding: Binding) -> list[int]:
    return [core.logical_index for core in t.cores if core.intersects(binding.cpus)]


def assert_apart(bindings: list[Binding]) -> None:
    """No two ranks have a PU in common."""
    assert sum(len(it.cpus) for it in bindings) == len(_all(bindings))


def _all(bindings: list[Binding]) -> Set:
    together = Set()
    for binding in bindings:
        together |= binding.cpus
    return together


def test_eight_ranks_of_eight_gpus_divide_the_cores_near_each(gpus: Topology) -> None:
    bindings = plans(gpus, 8)
    assert [it.gpu.name for it in bindings if it.gpu] == [f"cuda{rank}" for rank in range(8)]
    assert [cores(gpus, it) for it in bindings] == [list(range(4 * rank, 4 * rank + 4)) for rank in range(8)]
    assert [list(it.nodes) for it in bindings] == [[rank // 2] for rank in range(8)]
    assert [it.nics[0].name for it in bindings] == [f"mlx5_{rank // 2}" for rank in range(8)]
    assert all(len(it.cpus) == 8 and it.memory == "auto" for it in bindings)
    assert_apart(bindings)
    assert bindings[3].variables["NCCL_IB_HCA"] == "=mlx5_1:1" and "CUDA_VISIBLE_DEVICES" not in bindings[3].variables


def test_fewer_ranks_than_gpus_are_bound_to_the_cores_of_one_only_if_asked(gpus: Topology) -> None:
    for size in (1, 2, 4):
        bindings = plans(gpus, size)
        assert [it.gpu.name for it in bindings if it.gpu] == [f"cuda{rank}" for rank in range(size)]
        assert all(it.cpus == gpus.cpuset for it in bindings)
        assert "may use 8 GPUs" in bindings[0].explain()
    bindings = [plan(gpus, torchrun(rank, 4), gpus=[0, 1, 2, 3]) for rank in range(4)]
    assert [cores(gpus, it) for it in bindings] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]


def test_a_rank_whose_gpu_is_not_that_of_its_number_is_near_its_own(gpus: Topology) -> None:
    for given in (6, "GPU-00000006-0000", "0000:60:00.0", "cuda6"):
        binding = plan(gpus, torchrun(0, 8), gpu=given)
        assert binding.gpu is not None and binding.gpu.name == "cuda6"
        assert cores(gpus, binding) == [24, 25, 26, 27] and list(binding.nodes) == [3]


@pytest.mark.parametrize("visible", ["5,4,7,6", "GPU-00000005-0000,GPU-00000004-0000,GPU-00000007-0000,GPU-00000006-0000"])
def test_numbers_are_those_of_the_gpus_that_a_process_sees(gpus: Topology, visible: str) -> None:
    bindings = plans(gpus, 4, more={"CUDA_VISIBLE_DEVICES": visible})
    assert [it.gpu.name for it in bindings if it.gpu] == ["cuda5", "cuda4", "cuda7", "cuda6"]
    assert [cores(gpus, it) for it in bindings] == [[20, 21, 22, 23], [16, 17, 18, 19], [28, 29, 30, 31], [24, 25, 26, 27]]
    assert plan(gpus, torchrun(0, 4, CUDA_VISIBLE_DEVICES=visible), gpu=2).gpu == gpus.os_device("cuda7")


def test_ranks_that_each_see_one_gpu_of_their_own_do_not_collide(gpus: Topology) -> None:
    """Slurm with --gpus-per-task, and Ray."""
    bindings = [
        plan(gpus, {"SLURM_LOCALID": str(rank), "SLURM_STEP_TASKS_PER_NODE": "8(x2)", "SLURM_NODEID": "1", "CUDA_VISIBLE_DEVICES": str(7 - rank)})
        for rank in range(8)
    ]
    assert [it.gpu.name for it in bindings if it.gpu] == [f"cuda{7 - rank}" for rank in range(8)]
    assert cores(gpus, bindings[0]) == [28, 29, 30, 31] and bindings[0].launcher == "Slurm"
    assert_apart(bindings)


def test_more_ranks_than_gpus_divide_the_cores_of_each(gpus: Topology) -> None:
    bindings = plans(gpus, 16)
    assert [it.gpu.name for it in bindings if it.gpu] == [f"cuda{rank % 8}" for rank in range(16)]
    assert [cores(gpus, bindings[rank]) for rank in (0, 8)] == [[0, 1], [2, 3]]
    assert_apart(bindings)


def test_ranks_without_gpus_divide_all_cores(machine: Machine) -> None:
    t = machine("pack:2 [numa] core:8 pu:2")
    for size in (1, 2, 3, 4, 8, 16):
        bindings = plans(t, size)
        assert_apart(bindings)
        assert all(len(core.cpuset & it.cpus) in (0, 2) for it in bindings for core in t.cores if core.cpuset)
    assert [list(it.nodes) for it in plans(t, 4)] == [[0], [0], [1], [1]]
    assert all(it.gpu is None for it in plans(t, 4))


def test_one_pu_of_each_core_without_hyperthreads(gpus: Topology) -> None:
    bindings = plans(gpus, 8, hyperthreads=False)
    assert all(len(it.cpus) == 4 == len(cores(gpus, it)) for it in bindings)


def test_more_ranks_than_cores_share_cores_and_say_so(machine: Machine) -> None:
    t = machine("pack:1 core:2 pu:2")
    bindings = plans(t, 8)
    assert all(it.cpus for it in bindings) and _all(bindings) == t.cpuset
    assert any("oversubscribed" in reason for reason in bindings[0].reasons)


def test_gpus_whose_order_is_not_that_of_their_places_keep_their_places(machine: Machine) -> None:
    t = machine(gpu_node(order=[2, 0, 3, 1, 2, 0, 3, 1]))
    bindings = plans(t, 8)
    places = [it.gpu.non_io_ancestor.nodeset for it in bindings if it.gpu]
    assert [it.nodes for it in bindings] == places and len(places) == 8
    assert_apart(bindings)


def test_memory_next_to_ordinary_memory_is_left_alone(machine: Machine) -> None:
    from test_topology import NUMA_XML

    binding = plan(machine(NUMA_XML), torchrun(1, 2))
    assert list(binding.cpus) == [2, 3] and list(binding.nodes) == [1]
    assert plan(machine(NUMA_XML), torchrun(1, 2), memory="firsttouch").memory == "firsttouch"
    assert plan(machine(NUMA_XML), torchrun(1, 2), memory=None).memory == "default"


def test_ranks_that_each_see_one_gpu_divide_its_cores_in_turn_and_in_blocks(machine: Machine) -> None:
    t = machine(gpu_node(gpus=4, nics=2))
    for gpu_of in (lambda rank: rank % 4, lambda rank: rank // 2):
        bindings = [plan(t, torchrun(rank, 8, CUDA_VISIBLE_DEVICES=str(gpu_of(rank)))) for rank in range(8)]
        assert_apart(bindings)
        assert [len(it.cpus) for it in bindings] == [8] * 8


def test_ranks_with_the_gpus_that_are_given_have_no_pu_in_common(machine: Machine) -> None:
    t = machine(gpu_node(gpus=4, nics=2))
    for gpu_of in (lambda rank: rank // 2, lambda rank: rank % 4, lambda rank: (7 - rank) // 2):
        bindings = [plan(t, torchrun(rank, 8), gpu=gpu_of(rank)) for rank in range(8)]
        assert_apart(bindings)
    given = [0, 0, 0, 1, -1 + 3, 3, 3, 0]
    bindings = [plan(t, torchrun(rank, 8), gpus=given) for rank in range(8)]
    assert_apart(bindings)
    assert [it.gpu.name for it in bindings if it.gpu] == [f"cuda{gpu}" for gpu in given]
    with pytest.raises(ValueError, match="gpus names 2 GPUs; expected one for each of the 8 ranks"):
        plan(t, torchrun(0, 8), gpus=[0, 1])


def test_gpus_of_a_job_that_are_a_part_of_the_node_are_divided_alike_by_all_ranks(gpus: Topology) -> None:
    bindings = [plan(gpus, torchrun(rank, 4), gpu=4 + rank) for rank in range(4)]
    assert_apart(bindings)
    same = plans(gpus, 4, more={"CUDA_VISIBLE_DEVICES": "0,0,1"})
    assert [it.gpu.name for it in same if it.gpu] == ["cuda0", "cuda0", "cuda1", "cuda0"]
    assert_apart(same)
    assert len(plans(gpus, 2, more={"CUDA_VISIBLE_DEVICES": "0,0,1"})[0].cpus) == 8


def test_amd_gpus_are_numbered_by_one_variable_in_those_of_the_other(machine: Machine) -> None:
    t = machine(gpu_node().replace("[10de:2330]", "[1002:740f]").replace("NVIDIAUUID", "AMDUUID").replace('"GPU-', '"0x'))
    seen = {"ROCR_VISIBLE_DEVICES": "2,3,4", "HIP_VISIBLE_DEVICES": "1,2", "CUDA_VISIBLE_DEVICES": "0"}
    bindings = plans(t, 2, more=seen)
    assert [it.gpu.name for it in bindings if it.gpu] == ["cuda3", "cuda4"]
    assert plans(t, 2, more={"ROCR_VISIBLE_DEVICES": "GPU-00000005-0000"})[0].gpu == t.os_device("cuda5")


def test_a_batch_script_of_slurm_is_no_rank() -> None:
    from topobroker._launcher import rank_of

    with pytest.raises(ValueError, match="does not know its rank"):
        rank_of({"SLURM_LOCALID": "0", "SLURM_TASKS_PER_NODE": "8", "SLURM_NODEID": "0"})
    for environ, says in [
        ({"LOCAL_RANK": "x", "LOCAL_WORLD_SIZE": "4"}, "LOCAL_RANK is 'x'"),
        ({"LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1_0"}, "LOCAL_WORLD_SIZE is '1_0'"),
        ({"LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "\u0663"}, "LOCAL_WORLD_SIZE is"),
        ({"SLURM_LOCALID": "0", "SLURM_STEP_TASKS_PER_NODE": "x"}, "SLURM_STEP_TASKS_PER_NODE is 'x'"),
        ({"SLURM_LOCALID": "0", "SLURM_STEP_TASKS_PER_NODE": "4(x2"}, r"SLURM_STEP_TASKS_PER_NODE is .4\(x2."),
    ]:
        with pytest.raises(ValueError, match=says):
            rank_of(environ)


def test_a_number_of_ranks_that_no_node_has_is_refused(python: Python) -> None:
    code = """
import topobroker
for environ in (
    {"LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2000000000"},
    {"SLURM_LOCALID": "0", "SLURM_STEP_TASKS_PER_NODE": "70000(x400000000)"},
):
    try:
        topobroker.bind_this_rank(environ=environ, dry_run=True)
    except ValueError as error:
        print(error)
for gpu in (-2, 1.5, float("nan")):
    try:
        topobroker.bind_this_rank(0, 1, gpu=gpu, dry_run=True)
    except ValueError as error:
        print(error)
"""
    said = python(code).splitlines()
    assert len(said) == 5 and said[0] == "2000000000 ranks on this node; expected 65536 at most", said


def test_a_second_call_of_the_same_rank_has_the_same_result(program: str, quiet_environment: dict[str, str]) -> None:
    code = """
import os, subprocess, sys, topobroker
bound = [topobroker.bind_this_rank(0, 2, quiet=True).cpus for _ in range(3)]
again = "import topobroker; print(topobroker.bind_this_rank(0, 2, quiet=True).cpus)"
bound.append(topobroker.Set(subprocess.run([sys.executable, "-c", again], stdout=subprocess.PIPE, text=True).stdout.strip()))
# Another rank in the PUs of this one, as of a pool of its own, divides these.
bound.append(topobroker.bind_this_rank(0, 1, quiet=True).cpus)
assert bound == [bound[0]] * 5, bound
assert os.environ["TOPOBROKER_BOUND"].split(":")[1:4] == ["0", "1", str(bound[0])], os.environ
print("same")
"""
    environment = {**quiet_environment, "PATH": f"{Path(program).parent}:/usr/bin:/bin"}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert ran.stdout == "same\n", ran.stderr


def test_memory_that_may_not_be_bound_ends_nothing_unless_it_was_asked_for(
    gpus: Topology, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise topobroker.TopobrokerError("cannot bind its memory: Operation not permitted")

    monkeypatch.setattr(topobroker, "bind_memory", refused)
    monkeypatch.setattr(topobroker, "bind_cpus", lambda cpus: None)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    binding = plan(gpus, torchrun(0, 8))
    binding.apply()
    assert binding.memory == "default" and "not permitted" in binding.reasons[-1]
    with pytest.raises(topobroker.TopobrokerError):
        plan(gpus, torchrun(0, 8), memory="bind").apply()


def test_gpu_variables_name_the_instance_that_was_given(gpus: Topology) -> None:
    binding = plan(gpus, torchrun(1, 8, CUDA_VISIBLE_DEVICES="0,1,2,3,4,5,6,7"), gpu_variables=True)
    assert binding.variables["CUDA_VISIBLE_DEVICES"] == "GPU-00000001-0000"
    binding = plan(gpus, torchrun(1, 8), gpu="MIG-GPU-00000003-0000/1/0", gpu_variables=True)
    assert binding.variables["CUDA_VISIBLE_DEVICES"] == "MIG-GPU-00000003-0000/1/0"
    assert "MIG-GPU-00000003-0000/1/0" in str(binding)


class Stub(NamedTuple):
    name: str
    uuid: str
    bus_id: str
    mig_instances: list[str]


def test_instances_of_mig_and_short_uuids_name_their_gpu() -> None:
    one = Stub("cuda0", "GPU-aaaa-1", "0000:01:00.0", ["MIG-1111", "MIG-2222"])
    other = Stub("cuda1", "GPU-bbbb-2", "0000:02:00.0", [])
    known: Any = [one, other]
    words = {"MIG-2222": one, "MIG-GPU-bbbb-2/3/0": other, "GPU-b": other, "1": other, "2": None, "MIG-9": None, "cuda0": one}
    numbered = [Gpu(gpu) for gpu in known]
    for word, gpu in words.items():
        found = named(word, numbered, known)
        assert (found and found.object) == gpu, word
        assert found is None or found.instance == (word if word.startswith("MIG-") else None)


LAUNCHERS: dict[str, dict[str, str]] = {
    "torchrun": torchrun(2, 4),
    "Open MPI": {"OMPI_COMM_WORLD_LOCAL_RANK": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "4"},
    "MPICH": {"MPI_LOCALRANKID": "2", "MPI_LOCALNRANKS": "4"},
    "PALS": {"PALS_LOCAL_RANKID": "2", "PALS_LOCAL_SIZE": "4"},
    "Slurm": {"SLURM_LOCALID": "2", "SLURM_STEP_TASKS_PER_NODE": "3,4(x3),1", "SLURM_NODEID": "2"},
}


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_each_launcher_gives_the_rank(gpus: Topology, launcher: str) -> None:
    binding = plan(gpus, LAUNCHERS[launcher])
    assert (binding.launcher, binding.rank, binding.size) == (launcher, 2, 4)
    assert f"rank 2 of 4 ({launcher})" in str(binding) and binding.explain().startswith(str(binding))


@pytest.mark.parametrize(
    ("environ", "how", "says"),
    [
        ({}, {}, "this process does not know its rank"),
        ({}, {"rank": 4, "size": 4}, "rank 4 of 4 ranks on this node; expected 0 to 3"),
        (torchrun(0, 4), {"gpu": 8}, "this process sees 8 GPUs"),
        (torchrun(0, 4), {"gpu": "GPU-none"}, "it has GPU-00000000-0000"),
    ],
)
def test_what_is_wrong_is_said(gpus: Topology, environ: dict[str, str], how: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        plan(gpus, environ, **how)


SCRIPT = """
import json, os, sys, topobroker
print(json.dumps([sorted(os.sched_getaffinity(0)), os.environ.get("UCX_NET_DEVICES"), sys.argv[1:]]))
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    file = tmp_path / "train.py"
    file.write_text(SCRIPT)
    return str(file)


def bind_program(quiet_environment: dict[str, str], program: str, words: list[str], **variables: str) -> Any:
    environment = {**quiet_environment, "PATH": f"{Path(program).parent}:/usr/bin:/bin", **variables}
    return subprocess.run(
        [sys.executable, "-m", "topobroker", "bind", *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_workers_of_this_machine_are_bound_as_asked(program: str, quiet_environment: dict[str, str], script: str) -> None:
    own = sorted(os.sched_getaffinity(0))
    found: list[list[int]] = []
    for rank in range(2):
        ran = bind_program(quiet_environment, program, ["--", script, "--lr", "1"], **torchrun(rank, 2))
        assert ran.returncode == 0, ran.stderr
        pus, _, words = json.loads(ran.stdout)
        assert f"rank {rank} of 2 (torchrun); PUs {Set(pus)}" in ran.stderr and words == ["--lr", "1"]
        found.append(pus)
    if len(own) > 1:
        assert sorted(found[0] + found[1]) == own and not set(found[0]) & set(found[1])


def test_a_dry_run_says_why_and_does_nothing(program: str, quiet_environment: dict[str, str], script: str) -> None:
    ran = bind_program(quiet_environment, program, ["--dry-run", "--", script], **torchrun(0, 2))
    assert ran.returncode == 0 and ran.stdout == "" and "  PUs: " in ran.stderr


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["--rank", "9", "--size", "2", "--", "true"], 1, "rank 9 of 2"),
        (["--rank", "0", "--size", "1"], 2, "which command?"),
        (["--rank", "0", "--size", "1", "--quiet", "--", "/none/program"], 127, "/none/program: No such file"),
        (["--rank", "0", "--size", "1", "--", "sh", "-c", "exit 7"], 7, "rank 0 of 1 (given)"),
        (["--rank", "0", "--size", "1", "--gpu", "none", "--memory", "none", "--", "true"], 0, "PUs"),
    ],
)
def test_the_program_has_the_statuses_of_shells(
    program: str, quiet_environment: dict[str, str], words: list[str], status: int, says: str
) -> None:
    ran = bind_program(quiet_environment, program, words)
    assert (ran.returncode, says in ran.stderr) == (status, True), ran.stderr


def test_ranks_that_mpirun_binds_keep_their_pus(program: str, quiet_environment: dict[str, str], script: str) -> None:
    mpirun = shutil.which("mpirun.openmpi")
    if mpirun is None or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("no mpirun of Open MPI, or one PU")
    environment = {**quiet_environment, "PATH": f"{Path(program).parent}:/usr/bin:/bin"}
    command = [mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "2", "--bind-to", "core", sys.executable, "-m", "topobroker", "bind"]
    ran = subprocess.run([*command, "--", script], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.count("Open MPI") == 2
    # Lines of ranks may come in pieces.
    assert sorted(re.findall(r"\[\[([\d, ]*)\]", ran.stdout)) == ["0", "1"]


def test_ranks_of_a_job_have_what_the_job_says(program: str, quiet_environment: dict[str, str], tmp_path: Path) -> None:
    code = "import topobroker; b = topobroker.bind_this_rank(dry_run=True, quiet=True); print(b.launcher, b.rank, b.size, b.cpus)"
    shell = (
        f'{program} job add train -n 2 --map-by core >/dev/null && for rank in 0 1; do '
        f'TOPOBROKER_RANK=$rank TOPOBROKER_JOB="$TOPOBROKER_FILE.job-train" {sys.executable} -c "{code}"; done; {program} job remove train >/dev/null'
    )
    ran = subprocess.run(
        [program, "run", "-i", "pack:2 core:2 pu:1", "--", "sh", "-c", shell],
        env=quiet_environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert ran.stdout.splitlines() == ["job train 0 2 0", "job train 1 2 1"], ran.stderr


def test_a_process_binds_itself_and_its_memory(program: str, quiet_environment: dict[str, str]) -> None:
    code = """
import os, topobroker
before = topobroker.Set(os.sched_getaffinity(0))
one = before.singlify()
topobroker.bind_cpus(one)
assert topobroker.bound_cpus() == one == topobroker.Set(os.sched_getaffinity(0))
try:
    topobroker.bind_memory("bind", [0])
    topobroker.bind_memory("default")
except topobroker.TopobrokerError as error:
    assert "permitted" in str(error) or "implemented" in str(error), error
for wrong in (lambda: topobroker.bind_cpus([4000]), lambda: topobroker.bind_memory("bind", [999])):
    try:
        wrong()
    except topobroker.TopobrokerError as error:
        print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], env=quiet_environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert ran.returncode == 0 and "4000" in ran.stdout and "999" in ran.stdout, ran.stderr


def test_the_first_hardware_threads_alone_are_left_by_a_cgroup(gpus: Topology) -> None:
    """As srun --hint=nomultithread leaves them."""
    view = gpus.view(range(32))
    bindings = [plan(view, torchrun(rank, 8)) for rank in range(8)]
    assert [sorted(it.cpus) for it in bindings] == [list(range(4 * rank, 4 * rank + 4)) for rank in range(8)]


def test_gpus_without_near_pus_in_the_cgroup_take_the_nearest(gpus: Topology) -> None:
    view = gpus.view(range(0, 8))
    bindings = [plan(view, torchrun(rank, 8)) for rank in range(8)]
    assert all(it.cpus for it in bindings)
    assert _all(bindings) <= view.cpuset


@pytest.mark.skipif(
    os.geteuid() != 0 or not os.path.exists("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), reason="needs root and cgroups of version 1"
)
def test_more_ranks_than_the_quota_is_enough_for_are_noted(python: Python) -> None:
    code = """
import os, topobroker
folder = f"/sys/fs/cgroup/cpu/topobroker-python-{os.getpid()}"
assert topobroker.cpu_quota() is None
os.mkdir(folder)
try:
    for file, text in [("cpu.cfs_quota_us", 150000), ("cpu.cfs_period_us", 100000), ("tasks", os.getpid())]:
        with open(f"{folder}/{file}", "w") as written:
            written.write(str(text))
    assert topobroker.cpu_quota() == 1.5
    notes = lambda size: [it for it in topobroker.bind_this_rank(0, size, dry_run=True).reasons if "quota" in it]
    assert notes(1) == [] and len(notes(2)) == 1 and "1.50 PUs" in notes(2)[0], notes(2)
finally:
    with open("/sys/fs/cgroup/cpu/tasks", "w") as written:
        written.write(str(os.getpid()))
    os.rmdir(folder)
"""
    python(code, "machine")
