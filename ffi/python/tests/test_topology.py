"""Topologies, views, jobs, links and clusters."""

from __future__ import annotations

import copy
import gc
import os
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest
import topobroker
from conftest import Machine, Python, published
from machines import gpu_node
from topobroker import Set, Topology

SMALL = "pack:2 [numa] l3:2 core:4 pu:2"


def hwloc_calc(given: str, *words: str) -> str:
    program = shutil.which("hwloc-calc")
    if program is None:
        pytest.skip("hwloc-calc is not installed")
    return subprocess.run([program, "-i", given, *words], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def test_counts_and_sets_are_those_of_hwloc_calc(machine: Machine) -> None:
    t = machine(SMALL)
    for name in ("package", "numa", "L3", "core", "pu"):
        objects = t.objects(name)
        assert len(objects) == int(hwloc_calc(SMALL, "-N", name, "all"))
        for object in objects:
            assert object.cpuset is not None
            text = hwloc_calc(SMALL, f"{name}:{object.logical_index}")
            assert object.cpuset.to_text("hwloc") == text
    assert (len(t.cores), len(t.pus), len(t.packages), len(t.numa_nodes)) == (16, 32, 2, 2)


def test_a_topology_names_itself(gpus: Topology) -> None:
    assert "gpunode: 32 cores, 64 PUs" in repr(gpus) and repr(gpus.gpus[0]) == '<Object CoProc L#0 "cuda0">'


def test_the_tree_is_walked_in_both_directions(machine: Machine) -> None:
    t = machine(SMALL)
    assert [object.id for object in t.objects()] == list(range(len(t)))
    for object in t.objects():
        assert all(child.parent == object for child in object.children + object.memory_children)
        assert object in t and t.object(object.id) == object
        assert object.ancestors == ([] if object.parent is None else [object.parent, *object.parent.ancestors])
    core = t.cores[5]
    assert core.ancestor("package") == t.packages[0] and core.ancestor("machine") == t.root
    assert core.common_ancestor(t.cores[4]).type == "L3Cache"
    assert list(t.packages[1].objects("core")) == t.cores[8:]
    assert {core: "hashed"}[t.cores[5]] == "hashed"


def test_objects_are_a_sequence(machine: Machine) -> None:
    t = machine(SMALL)
    for objects in (t.cores, t.objects(), t.inside(range(8), "core"), t.objects("numa")):
        every = list(objects)
        assert len(objects) == len(every)
        for place in (0, -1, len(every) - 1):
            assert objects[place] == every[place]
        for part in (slice(None), slice(1, 3), slice(None, None, -1), slice(-2, None), slice(5, 1)):
            assert objects[part] == every[part]
        for place in (len(every), -len(every) - 1):
            with pytest.raises(IndexError, match=f"of {len(every)}"):
                objects[place]
    assert t.cores[3] in t.cores and t.pus[3] not in t.cores and "core" not in t.cores


def test_a_view_has_the_objects_that_hwloc_keeps(machine: Machine) -> None:
    t = machine(SMALL)
    view = t.view("0-5")
    assert (len(view.cores), len(view.pus), view.cpuset) == (3, 6, Set("0-5"))
    assert [core.id for core in view.cores] == [core.id for core in t.cores[:3]]
    assert view.cores[2] == t.cores[2] and t.cores[3] not in view
    assert view.view([0]).cpuset == Set([0])
    kept = t.restrict([1], "bynodeset", "remove_memless")
    assert kept.nodeset == Set([1]) and kept.cpuset == t.packages[1].cpuset
    with pytest.raises(topobroker.TopobrokerError):
        t.view([4000])
    with pytest.raises(ValueError, match="remove_cpuless"):
        t.restrict([1], "remove_everything")


def test_handles_keep_what_they_are_of(machine: Machine) -> None:
    pu = machine(SMALL).view("0-5").view([0]).pus[0]
    gc.collect()
    assert pu.topology.cpuset == Set([0]) and pu.parent is not None and pu.parent.type == "Core"
    iterator = iter(machine(SMALL).view("0-5").pus)
    gc.collect()
    assert [pu.os_index for pu in iterator] == list(range(6))


def test_xml_and_synthetic_text_are_loaded_by_hwloc(machine: Machine, tmp_path: Path) -> None:
    t = machine(SMALL)
    file = tmp_path / "exported.xml"
    file.write_text(t.to_xml())
    assert hwloc_calc(str(file), "-N", "core", "all") == "16"
    assert hwloc_calc(t.to_synthetic(), "-N", "pu", "all") == "32"


def test_pictures_are_svg(machine: Machine, gpus: Topology) -> None:
    import xml.etree.ElementTree as tree

    for picture in (machine(SMALL)._repr_svg_(), gpus.to_svg(fold=True, highlighted=[0]), gpus.links().to_svg()):
        assert tree.fromstring(picture).tag.endswith("svg")


def test_distances_are_seen_by_numpy_in_place(machine: Machine) -> None:
    numpy = pytest.importorskip("numpy")
    t = machine(NUMA_XML)
    (matrix,) = t.distances
    array = numpy.asarray(matrix)
    assert array.tolist() == matrix.values and matrix.values[0][1] != matrix.values[0][0]
    assert not array.flags.writeable and not array.flags.owndata
    one, other = t.numa_nodes[0], t.numa_nodes[1]
    assert matrix.between(one, other) == matrix.values[0][1] and matrix.between(one, t.root) is None
    addresses = {numpy.asarray(matrix).__array_interface__["data"][0] for _ in range(3)}
    assert len(addresses) == 1
    hidden = t.view([0, 2]).distances
    assert all(numpy.asarray(it).tolist() == it.values for it in hidden)


NUMA_XML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x0000000f" complete_cpuset="0x0000000f" allowed_cpuset="0x0000000f" nodeset="0x00000007" complete_nodeset="0x00000007" allowed_nodeset="0x00000007" gp_index="1">
    <object type="Package" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="2">
      <object type="NUMANode" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="3" local_memory="1000000000"/>
      <object type="PU" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="4"/>
      <object type="PU" os_index="1" cpuset="0x00000002" complete_cpuset="0x00000002" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="5"/>
    </object>
    <object type="Package" os_index="1" cpuset="0x0000000c" complete_cpuset="0x0000000c" nodeset="0x00000006" complete_nodeset="0x00000006" gp_index="6">
      <object type="NUMANode" os_index="1" cpuset="0x0000000c" complete_cpuset="0x0000000c" nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="7" local_memory="2000000000"/>
      <object type="NUMANode" os_index="2" subtype="HBM" cpuset="0x0000000c" complete_cpuset="0x0000000c" nodeset="0x00000004" complete_nodeset="0x00000004" gp_index="8" local_memory="500000000"/>
      <object type="PU" os_index="2" cpuset="0x00000004" complete_cpuset="0x00000004" nodeset="0x00000006" complete_nodeset="0x00000006" gp_index="9"/>
      <object type="PU" os_index="3" cpuset="0x00000008" complete_cpuset="0x00000008" nodeset="0x00000006" complete_nodeset="0x00000006" gp_index="10"/>
    </object>
  </object>
  <distances2 type="NUMANode" nbobjs="3" kind="5" name="NUMALatency" indexing="os">
    <indexes length="6">0 1 2 </indexes>
    <u64values length="27">10 21 28 21 10 17 28 17 10 </u64values>
  </distances2>
</topology>"""


def test_memory_attributes_and_default_nodes_are_known(machine: Machine) -> None:
    t = machine(NUMA_XML)
    capacity = next(it for it in t.memory_attributes if it.name == "Capacity")
    assert [capacity.value(node) for node in t.numa_nodes] == [1_000_000_000, 2_000_000_000, 500_000_000]
    best = capacity.best_target()
    assert best is not None and best[0] == t.numa_nodes[1] and best[1] == 2_000_000_000
    assert t.nodeset_of([2]) == Set([1, 2]) and t.default_nodeset == Set([0, 1])
    assert t.cpuset_of([2]) == Set([2, 3]) and t.numa_nodes[2].attributes["local_memory"] == 500_000_000


def test_two_infos_of_one_name_are_both_there(machine: Machine) -> None:
    twice = '<info name="Note" value="one"/><info name="Note" value="two"/>'
    root = machine(NUMA_XML.replace('gp_index="1">', f'gp_index="1">{twice}')).root
    assert [value for name, value in root.infos if name == "Note"] == ["one", "two"]
    assert root.info("Note") == "one" and root.info("Nothing") is None


def test_objects_of_another_topology_are_refused(machine: Machine, gpus: Topology) -> None:
    t = machine(SMALL)
    for wrong in (
        lambda: gpus.assign([t.cores[3]], [[0]]),
        lambda: gpus.assign(gpus.nics, [t.cores[3]]),
        lambda: topobroker.variables_of(gpus, nics=[t.cores[3]]),
        lambda: gpus.memory_attributes[0].value(t.numa_nodes[0]),
        lambda: gpus.view(range(8)).assign(gpus.view(range(8)).nics, [gpus.gpus[7]]),
    ):
        with pytest.raises(ValueError, match="not of this topology"):
            wrong()


def test_topologies_and_sequences_are_compared_by_what_they_are(machine: Machine) -> None:
    t = machine(SMALL)
    assert t.view("0-5") == t.view("0-5") != t.view("0-3") and t.view("0-5") != t and len({t, t.root.topology}) == 1
    assert t.cores.index(t.cores[5]) == 5 and t.cores.count(t.pus[0]) == 0
    with pytest.raises(ValueError, match="not in the sequence"):
        t.cores.index(t.pus[0])


def test_what_processes_share_is_known(machine: Machine) -> None:
    t = machine(SMALL)
    shared = t.locality([0], [2])
    assert "L3" in shared and "core" not in shared and shared.pmix & 0x10
    assert shared == topobroker.Locality.of_strings(*(t.locality_string([pu]) or "" for pu in (0, 2)))
    assert "package" not in t.locality([0], [16])


def test_gpus_nics_networks_and_links_are_found(gpus: Topology) -> None:
    assert [gpu.name for gpu in gpus.gpus] == [f"cuda{number}" for number in range(8)]
    assert gpus.gpus[3].uuid == "GPU-00000003-0000" and gpus.gpus[3].bus_id == "0000:21:00.0"
    (network,) = gpus.networks
    assert network.kind == "InfiniBand" and [nic.name for nic in network.nics] == [f"mlx5_{n}" for n in range(4)]
    assert all(nic.link_is_active for nic in gpus.nics)
    near = gpus.assign(list(gpus.nics), list(gpus.gpus))
    assert [nics[0].name for nics in near] == ["mlx5_0", "mlx5_0", "mlx5_1", "mlx5_1", "mlx5_2", "mlx5_2", "mlx5_3", "mlx5_3"]
    links = gpus.links()
    path = links.path("cuda0", gpus.os_device("mlx5_0") or "")
    assert path is not None and path.hops == len(path.vertices) - 1
    with pytest.raises(ValueError, match="no vertex"):
        links.path("cuda0", "cuda99")


def test_links_are_a_graph_of_networkx(gpus: Topology) -> None:
    networkx = pytest.importorskip("networkx")
    links = gpus.links()
    graph = links.to_networkx()
    assert graph.number_of_nodes() == len(links.vertices) and graph.number_of_edges() == len(links.links)
    names = {data["name"]: number for number, data in graph.nodes(data=True)}
    hops = networkx.shortest_path_length(graph, names["cuda0"], names["mlx5_0"])
    found = links.path(names["cuda0"], names["mlx5_0"], "hops")
    assert found is not None and found.hops >= hops


def test_a_job_has_its_ranks(python: Python, program: str) -> None:
    code = f"""
import copy, os, subprocess, topobroker
base = topobroker.adopt()
assert topobroker.job() is None
lines = subprocess.run([{program!r}, "job", "add", "train", "-n", "4", "--map-by", "core"], check=True, stdout=subprocess.PIPE, text=True).stdout
os.environ.update(line.split("=", 1) for line in lines.splitlines() if "=" in line)
job = topobroker.job()
assert len(job) == 4 and job.name == "train" and 3 in job and 4 not in job
assert [rank.cpuset for rank in job.ranks] == [core.cpuset for core in base.cores[:4]]
assert "package" in job.locality(0, 3) and "core" not in job.locality(0, 1)
assert job.sharing(0, "package") == [0, 1, 2, 3] and job.sharing(0, "core") == [0]
assert job.instances("hwloc://Package") == [0] * 4 and job.ranks_on("hwloc://Core/1") == [1]
assert topobroker.mine().cpuset == job.topology.cpuset
assert all(copy.copy(it) is it and copy.deepcopy(it) is it for it in (job, job[0]))
try:
    job[9]
except KeyError as error:
    print(error)
subprocess.run([{program!r}, "job", "remove", "train"], check=True)
"""
    assert "rank 9 of job train" in python(code)


def test_a_cluster_has_its_nodes(program: str, machine: Machine, tmp_path: Path) -> None:
    file = tmp_path / "site.cluster"
    node = tmp_path / "n.xml"
    node.write_text(machine(SMALL).to_xml())
    conf = tmp_path / "topology.conf"
    conf.write_text("SwitchName=s1 Nodes=n[1-4]\nSwitchName=s2 Nodes=n[5-8]\nSwitchName=top Switches=s[1-2]\n")
    nodes = [f"n{number}={node}" for number in range(1, 9)]
    subprocess.run([program, "cluster", "build", str(file), *nodes, "--slurm", str(conf)], check=True)
    cluster = topobroker.Cluster(file)
    assert len(cluster) == 8 and "n3" in cluster and "x" not in cluster and cluster.class_count == 1
    third = cluster["n3"]
    topology = third.topology
    assert len(topology.cores) == 16 and third == cluster[2] and third.group.name == "s1"
    assert [node.name for node in third.group.nodes] == ["n1", "n2", "n3", "n4"]
    assert cluster.root.kind == "cluster" and {group.name for group in cluster.groups} >= {"s1", "s2", "top"}
    assert cluster.totals()["cores"] == 8 * 16 and cluster._repr_svg_().startswith("<svg")
    assert all(copy.copy(it) is it and copy.deepcopy(it) is it for it in (cluster, third, third.group))
    del cluster
    gc.collect()
    assert len(topology.pus) == 32 and third.name == "n3"
    with pytest.raises(topobroker.TopobrokerError, match="n.xml"):
        topobroker.Cluster(node)
    with pytest.raises(FileNotFoundError):
        topobroker.Cluster(tmp_path / "absent")


def test_bad_files_are_errors_that_name_them(tmp_path: Path) -> None:
    empty, text = tmp_path / "empty", tmp_path / "text"
    empty.touch()
    text.write_text("no segment " * 100)
    os.mkfifo(tmp_path / "pipe")
    for file in (empty, text, tmp_path / "pipe", tmp_path):
        for read in (topobroker.open, topobroker.Cluster):
            with pytest.raises((topobroker.TopobrokerError, OSError), match=str(file)):
                read(file)
    with pytest.raises(FileNotFoundError) as absent:
        topobroker.open(tmp_path / "absent")
    assert absent.value.filename == str(tmp_path / "absent")


@pytest.mark.parametrize("name", ["", "cpu_set", "L9", "x" * 1000])
def test_a_name_of_no_type_is_an_error(machine: Machine, name: str) -> None:
    with pytest.raises(ValueError, match="no type"):
        machine(SMALL).objects(name)


def test_what_differs_between_two_topologies_is_what_hwloc_diff_finds(machine: Machine, program: str, tmp_path: Path) -> None:
    one = machine(NUMA_XML)
    assert topobroker.diff(one, one) == []
    changed = NUMA_XML.replace("2000000000", "3000000000")
    (difference,) = topobroker.diff(one, machine(changed))
    assert difference[1:] == ("local_memory", 2_000_000_000, 3_000_000_000) and difference.object == one.numa_nodes[1]
    files = [tmp_path / "one.xml", tmp_path / "other.xml"]
    for file, text in zip(files, (NUMA_XML, changed)):
        file.write_text(text)
    theirs = subprocess.run([program, "diff", *map(str, files)], stdout=subprocess.PIPE, text=True, check=False)
    assert theirs.stdout.count("<diff ") == 1 and "3000000000" in theirs.stdout
    assert [it.what for it in topobroker.diff(one, machine(SMALL))] == ["structure"]


def test_an_audit_is_read_as_objects(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("hwloc-calc") is None:
        pytest.skip("hwloc-calc is not installed")
    monkeypatch.setenv("PATH", f"{Path(program).parent}:{os.environ['PATH']}")
    try:
        audit = topobroker.audit(["hwloc-calc", "-N", "pu", "all"])
    except topobroker.TopobrokerError as error:
        pytest.skip(f"the audit needs the guard's library: {error}")
    assert audit.status == 0 and audit.processes[0].calls[0].call == "load"


def test_the_adopted_topology_and_its_objects_are_pickled(python: Python) -> None:
    code = """
import pickle, topobroker
t = topobroker.adopt()
for given in (t.cores[3], t.root):
    assert pickle.loads(pickle.dumps(given)) == given
assert pickle.loads(pickle.dumps(t)).root == t.root
try:
    pickle.dumps(t.view([0]).root)
except TypeError as error:
    print(error)
"""
    assert "send its id" in python(code)


def assert_is_its_own_copy(given: object) -> None:
    assert copy.copy(given) is given and copy.deepcopy([given])[0] is given


def test_what_cannot_change_is_its_own_copy(gpus: Topology) -> None:
    view, links = gpus.view([0]), gpus.links()
    path = links.path(0, 1)
    assert path is not None
    for it in (gpus, view, view.root, gpus.root, gpus.pus, gpus.root.cpuset, gpus.locality([0], [1]), links, links.links[0], links.vertices[0], path):
        assert_is_its_own_copy(it)
    for it in (*gpus.distances, *gpus.memory_attributes, *gpus.cpu_kinds, *gpus.networks):
        assert_is_its_own_copy(it)


def test_keys_are_those_of_the_environment(python: Python, program: str, tmp_path: Path, quiet_environment: dict[str, str]) -> None:
    keys = published(program, SMALL, tmp_path, quiet_environment)
    code = "import topobroker; t = topobroker.adopt(); print(t.keys['TOPOBROKER_FILE']); assert t.view([0]).keys is None"
    assert python(code, None, **keys) == keys["TOPOBROKER_FILE"]


def test_the_nearest_device_is_that_of_the_rules_for_ranks(gpus: topobroker.Topology) -> None:
    for package in gpus.objects("package"):
        cpus = package.cpuset
        assert cpus is not None
        for device, all_of in [("nic", gpus.networks[0].nics), ("gpu", list(gpus.gpus))]:
            assert gpus.nearest(cpus, device) == gpus.assign(all_of, [cpus])[0][0]  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="nic"):
        gpus.nearest([0], "disk")  # type: ignore[arg-type]


def test_sizes_from_outside_have_limits(python: Python) -> None:
    code = """
import resource, topobroker
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
topology = topobroker.load()
class Liar:
    def __len__(self):
        return 10**12
    def __getitem__(self, place):
        return topology.pus[0].cpuset if place < 2 else [][place]
assert len(topology.assign(topology.pus, Liar())) == 2
for ask in (
    lambda: topology.distribute(2**32),
    lambda: topology.assign(topology.pus, range(10**9)),
    lambda: topology.assign(topology.pus, iter(int, 1)),
    lambda: topology.assign((topology.root for _ in iter(int, 1)), [0]),
):
    try:
        ask()
    except ValueError as error:
        print(error)
"""
    said = python(code).splitlines()
    assert len(said) == 4 and all("at most" in line for line in said), said


def test_the_program_and_python_deal_the_gpus_of_random_jobs_alike(
    gpus: Topology, program: str, tmp_path: Path, quiet_environment: dict[str, str]
) -> None:
    random = Random(54)
    (tmp_path / "machine.xml").write_text(gpu_node())
    environment = {**quiet_environment, **published(program, str(tmp_path / "machine.xml"), tmp_path, quiet_environment)}

    def run(*words: str) -> str:
        return subprocess.run([program, *words], env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout

    for job in range(40):
        ranks = [Set(range(first, first + random.randint(1, 64 - first))) for first in random.choices(range(64), k=random.randint(1, 40))]
        (tmp_path / "ranks").write_text("".join(f"{rank} {pus.to_text('list')}\n" for rank, pus in enumerate(ranks)))
        run("job", "add", "-q", f"job{job}", "--ranks", str(tmp_path / "ranks"))
        dealt = gpus.assign(list(gpus.gpus), ranks)
        assert run("job", "gpus", f"job{job}").splitlines() == [f"{rank} {gpu[0].name}" for rank, gpu in enumerate(dealt)]
    run("unpublish", environment["TOPOBROKER_FILE"])
