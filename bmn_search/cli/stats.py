"""`bmn stats`."""

import csv
import math
import sys

import click

from bmn_search import stats as statistics
from bmn_search.cli.options import (
    chosen_rules,
    deck_option,
    json_option,
    print_json,
    rules_options,
)
from bmn_search.cli.progress import Progress
from bmn_search.deal import Deck


@click.command()
@click.option(
    "--games", type=click.IntRange(1), default=1_000_000, show_default=True, help="How many deals."
)
@deck_option
@rules_options
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Which deals.")
@click.option(
    "--first",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Number of the first deal.",
)
@click.option(
    "--threads", type=click.IntRange(1), help="How many play at once.  [default: all usable cores]"
)
@click.option("--csv", "as_csv", is_flag=True, help="Print the histogram: cards, games.")
@click.option(
    "--plot", type=click.Path(dir_okay=False), help="Draw the histogram: a .png, .svg or .pdf file."
)
@json_option
def stats(
    games: int,
    deck: str,
    rules_name: str,
    penalties: str | None,
    seed: int,
    first: int,
    threads: int | None,
    as_csv: bool,
    plot: str | None,
    as_json: bool,
) -> None:
    """Play sampled deals and tell how long games are.

    Ctrl-C ends it early and tells what was played by then. The e-folding length says how the tail
    falls: by a factor of 2.718 with so many cards more; it is fitted to the longest hundredth.

    \b
    Examples:
      bmn stats --games 10000000
      bmn stats --deck camicia40 --plot lengths.png
      bmn stats --csv > histogram.csv
    """
    if as_csv and as_json:
        raise click.UsageError("--csv and --json exclude each other: choose one")
    rules = chosen_rules(rules_name, penalties)
    chosen = Deck.parse(deck)
    if plot is not None:
        from bmn_search import plot as pictures

        pictures.check(plot)
    with Progress() as progress:

        def tell(done: statistics.Statistics) -> None:
            share, rate = done.games / games, done.games / done.seconds
            left = (games - done.games) / rate
            progress.tell(
                f"{done.games:,} deals ({share:.0%}), {rate:,.0f} a second, {left:,.0f} s left"
            )

        done = statistics.collect(
            chosen, rules, games=games, seed=seed, first=first, threads=threads, progress=tell
        )
    if as_json:
        print_json(done.as_dict())
    elif as_csv:
        rows = csv.writer(sys.stdout, lineterminator="\n")
        rows.writerow(["cards", "games"])
        rows.writerows((cards, count) for cards, count in enumerate(done.histogram) if count)
    else:
        click.echo("\n".join(_lines(done)))
    if plot is not None:
        pictures.save(pictures.length_histogram(done), plot)
        click.echo(f"drawn: {plot}", err=True)


def _lines(done: statistics.Statistics) -> list[str]:
    told = [
        f"{done.games:,} deals of {done.deck} ({done.rules} rules, seed {done.seed}, from number "
        f"{done.first:,}) in {done.seconds:.1f} s: {done.finished:,} finished, "
        f"{done.loops:,} never end, {done.unknown:,} unknown",
    ]
    if not done.finished:
        return told
    length, error, start = done.folding
    error_of_mean = "" if math.isnan(done.mean_error) else f" ± {done.mean_error:.2f}"
    deciles = ", ".join(f"{done.quantile(tenth / 10):,}" for tenth in range(1, 10))
    told += [
        f"mean           {done.mean:,.2f}{error_of_mean} cards, {done.mean_tricks:,.2f} tricks",
        f"median         {done.quantile(0.5):,} cards",
        f"deciles        {deciles} cards",
        f"first leader   wins {done.leader_share:.2%}",
    ]
    if not math.isnan(length):
        told.append(f"e-folding      {length:.1f} ± {error:.1f} cards, beyond {start:,} cards")
    for cards in done.tail_lengths():
        count = done.tail(cards)
        told.append(f"over {cards:>6,} cards  {count:>12,} games  {count / done.finished:.3g}")
    cards, number = done.longest
    told.append(f"longest        {cards:,} cards: deal number {number:,}")
    told.append(f"               {done.longest_deal}")
    return told
