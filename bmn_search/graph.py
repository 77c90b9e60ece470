"""Graphs of cycles and of what leads into them, for networkx and for other programs.

A node is a position relative to the leader, an edge the trick that leads from one to the next, so
every node has one edge out. Positions are equal up to exchange of the players, and cards that cost
the same are alike, as in `bmn_search.cycle`. In every position player 1 leads.

Nodes are named by their position, as in ``J--/-J-``, and carry:

=============  =====  =====================================================
`position`     str    the name again, for programs that number the nodes
`leader_size`  int    cards in the packet of the player who leads
`other_size`   int    cards in the other packet
`distance`     int    tricks to the cycle, 0 on it
`balanced`     bool   whether it could be dealt, as in `Ancestry.balanced`
`cycle`        str    the canonical position of the cycle it leads into
=============  =====  =====================================================

Edges carry:

=============  =====  ============================================================
`cards`        int    cards laid in the trick
`winner`       int    who takes the pile: 1, who led the trick; 2, the other player
`exchanged`    bool   whether the other player leads the next trick
=============  =====  ============================================================

The graph itself carries `rules`, their name, and `complete`, whether every position that leads into
its cycles is there.
"""

import contextlib
import io
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from bmn_search.ancestry import Ancestry, basin
from bmn_search.cycle import Cycle
from bmn_search.errors import BmnError
from bmn_search.files import check_output
from bmn_search.notation import SYMBOLS

if TYPE_CHECKING:
    Graph: TypeAlias = nx.DiGraph[str]
else:
    Graph: TypeAlias = nx.DiGraph

__all__ = ["basin_graph", "check", "cycle_graph", "cycles_graph", "read_graph", "write_graph"]

OF_NODE = {
    "position": str,
    "leader_size": int,
    "other_size": int,
    "distance": int,
    "balanced": bool,
    "cycle": str,
}
OF_EDGE = {"cards": int, "winner": int, "exchanged": bool}
OF_GRAPH = {"rules": str, "complete": bool}


def cycle_graph(cycle: Cycle) -> Graph:
    """Return the graph of a cycle alone: a ring of the positions of one turn.

    Examples
    --------
    >>> from bmn_search import find_cycle
    >>> ring = cycle_graph(find_cycle("J--/-J-"))
    >>> ring.edges["--J-/J-", "--J-/J-"]
    {'cards': 3, 'winner': 2, 'exchanged': True}
    """
    return basin_graph(cycle, basin(cycle, 0, len(cycle.sizes)))


def basin_graph(cycle: Cycle, ancestry: Ancestry) -> Graph:
    """Return the graph of a cycle and of the positions that lead into it.

    Parameters
    ----------
    ancestry
        Its `basin`, whole or up to a depth or a limit.

    Raises
    ------
    BmnError
        When the ancestry is not that of the cycle.
    """
    roots = ancestry.roots
    if not all(
        np.array_equal(getattr(ancestry, name)[:roots], getattr(cycle, name))
        for name in ("codes", "sizes", "laid")
    ):
        raise BmnError("the ancestry is not that of the cycle: expected basin(cycle)")
    graph: Graph = nx.DiGraph(rules=str(cycle.rules), complete=ancestry.ended == "complete")
    names = _texts(ancestry.codes, ancestry.sizes)
    sizes = ancestry.sizes.tolist()
    every = ancestry.codes.shape[1]
    other = [every - size for size in sizes]
    canonical = [names[0]] * len(names)
    balanced = ancestry.balanced.tolist()
    nodes = zip(names, sizes, other, ancestry.distance.tolist(), balanced, canonical, strict=True)
    graph.add_nodes_from((node[0], dict(zip(OF_NODE, node, strict=True))) for node in nodes)
    # Who paid in full did not take the pile; either the one or the other leads next.
    winner = 1 + (ancestry.exchanged ^ (cycle.rules.next_leader == "payer"))
    tricks = zip(ancestry.laid.tolist(), winner.tolist(), ancestry.exchanged.tolist(), strict=True)
    graph.add_edges_from(
        (name, names[row], dict(zip(OF_EDGE, trick, strict=True)))
        for name, row, trick in zip(names, ancestry.following.tolist(), tricks, strict=True)
    )
    return graph


def cycles_graph(cycles: Iterable[Cycle | tuple[Cycle, Ancestry]]) -> Graph:
    """Return one graph of several cycles, each alone or with its basin.

    Raises
    ------
    BmnError
        When there are none, or their rules differ: a position would lead to several.
    """
    pairs = [(entry, None) if isinstance(entry, Cycle) else entry for entry in cycles]
    if not pairs:
        raise BmnError("there is nothing to make a graph of: expected at least one cycle")
    if len({(cycle.rules.penalties, cycle.rules.next_leader) for cycle, _ in pairs}) > 1:
        names = ", ".join(sorted({str(cycle.rules) for cycle, _ in pairs}))
        raise BmnError(f"cycles under several rules ({names}): expected one graph for each")
    graphs = [
        cycle_graph(cycle) if ancestry is None else basin_graph(cycle, ancestry)
        for cycle, ancestry in pairs
    ]
    whole = nx.compose_all(graphs)
    whole.graph["complete"] = all(graph.graph["complete"] for graph in graphs)
    return whole


def check(path: str | Path) -> None:
    """Refuse, before any work is done, a file to which no graph could be written.

    Raises
    ------
    BmnError
        When the ending of its name is unknown, or it cannot be written.
    """
    check_output(path, _WRITE)


