"""What a Python process pays for the topology: memory above plain Python, time to import and adopt, time of
questions; compared with hwloc by ctypes, and pyhwloc if it is installed. All are asked about the same synthetic machine.

topobroker run -i "pack:8 [numa] l3:4 core:64 pu:2" -- python costs.py
"""

from __future__ import annotations

import importlib.util
import re
import statistics
import subprocess
import sys
import timeit

PROCESSES = 16
MACHINE = "pack:8 [numa] l3:4 core:64 pu:2"
HWLOC = (
    "import ctypes; l = ctypes.CDLL('libhwloc.so.15'); t = ctypes.c_void_p(); "
    f"l.hwloc_topology_init(ctypes.byref(t)); l.hwloc_topology_set_synthetic(t, b'{MACHINE}'); l.hwloc_topology_load(t)"
)
PYHWLOC = f"import pyhwloc; c = pyhwloc.from_synthetic('{MACHINE}'); t = c.__enter__() if hasattr(c, '__enter__') else c"
WAYS = {
    "plain": "pass",
    "adopt": "import topobroker; t = topobroker.adopt()",
    "adopt, ask cores": "import topobroker; t = topobroker.adopt(); c = [core.cpuset for core in t.cores]",
    "hwloc by ctypes": HWLOC,
    **({"pyhwloc": PYHWLOC} if importlib.util.find_spec("pyhwloc") else {}),
}
QUESTIONS = [
    "core.type",
    "core.os_index",
    "core.parent",
    "core.cpuset",
    "t.cores",
    "t.cores[1]",
    "t.pu(3)",
    "t.covering(one)",
    "one & other",
    "3 in one",
    "t.locality(one, other)",
    "t.locality_string(one)",
]


def memory(code: str) -> tuple[float, float]:
    """Private memory and page tables of a process in kB, the mean of many that run at once."""
    script = code.replace("; ", "\n") + "\nimport sys\nprint('ready', flush=True)\nsys.stdin.read()"
    workers = [
        subprocess.Popen([sys.executable, "-I", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(PROCESSES)
    ]
    found = []
    for worker in workers:
        assert worker.stdout is not None and worker.stdout.readline() == b"ready\n"
    for worker in workers:
        with open(f"/proc/{worker.pid}/smaps_rollup") as rollup:
            private = sum(int(kb) for kb in re.findall(r"Private_\w+:\s+(\d+)", rollup.read()))
        with open(f"/proc/{worker.pid}/status") as status:
            tables = int(re.findall(r"VmPTE:\s+(\d+)", status.read())[0])
        found.append((private, tables))
    for worker in workers:
        worker.communicate()
    return statistics.mean(it[0] for it in found), statistics.mean(it[1] for it in found)


def start(code: str) -> float:
    """Microseconds until a fresh process has imported and has its topology: the median."""
    whole = f"import time; begin = time.perf_counter_ns(); {code}; print((time.perf_counter_ns() - begin) / 1000)"
    runs = [subprocess.run([sys.executable, "-I", "-c", whole], stdout=subprocess.PIPE, text=True) for _ in range(31)]
    return statistics.median(float(run.stdout) for run in runs)


def main() -> None:
    import topobroker

    plain = memory(WAYS["plain"])
    for name, code in WAYS.items():
        private, tables = memory(code)
        costs = f"{private - plain[0]:8.1f} kB private, {tables - plain[1]:6.1f} kB of page tables"
        print(f"{name:20s} {costs}, {start(code):8.0f} us")
    t = topobroker.adopt()

    class Plain:
        __slots__ = ("attribute",)

    plain_object = Plain()
    plain_object.attribute = 1  # type: ignore[attr-defined]
    names = dict(t=t, core=t.cores[3], one=t.cores[3].cpuset, other=t.pus[0].cpuset, plain=plain_object)

    def nanoseconds(question: str) -> float:
        return min(timeit.repeat(question, globals=names, number=20000, repeat=7)) / 20000 * 1e9

    attribute = nanoseconds("plain.attribute")
    for question in QUESTIONS:
        print(f"{question:24s} {nanoseconds(question) - attribute:6.0f} ns above an attribute")
    walk = min(timeit.repeat("for pu in t.pus: pass", globals=names, number=1, repeat=50)) * 1e6
    print(f"walking {len(t.pus)} PUs: {walk:.0f} us")


if __name__ == "__main__":
    main()
