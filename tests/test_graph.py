"""Graphs against networkx's own view of small worlds, and against the files they are written to."""

import re
from functools import cache
from itertools import permutations
from pathlib import Path

import networkx as nx
import pytest

from bmn_search import reference
from bmn_search.ancestry import basin
from bmn_search.cycle import alike, find_cycle, step
from bmn_search.deal import Deal, Deck
from bmn_search.errors import BmnError
from bmn_search.graph import basin_graph, check, cycle_graph, cycles_graph, read_graph, write_graph
from bmn_search.notation import CODES, SYMBOLS
from bmn_search.rules import STANDARD, Rules

PUBLISHED = "---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA"
ENDINGS = (".graphml", ".dot", ".gv", ".json")
PAYER = Rules("payer leads", next_leader="payer")
DEAR = Rules("dear", penalties=(2, 5, 0, 1))
RULES = (STANDARD, PAYER, DEAR, Rules("equal", penalties=(1, 1, 2, 2)))
DECKS = ("4-,2J", "7-,2J", "6-,1J,1Q", "4-,2Q,1J", "6-,2K", "5-,2J,1A")


def relative(deal: Deal) -> str:
    """A position up to exchange; the end of a game has no leader: its one packet comes first."""
    leader = deal.leader if all(deal.packets) else 1 + (not deal.packets[0])
    return "/".join(deal.packets if leader == 1 else deal.packets[::-1])


@cache
def complete_map(spec: str, rules: Rules) -> nx.DiGraph:
    """Every position of a deck, any split, and where one trick leads from it."""
    deck = "".join(symbol * count for symbol, count in Deck.parse(spec).counts)
    deck = "".join(SYMBOLS[alike(rules)[CODES[card]]] for card in deck)
    return nx.DiGraph(
        (relative(deal), relative(step(deal, rules)))
        for order in set(permutations(deck))
        for first in range(1, len(deck))
        for deal in [Deal(("".join(order[:first]), "".join(order[first:])))]
    )


def least(positions) -> str:
    """The canonical one of some positions."""

    def key(position: str):
        leading, other = position.split("/")
        return len(leading), [SYMBOLS.index(card) for card in leading + other]

    return min(positions, key=key)


def same(one: nx.DiGraph, other: nx.DiGraph) -> bool:
    """Whether two graphs are equal in nodes, edges and all they carry, types too."""

    def told(graph):
        parts = [((), graph.graph), *graph.nodes(data=True)]
        parts += [((source, target), data) for source, target, data in graph.edges(data=True)]
        return {
            key: {field: (type(value), value) for field, value in data.items()}
            for key, data in parts
        }

    return type(one) is type(other) is nx.DiGraph and told(one) == told(other)


def a_cycle(deal: str = "J--/-J-", rules: Rules = STANDARD):
    cycle = find_cycle(deal, rules)
    assert cycle is not None
    return cycle, basin(cycle)


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("spec", DECKS)
def test_a_component_has_one_cycle_or_ends(spec, rules):
    world = complete_map(spec, rules)
    for nodes in nx.weakly_connected_components(world):
        component = world.subgraph(nodes)
        ends = [node for node in component if not component.out_degree(node)]
        assert all(end.endswith("/") for end in ends)
        assert len(ends) + len(list(nx.simple_cycles(component))) == 1


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("spec", DECKS)
def test_find_cycle_finds_all_cycles(spec, rules):
    world = complete_map(spec, rules)
    rings = {least(ring): len(ring) for ring in nx.simple_cycles(world)}
    found = {}
    for node in world:
        if not node.endswith("/") and (cycle := find_cycle(node, rules)):
            found[str(cycle.canonical)] = cycle.turn.tricks
            assert nx.has_path(world, node, str(cycle.canonical))
    assert found == rings


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("spec", DECKS)
def test_a_basin_is_a_component(spec, rules):
    world = complete_map(spec, rules)
    for nodes in nx.weakly_connected_components(world):
        component = world.subgraph(nodes)
        for ring in nx.simple_cycles(component):
            graph = basin_graph(*a_cycle(ring[0], rules))
            assert set(graph.nodes) == nodes
            assert set(graph.edges) == set(component.edges)
            to_ring = nx.multi_source_dijkstra_path_length(component.reverse(), set(ring))
            assert dict(graph.nodes(data="distance")) == to_ring
            assert {name for _, name in graph.nodes(data="cycle")} == {least(ring)}


def test_nodes_and_edges_carry_what_happens_at_the_table():
    seen = set()
    for rules in RULES:
        for ring in nx.simple_cycles(nx.compose_all(complete_map(spec, rules) for spec in DECKS)):
            graph = basin_graph(*a_cycle(ring[0], rules))
            for node, data in graph.nodes(data=True):
                leading, other = node.split("/")
                assert data["position"] == node
                assert (data["leader_size"], data["other_size"]) == (len(leading), len(other))
                assert data["balanced"] == (0 <= len(leading) - len(other) <= 1)
                events = []
                game = reference.Game(Deal((leading, other)), rules, events.append)
                game.play_trick()
                ((_, target, edge),) = graph.out_edges(node, data=True)
                assert events[-1].action == "takes"
                assert target == relative(game.deal())
                assert edge == {
                    "cards": game.cards,
                    "winner": events[-1].player,
                    "exchanged": game.deal().leader == 2,
                }
                seen.add((rules.name, edge["winner"], edge["exchanged"]))
    assert {("standard", 1, False), ("standard", 2, True)} <= seen
    assert {("payer leads", 1, True), ("payer leads", 2, False)} <= seen


