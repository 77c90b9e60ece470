"""`bmn cycle`."""

from importlib import import_module
from typing import Any

import click
from click.core import ParameterSource

from bmn_search import engine, ranks, report
from bmn_search.ancestry import Ancestry, basin
from bmn_search.cli.options import (
    DealCommand,
    DealSource,
    chosen_rules,
    json_option,
    optional_deal_options,
    print_json,
    rules_options,
)
from bmn_search.cli.progress import Progress
from bmn_search.cli.world import tell_world
from bmn_search.cycle import Cycle, find_cycle
from bmn_search.deal import Deal
from bmn_search.errors import DealError
from bmn_search.notation import SYMBOLS
from bmn_search.rules import Rules

WITH_ALL = ("whole", "texts", "deck", "rules_name", "penalties", "as_json")


@click.command(cls=DealCommand)
@optional_deal_options
@rules_options
@click.option(
    "--all", "whole", is_flag=True, help="Every cycle of --deck, which has to be a small one."
)
@click.option("--basin", "show_basin", is_flag=True, help="List all positions that lead here.")
@click.option("--variants", is_flag=True, help="List the cycles that differ in unfelt ranks only.")
@click.option(
    "--graph",
    "graph_file",
    type=click.Path(dir_okay=False),
    help="Write cycle and basin as a graph: a .graphml, .dot, .gv or .json file.",
)
@click.option("--depth", type=click.IntRange(0), help="Go back so many tricks.  [default: all]")
@click.option(
    "--limit",
    type=click.IntRange(1, 2**32 - 2),
    help="Most positions of a basin.  [default: 1,000,000, or 1 GiB]",
)
@json_option
def cycle(
    rules_name: str,
    penalties: str | None,
    whole: bool,
    show_basin: bool,
    variants: bool,
    graph_file: str | None,
    depth: int | None,
    limit: int | None,
    as_json: bool,
    **source: Any,
) -> None:
    """Study the cycle of a deal that never ends, and all deals that lead into it.

    Positions are counted up to exchange of the players, that is, relative to the one who leads.
    The canonical position is the same for every deal that leads into the cycle. Unfelt ranks are
    ranks that could be others without changing the course of play: docs/cycles.md tells how each
    figure is meant. A deal whose game ends has no cycle: exit code 1.

    \b
    Examples:
      bmn cycle ---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA
      bmn cycle --basin ----J--Q--/--K-K-Q-J- --json
      bmn cycle --any-deck --graph tiny.graphml J--/-J-
      bmn cycle --any-deck --variants J--/-J-
      bmn cycle --all --deck 12-,2J,2Q,2K
    """
    rules = chosen_rules(rules_name, penalties)
    if whole:
        _refuse_options_of_a_deal()
        if source["texts"] or source["deck"] is None:
            raise DealError("--all: expected --deck DECK and no deal")
        tell_world(source["deck"], rules, as_json)
        return
    if not source["texts"]:
        raise DealError("DEAL is missing: expected a deal that never ends, or --all --deck DECK")
    deals = DealSource(rules=rules, **source)
    if graph_file is not None:
        if not deals.single:
            raise DealError("--graph: expected one deal, given as an argument")
        _graphs().check(graph_file)
    ended = 0

    def show(deal: Deal) -> None:
        nonlocal ended
        found = find_cycle(deal, rules)
        if found is None:
            ended += 1
            _tell_end(deal, rules, as_json)
            return
        with Progress() as progress:
            around = basin(
                found, depth, limit, progress=lambda count: progress.tell(f"{count:,} positions")
            )
        if graph_file is not None:
            _graphs().write_graph(_graphs().basin_graph(found, around), graph_file)
        if as_json:
            print_json(_document(deal, found, around, show_basin, variants))
            return
        for line in report.cycle_lines(deal, found, around):
            click.echo(line)
        if variants:
            for variant in ranks.variants(found):
                click.echo(f"variant           {variant.canonical}")
        if show_basin:
            for line in report.basin_lines(around):
                click.echo(line)

    deals.each(show)
    if ended:
        click.get_current_context().exit(1)


def _refuse_options_of_a_deal() -> None:
    """Refuse, beside --all, what would be left out."""
    context = click.get_current_context()
    for param in context.command.params:
        given = context.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
        if given and param.name not in WITH_ALL:
            raise DealError(f"--all: leave out {param.opts[0]}, which is of a deal")


def _graphs() -> Any:
    """Import networkx when it is called for: it takes longer than all the rest."""
    return import_module("bmn_search.graph")


def _tell_end(deal: Deal, rules: Rules, as_json: bool) -> None:
    """Say of a deal whose game ends that there is no cycle."""
    outcome = engine.play(deal, rules, max_tricks=None)
    if as_json:
        print_json(
            {
                "deal": str(deal),
                "rules": rules.name,
                "status": outcome.status,
                "cycle_cards": None,
                "cycle_tricks": None,
                "mirror": None,
                "canonical": None,
                "basin_size": None,
                "basin_depth": None,
                "balanced_deals": None,
            }
        )
    else:
        click.echo(f"{deal}  no cycle: {report.outcome_summary(outcome)}")


def _document(
    deal: Deal, found: Cycle, around: Ancestry, show_basin: bool, variants: bool
) -> dict[str, Any]:
    """Return all that is known of a cycle, as a JSON document."""
    least, most = found.packet_sizes
    document: dict[str, Any] = {
        "deal": str(deal),
        "rules": found.rules.name,
        "status": "loop",
        "transient_cards": found.transient.cards,
        "transient_tricks": found.transient.tricks,
        "cycle_cards": found.period.cards,
        "cycle_tricks": found.period.tricks,
        "mirror": found.mirror,
        "canonical": str(found.canonical),
        "least_packet": least,
        "most_packet": most,
        "lead_moves": found.lead_moves,
        "longest_trick": found.longest_trick,
        "distinct": {
            "plain": found.distinct_period("plain")._asdict(),
            "all": found.distinct_period("all")._asdict(),
        },
        "orbits": [_orbit(orbit, found) for orbit in ranks.orbits(found)],
        "rank_choices": ranks.choices(found),
        "normal_form": str(ranks.normal_form(found).canonical),
        "basin_size": len(around),
        "basin_depth": around.depth + 1,
        "basin_ended": around.ended,
        "balanced_deals": int(around.balanced.sum()),
    }
    if variants:
        document["variants"] = [str(variant.canonical) for variant in ranks.variants(found)]
    if show_basin:
        document["balanced_deals"] = [str(deal) for deal in around.balanced_deals()]
        document["basin"] = [
            {
                "position": str(around.deal(row)),
                "tricks": int(around.distance[row]),
                "cards": int(around.cards[row]),
                "balanced": bool(around.balanced[row]),
            }
            for row in range(len(around))
        ]
    return document


def _orbit(orbit: ranks.Orbit, found: Cycle) -> dict[str, Any]:
    return {
        "places": [place + 1 for place in orbit.places],
        "card": SYMBOLS[orbit.code],
        "least_penalty": orbit.least,
        "exact": orbit.exact or not orbit.least,
        "ranks": "".join(SYMBOLS[code] for code in orbit.ranks(found.rules.penalty_table)),
    }
