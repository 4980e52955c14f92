"""A pool of processes, each bound to a share of the cores. All share one topology.

python multiprocess.py
"""

import multiprocessing

import topobroker


def bind(places: "multiprocessing.Queue[int]", size: int) -> None:
    """Runs in each process when it starts."""
    topobroker.bind_this_rank(places.get(), size, quiet=True)


def where(_: int) -> str:
    """What a process does."""
    return f"PUs {topobroker.bound_cpus()}"


if __name__ == "__main__":
    size = min(4, len(topobroker.load().cores))
    context = multiprocessing.get_context("spawn")
    places: "multiprocessing.Queue[int]" = context.Queue()
    for place in range(size):
        places.put(place)
    with context.Pool(size, bind, (places, size)) as pool:
        print(sorted(set(pool.map(where, range(4 * size), chunksize=1))))
