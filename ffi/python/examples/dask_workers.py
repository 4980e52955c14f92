"""Workers of Dask, each bound to a share of the cores.

python dask_workers.py
"""

import topobroker
from dask.distributed import Client, LocalCluster


def bind(rank: int, size: int) -> str:
    """Runs in a worker."""
    return str(topobroker.bind_this_rank(rank, size, quiet=True).cpus)


if __name__ == "__main__":
    size = 2
    with LocalCluster(n_workers=size, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            addresses = sorted(client.scheduler_info()["workers"])
            for rank, address in enumerate(addresses):
                (bound,) = client.run(bind, rank, size, workers=[address]).values()
                print(f"worker {rank}: PUs {bound}", flush=True)