def write_graph(graph: Graph, path: str | Path) -> None:
    """Write a graph; the ending says how: .graphml, .dot or .gv (Graphviz), .json (node-link).

    Notes
    -----
    10,000 positions of 52 cards take about a second as .graphml or .dot, a tenth of it as .json.

    Raises
    ------
    BmnError
        As `check`, or when writing fails.
    """
    check(path)
    try:
        _WRITE[Path(path).suffix.lower()](graph, Path(path))
    except OSError as error:
        raise BmnError(f"{path}: cannot be written: {error.strerror}") from None


def read_graph(path: str | Path) -> Graph:
    """Read a graph that `write_graph` wrote: equal to it in nodes, edges and all they carry.

    Notes
    -----
    A .dot file is read at once if it is as `write_graph` left it. If another program rewrote
    it, pydot reads it, at some 150 statements a second.

    Raises
    ------
    BmnError
        When the file cannot be read, its ending is unknown, or it holds no such graph.
    """
    path = Path(path)
    read = _READ.get(path.suffix.lower())
    if read is None:
        raise BmnError(f"{path}: expected a file name that ends in {', '.join(_READ)}")
    try:
        graph: Graph = read(path)
        _require(graph)
    except OSError as error:
        raise BmnError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, SyntaxError, nx.NetworkXException):
        raise BmnError(f"{path}: holds no graph of positions as write_graph writes it") from None
    return graph


def _require(graph: Any) -> None:
    """Refuse, with a ValueError, a graph that was read but is of another kind."""
    parts = [(OF_GRAPH, graph.graph)]
    parts += [(OF_NODE, data) for _, data in graph.nodes(data=True)]
    parts += [(OF_EDGE, data) for _, _, data in graph.edges(data=True)]
    if type(graph) is not nx.DiGraph or not all(
        type(data[field]) is kind for fields, data in parts for field, kind in fields.items()
    ):
        raise ValueError


def _texts(codes: NDArray[np.uint8], sizes: NDArray[np.uint32]) -> list[str]:
    """Write positions as text, all at once."""
    cards = codes.shape[1]
    text = np.frombuffer(SYMBOLS.encode(), np.uint8)[codes].tobytes().decode()
    starts = range(0, len(text), cards)
    return [
        f"{text[start : start + size]}/{text[start + size : start + cards]}"
        for start, size in zip(starts, sizes.tolist(), strict=True)
    ]


def _write_json(graph: Graph, path: Path) -> None:
    path.write_text(json.dumps(nx.node_link_data(graph, edges="edges")), encoding="utf-8")


def _read_json(path: Path) -> Any:
    return nx.node_link_graph(json.loads(path.read_text(encoding="utf-8")), edges="edges")


def _read_graphml(path: Path) -> Any:
    graph = nx.read_graphml(path)
    for defaults in ("node_default", "edge_default"):
        graph.graph.pop(defaults, None)
    return graph


def _write_dot(graph: Graph, path: Path) -> None:
    dotted = nx.DiGraph(graph)
    dotted.graph = {"graph": graph.graph}  # where networkx looks for what a graph carries
    path.write_text(nx.nx_pydot.to_pydot(dotted).to_string(), encoding="utf-8")


def _read_dot(path: Path) -> Graph:
    text = path.read_text(encoding="utf-8")
    read = _as_written(text) or _with_pydot(text)
    graph: Graph = nx.DiGraph(**_typed(read.graph["graph"], OF_GRAPH))
    graph.add_nodes_from((node, _typed(data, OF_NODE)) for node, data in read.nodes(data=True))
    graph.add_edges_from(
        (source, target, _typed(data, OF_EDGE)) for source, target, data in read.edges(data=True)
    )
    return graph


_STATEMENT = re.compile(r'"([^"]+)"(?: -> "([^"]+)")? \[([^\]]*)\];|(\w+=(?:\w+|"[^"\\]*"));')
_ATTRIBUTE = re.compile(r'(\w+)=("[^"]*"|\w+)')


def _as_written(text: str) -> Graph | None:
    """Read what `_write_dot` wrote, a statement a line; None if the text is otherwise.

    pydot reads any text, but takes 6 ms for a statement, and there are two for each position.
    """
    first, *lines = text.splitlines() or [""]
    statements = [_STATEMENT.fullmatch(line) for line in lines[:-1]]
    if not first.endswith("digraph {") or lines[-1:] != ["}"] or not all(statements):
        return None
    graph: Graph = nx.DiGraph(graph={})
    for statement in filter(None, statements):
        source, target, attributes, carried = statement.groups()
        data = dict(_ATTRIBUTE.findall(attributes or carried))
        if target:
            graph.add_edge(source, target, **data)
        elif source:
            graph.add_node(source, **data)
        else:
            graph.graph["graph"] |= data
    return graph


def _with_pydot(text: str) -> Graph:
    import pydot

    with contextlib.redirect_stdout(io.StringIO()):  # where it would print what it stumbled over
        dotted = pydot.graph_from_dot_data(text)
    if not dotted:
        raise ValueError
    graph: Graph = nx.DiGraph(nx.nx_pydot.from_pydot(dotted[0]))
    return graph


def _typed(data: dict[str, str], fields: dict[str, type]) -> dict[str, Any]:
    """Give texts of a .dot file their types back; what another program added is left out."""
    values: dict[str, Any] = {}
    for field, kind in fields.items():
        text = data[field]
        if text.startswith('"'):
            text = text[1:-1].replace('\\"', '"')
        values[field] = text.lower() == "true" if kind is bool else kind(text)
    return values


_WRITE: dict[str, Callable[[Graph, Path], None]] = {
    ".graphml": nx.write_graphml,
    ".dot": _write_dot,
    ".gv": _write_dot,
    ".json": _write_json,
}
_READ: dict[str, Callable[[Path], Any]] = {
    ".graphml": _read_graphml,
    ".dot": _read_dot,
    ".gv": _read_dot,
    ".json": _read_json,
}
