"""bmn_search: exact, fast play of Beggar-My-Neighbour deals.

The public names, imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bmn_search.ancestry import Ancestry, ancestors, basin, predecessors
    from bmn_search.batch import Batch
    from bmn_search.cycle import Cycle, find_cycle, step
    from bmn_search.deal import Deal, Deck
    from bmn_search.engine import play, play_many, play_random, random_deals
    from bmn_search.errors import BmnError
    from bmn_search.graph import basin_graph, cycle_graph, cycles_graph, read_graph, write_graph
    from bmn_search.known import KnownDeal, Verification, known_deals, verify
    from bmn_search.outcome import Outcome
    from bmn_search.reference import trace
    from bmn_search.rules import Rules
    from bmn_search.worlds import World, world

__all__ = [
    "Ancestry",
    "Batch",
    "BmnError",
    "Cycle",
    "Deal",
    "Deck",
    "KnownDeal",
    "Outcome",
    "Rules",
    "Verification",
    "World",
    "ancestors",
    "basin",
    "basin_graph",
    "cycle_graph",
    "cycles_graph",
    "find_cycle",
    "known_deals",
    "play",
    "play_many",
    "play_random",
    "predecessors",
    "random_deals",
    "read_graph",
    "step",
    "trace",
    "verify",
    "world",
    "write_graph",
]

_HOME = {
    "Ancestry": "ancestry",
    "Batch": "batch",
    "BmnError": "errors",
    "Cycle": "cycle",
    "Deal": "deal",
    "Deck": "deal",
    "KnownDeal": "known",
    "Outcome": "outcome",
    "Rules": "rules",
    "Verification": "known",
    "World": "worlds",
    "ancestors": "ancestry",
    "basin": "ancestry",
    "basin_graph": "graph",
    "cycle_graph": "graph",
    "cycles_graph": "graph",
    "find_cycle": "cycle",
    "known_deals": "known",
    "play": "engine",
    "play_many": "engine",
    "play_random": "engine",
    "predecessors": "ancestry",
    "random_deals": "engine",
    "read_graph": "graph",
    "step": "cycle",
    "trace": "reference",
    "verify": "known",
    "world": "worlds",
    "write_graph": "graph",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
