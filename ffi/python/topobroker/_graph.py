"""Graphs for networkx."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topobroker import Links


def of_links(links: Links) -> Any:
    """The graph of links as a networkx MultiGraph."""
    import importlib

    # Loaded by its name, because it has no types.
    graph: Any = importlib.import_module("networkx").MultiGraph()
    for vertex in links.vertices:
        graph.add_node(
            vertex.number, kind=vertex.kind, name=vertex.name, object=vertex.object
        )
    for link in links.links:
        graph.add_edge(
            link.one,
            link.other,
            kind=link.kind,
            origin=link.origin,
            links=link.links,
            one=link.one,
            forward=link.forward,
            backward=link.backward,
            latency=link.latency,
        )
    return graph
