"""A notebook in cells: a topology is its picture."""

# %%
import topobroker

t = topobroker.load()
t

# %% The cores of each NUMA node, with their memory.
for node in t.numa_nodes:
    print(node, len(t.inside(node.cpuset or [], "core")), "cores", node.total_memory >> 30, "GiB")

# %% Where this process may run.
mine = topobroker.mine()
mine.to_svg(highlighted=topobroker.bound_cpus())

# %% What connects devices.
links = t.links()
[(links.vertices[link.one].name, links.vertices[link.other].name, link.forward) for link in links.links]

# %% How four workers would be bound here.
for rank in range(4):
    print(topobroker.bind_this_rank(rank, 4, dry_run=True, quiet=True))
