"""Communicators of a job: which rank is on which NUMA node is known to all, without a message.

topobroker job add train -n 4 --map-by core; then each rank with TOPOBROKER_JOB
"""

import topobroker

job = topobroker.job()
if job is None:
    raise SystemExit("TOPOBROKER_JOB names no job: topobroker job exec sets it")
colours = job.instances("hwloc://NUMANode")
for rank, colour in zip(job.ranks, colours):
    print(f"rank {rank.rank}: PUs {rank.cpuset}, NUMA node {colour}, with {job.sharing(rank.rank, 'numa')}")
