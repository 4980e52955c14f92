"""What a Python process pays for the topology: memory above plain Python, time to import and adopt, time of
questions; beside hwloc by ctypes.

topobroker run -i "pack:8 [numa] l3:4 core:64 pu:2" -- python costs.py
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import timeit

PROCESSES = 16
HWLOC = (
    "import ctypes; l = ctypes.CDLL('libhwloc.so.15'); t = ctypes.c_void_p(); "
    "l.hwloc_topology_init(ctypes.byref(t)); l.hwloc_topology_load(t)"
)
WAYS = {
    "plain": "pass",
    "adopt": "import topobroker; t = topobroker.adopt()",
    "adopt, ask cores": "import topobroker; t = topobroker.adopt(); c = [core.cpuset for core in t.cores]",
    "hwloc by ctypes": HWLOC,
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


def start() -> tuple[float, float]:
    """Microseconds to import and to adopt: medians of fresh processes."""
    code = "import time; a = time.perf_counter_ns(); import topobroker; b = time.perf_counter_ns(); "
    code += "t = topobroker.adopt(); c = time.perf_counter_ns(); print((b - a) / 1000, (c - b) / 1000)"
    runs = [subprocess.run([sys.executable, "-I", "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(41)]
    rows = [[float(word) for word in run.stdout.split()] for run in runs]
    return statistics.median(row[0] for row in rows), statistics.median(row[1] for row in rows)


def main() -> None:
    import topobroker

    plain = memory(WAYS["plain"])
    for name, code in WAYS.items():
        private, tables = memory(code)
        print(f"{name:20s} {private - plain[0]:8.1f} kB private, {tables - plain[1]:6.1f} kB of page tables")
    print("import {:.0f} us, adopt {:.0f} us".format(*start()))
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