def test_the_published_basin():
    cycle, around = a_cycle(PUBLISHED)
    graph = basin_graph(cycle, around)
    assert len(graph) == graph.size() == 2_670
    assert sum(balanced for _, balanced in graph.nodes(data="balanced")) == 30
    assert graph.graph == {"rules": "standard", "complete": True}
    ring = cycle_graph(cycle)
    assert ring.graph["complete"] is False
    assert dict(ring.nodes(data=True)) == {node: graph.nodes[node] for node in ring}
    assert len(ring) == 62
    assert nx.is_strongly_connected(ring)
    nearest = basin_graph(cycle, basin(cycle, limit=500))
    assert len(nearest) == 500
    assert nearest.graph["complete"] is False


def test_several_cycles():
    small, large = a_cycle(), a_cycle("----J--Q--/--K-K-Q-J-")
    graph = cycles_graph([small, large[0]])
    assert nx.number_weakly_connected_components(graph) == 2
    assert len(graph) == 3 + 5
    assert graph.graph == {"rules": "standard", "complete": False}
    assert same(cycles_graph([small, large]), cycles_graph([small, large, small]))
    assert set(nx.get_node_attributes(graph, "cycle").values()) == {
        "--J-/J-",
        str(large[0].canonical),
    }


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    "rules", [STANDARD, Rules('a "b"; c=1, d:é ]'), STANDARD.with_penalties("A=0")], ids=str
)
def test_files_are_read_back_equal(tmp_path, ending, rules):
    graph = cycles_graph([a_cycle(rules=rules), a_cycle("----J--Q--/--K-K-Q-J-", rules)[0]])
    path = tmp_path / f"graph{ending}"
    write_graph(graph, path)
    assert same(read_graph(str(path)), graph)


@pytest.mark.parametrize("deal", [PUBLISHED, "J--/-J-"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_basins_are_read_back_equal_at_once(tmp_path, monkeypatch, ending, deal):
    monkeypatch.setattr("bmn_search.graph._with_pydot", None)  # which would be slow
    graph = basin_graph(*a_cycle(deal))
    path = tmp_path / f"graph{ending.upper()}"
    write_graph(graph, path)
    assert same(read_graph(path), graph)


def test_dot_that_another_program_rewrote_is_read(tmp_path):
    graph = basin_graph(*a_cycle())
    path = tmp_path / "graph.dot"
    write_graph(graph, path)
    lines = path.read_text().splitlines()
    # As Graphviz does: another order, indented, with defaults and coordinates of its own.
    nodes = [line.replace(" [", ' [pos="1,2",\n\t\t') for line in lines[1:-1]]
    path.write_text("\n\t".join([lines[0], "node [label=x];", *nodes[::-1], "}"]))
    assert same(read_graph(path), graph)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "{"),
        ("a.json", "[]"),
        ("a.json", '{"nodes": [{"id": 1}], "edges": []}'),
        ("a.json", b"\xff\xfe\xff"),
        ("a.graphml", "<graphml>"),
        ("a.graphml", "no xml"),
        ("a.dot", "graph {"),
        ("a.dot", "digraph { a -> b }"),
        ("a.dot", ""),
    ],
)
def test_a_file_that_is_no_graph_is_refused(tmp_path, capsys, name, text):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BmnError, match=re.escape(f"{path}: holds no graph of positions")):
        read_graph(path)
    assert capsys.readouterr() == ("", "")


def test_a_graph_of_another_kind_is_refused(tmp_path):
    graph = basin_graph(*a_cycle())
    path = tmp_path / "graph.json"
    for change in (
        lambda: graph.nodes["--J-/J-"].update(distance="0"),
        lambda: graph.nodes["--J-/J-"].update(distance=0) or graph.graph.pop("rules"),
    ):
        change()
        write_graph(graph, path)
        with pytest.raises(BmnError, match="holds no graph of positions"):
            read_graph(path)
    graph.graph["rules"] = "standard"
    for other in (graph.to_undirected(), nx.MultiDiGraph(graph)):
        write_graph(other, path)
        with pytest.raises(BmnError, match="holds no graph of positions"):
            read_graph(path)


def test_files_that_cannot_be(tmp_path):
    graph = basin_graph(*a_cycle())
    (tmp_path / "folder.json").mkdir()
    for path, words in (
        (tmp_path / "graph.svg", "ends in .graphml, .dot, .gv, .json"),
        (tmp_path / "folder.json", "it is a folder"),
        (tmp_path / "none" / "graph.json", "there is no folder"),
    ):
        for refuse in (check, lambda path: write_graph(graph, path)):
            with pytest.raises(BmnError, match=re.escape(str(path)) + ".*" + words) as raised:
                refuse(path)
            assert "\n" not in str(raised.value)
    with pytest.raises(BmnError, match="expected a file name that ends in"):
        read_graph(tmp_path / "graph.svg")
    with pytest.raises(BmnError, match="none.json: cannot be read: No such file"):
        read_graph(tmp_path / "none.json")
    if Path("/dev/full").exists():
        (tmp_path / "full.json").symlink_to("/dev/full")
        with pytest.raises(BmnError, match="full.json: cannot be written: No space"):
            write_graph(graph, tmp_path / "full.json")


def test_what_does_not_go_together():
    cycle, around = a_cycle()
    other, _ = a_cycle("----J--Q--/--K-K-Q-J-")
    with pytest.raises(BmnError, match=r"expected basin\(cycle\)"):
        basin_graph(other, around)
    with pytest.raises(BmnError, match="at least one cycle"):
        cycles_graph([])
    with pytest.raises(BmnError, match="under several rules"):
        cycles_graph([cycle, a_cycle(rules=STANDARD.with_penalties("A=0"))[0]])
