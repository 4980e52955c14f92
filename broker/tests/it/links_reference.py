"""What networkx says of the graph of links that topobroker exports.

links_reference.py GRAPH.json [relay]: prints a line for each pair of vertices between which there is a
path: source, target, the greatest bandwidth ("inf" if it is unknown), the fewest links of a path that
wide, the fewest links of any, the least latency, if all of it is known ("-" if not), and whether the
path has links of unknown bandwidth.

The rules of transit are those of the project's documentation, written down here once more. networkx
knows no such rules, so it gets an expanded graph: a vertex for each class of links by which a path may
come, and for whether a GPU has relayed before.
"""

import json
import sys

import networkx as nx

try:
    graph = nx.node_link_graph(json.load(open(sys.argv[1])), edges="edges")
except TypeError:  # before networkx 3.4
    graph = nx.node_link_graph(json.load(open(sys.argv[1])), link="edges")
may_relay = len(sys.argv) > 2

UNKNOWN = float("inf")
GPU_LINKS = {"PCI", "NVL", "XGMI", "XE", "C2C", "LOC"}


def passes(kind, one, other):
    """Whether a path may go on by `other` that came by `one`; "relay" if only by relaying."""
    both = {one, other}
    if kind in ("cpu", "mesh"):
        return "FAB" not in both
    if kind in ("hostbridge", "pciswitch"):
        return both == {"PCI"} or both == {"PCI", "CPU"}
    if kind == "gpu":
        if "MEM" in both and len(both) == 2 and both - {"MEM"} <= GPU_LINKS:
            return True
        return "relay" if one == other and one in ("NVL", "XGMI", "XE") else False
    if kind == "nic":
        return both == {"PCI", "FAB"}
    if kind == "nvswitch":
        return both == {"NVL"}
    if kind == "netswitch":
        return both == {"FAB"}
    return False


expanded = nx.MultiDiGraph()
classes = {data["class"] for *_, data in graph.edges(data=True)}
for vertex, data in graph.nodes(data=True):
    for relayed in (False, True):
        for came in classes | {None}:
            for _, target, edge in graph.out_edges(vertex, data=True):
                may = True if came is None else passes(data["kind"], came, edge["class"])
                if may == "relay":
                    may = may_relay and not relayed
                    after = True
                else:
                    after = relayed
                if may:
                    state = (target, edge["class"], after)
                    expanded.add_edge((vertex, came, relayed), state, **edge)

def reach(least, unknown):
    """The expanded graph of the links that are wide enough, and of unknown ones if they are taken."""
    wide = nx.DiGraph()
    wide.add_nodes_from(expanded)
    for a, b, edge in expanded.edges(data=True):
        if unknown if edge["bandwidth"] is None else edge["bandwidth"] >= least:
            wide.add_edge(a, b)
    return wide


known = {edge["bandwidth"] for *_, edge in graph.edges(data=True)} - {None}
widths = sorted(known | {UNKNOWN}, reverse=True)
# A path with unknown links is only taken if there is no other.
steps = [(least, unknown) for unknown in (False, True) for least in widths]
wide_enough = {step: reach(*step) for step in steps}
everything = reach(0, True)
timed = nx.DiGraph()
for a, b, edge in expanded.edges(data=True):
    if edge["latency"] is not None:
        known = timed.get_edge_data(a, b, {"latency": edge["latency"]})["latency"]
        timed.add_edge(a, b, latency=min(known, edge["latency"]))


def best(lengths):
    """By vertex: the least length to any of its states."""
    found = {}
    for (vertex, came, _), length in lengths.items():
        if came is not None:
            found[vertex] = min(length, found.get(vertex, length))
    return found


for source in graph:
    start = (source, None, False)
    if start not in expanded:
        continue
    widest = {}
    for step in steps:
        lengths = nx.single_source_shortest_path_length(wide_enough[step], start)
        for target, hops in best(lengths).items():
            widest.setdefault(target, (*step, hops))
    fewest = best(nx.single_source_shortest_path_length(everything, start))
    quickest = {}
    if start in timed:
        lengths = nx.single_source_dijkstra_path_length(timed, start, weight="latency")
        quickest = best(lengths)
    for target, (least, unknown, hops) in widest.items():
        if target != source:
            print(source, target, least, hops, fewest[target], quickest.get(target, "-"), unknown)
