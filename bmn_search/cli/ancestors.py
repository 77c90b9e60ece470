"""`bmn ancestors`."""

from typing import Any

import click
import numpy as np

from bmn_search import ancestry, engine, report
from bmn_search.ancestry import Ancestry
from bmn_search.batch import Batch
from bmn_search.cli.options import (
    DealCommand,
    DealSource,
    chosen_rules,
    deal_options,
    json_option,
    print_json,
    rules_options,
)
from bmn_search.cli.progress import Progress
from bmn_search.compiled import STATUS
from bmn_search.deal import Deal
from bmn_search.rules import Rules


@click.command(cls=DealCommand)
@deal_options
@rules_options
@click.option("--longest", is_flag=True, help="Only the one with the longest way to DEAL.")
@click.option("--depth", type=click.IntRange(0), help="Go back so many tricks.  [default: all]")
@click.option(
    "--limit",
    type=click.IntRange(1, 2**32 - 2),
    help="Most positions to look at.  [default: 1,000,000, or 1 GiB]",
)
@json_option
def ancestors(
    rules_name: str,
    penalties: str | None,
    longest: bool,
    depth: int | None,
    limit: int | None,
    as_json: bool,
    **source: Any,
) -> None:
    """List the balanced deals from which play leads to a deal, the longest way first.

    Each is a real deal, player 1 leading, whose game is that much longer: a find gets longer for
    nothing. The players may be exchanged on the way. All positions that lead to DEAL are looked
    at, balanced or not; DEAL itself may be any position.

    \b
    Examples:
      bmn ancestors -Q-----K-J-----A--Q-A--AK-/--K-------J---Q----A-JKJ-Q
      bmn ancestors --longest --json - < finds.txt
    """
    rules = chosen_rules(rules_name, penalties)
    deals = DealSource(rules=rules, **source)

    def show(deal: Deal) -> None:
        with Progress() as progress:
            around = ancestry.ancestors(
                deal,
                depth,
                limit,
                rules,
                progress=lambda count: progress.tell(f"{count:,} positions"),
            )
        rows = around.longest_first()[: 1 if longest else None]
        documents = _documents(deal, around, rows, rules)
        for document in documents:
            if as_json:
                print_json(document)
            else:
                click.echo(
                    f"{document['deal']}  +{report.counted(document['more_cards'], 'card')}, "
                    f"+{report.counted(document['more_tricks'], 'trick')}: {_total(document)}"
                )
        if as_json:
            if around.ended != "complete":
                click.echo(f"bmn: {deal}: not all ancestors{report.ENDED[around.ended]}", err=True)
            return
        found = int((around.balanced & (around.distance > 0)).sum())
        click.echo(
            f"{deal}: {report.counted(found, 'balanced deal')} among "
            f"{report.counted(len(around) - 1, 'ancestor')}{report.ENDED[around.ended]}"
        )

    deals.each(show)


def _documents(deal: Deal, around: Ancestry, rows: Any, rules: Rules) -> list[dict[str, Any]]:
    """Play the ancestors in some rows, and return what is to be told of each."""
    sizes = np.stack([around.sizes[rows], around.codes.shape[1] - around.sizes[rows]], axis=1)
    batch = Batch(around.codes[rows], sizes.astype(np.uint32), np.ones(len(rows), np.uint8))
    outcomes = engine.play_many(batch, rules)
    return [
        {
            "deal": str(batch[at]),
            "of": str(deal),
            "more_cards": int(around.cards[row]),
            "more_tricks": int(around.distance[row]),
            "status": STATUS[outcomes["status"][at]],
            "cards": int(outcomes["cards"][at]),
            "tricks": int(outcomes["tricks"][at]),
            "ended": around.ended,
        }
        for at, row in enumerate(rows)
    ]


def _total(document: dict[str, Any]) -> str:
    if document["status"] != "finished":
        return "never ends" if document["status"] == "loop" else "unknown"
    cards, tricks = document["cards"], document["tricks"]
    return f"{report.counted(cards, 'card')}, {report.counted(tricks, 'trick')}"
