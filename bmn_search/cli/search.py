"""`bmn search`: the strategies."""

import time

import click
from rich.console import Console

from bmn_search import report
from bmn_search.cli.options import chosen_rules, json_option, print_json, rules_options
from bmn_search.deal import Deck
from bmn_search.search.random_deals import Sample, sample


@click.group()
def search() -> None:
    """Look for long games and for games that never end.

    \b
    Example:
      bmn search random --seconds 20
    """


@search.command()
@click.option(
    "--deck", default="standard52", show_default=True, help="A name, or a SPEC as 14-,2J,2Q,2K."
)
@rules_options
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Which deals.")
@click.option("--games", type=click.IntRange(1), help="Stop after so many deals.")
@click.option("--seconds", type=click.FloatRange(0), help="Stop after so long.")
@click.option(
    "--keep", type=click.IntRange(1), default=5, show_default=True, help="How many to print."
)
@json_option
def random(
    deck: str,
    rules_name: str,
    penalties: str | None,
    seed: int,
    games: int | None,
    seconds: float | None,
    keep: int,
    as_json: bool,
) -> None:
    """Play uniform random deals, and print the longest games and every loop.

    Deal number n of a seed is always the same deal. Without --games or --seconds it plays on
    until Ctrl-C, which prints what was found.

    \b
    Examples:
      bmn search random --seconds 20
      bmn search random --deck camicia40 --games 1000000 --seed 7 --json
    """
    chosen = Deck.parse(deck)
    rules = chosen_rules(rules_name, penalties)
    tell = _Progress()
    done = sample(chosen, rules, seed=seed, games=games, seconds=seconds, keep=keep, progress=tell)
    tell.close()
    finds = [
        (kind, outcome)
        for kind, outcomes in (
            ("longest by cards", done.longest_cards),
            ("longest by tricks", done.longest_tricks),
            ("loop", done.loops),
        )
        for outcome in outcomes
    ]
    if as_json:
        for kind, outcome in finds:
            print_json({"kind": kind, **outcome.as_dict()})
        print_json(
            {
                "run": None,
                "strategy": "random",
                "deck": chosen.name,
                "rules": rules.name,
                "seed": seed,
                "games": done.games,
                "seconds": round(done.seconds, 3),
                "loops": len(done.loops),
            }
        )
        return
    last = None
    for kind, outcome in finds:
        if kind != last:
            click.echo(kind)
            last = kind
        click.echo(f"  {outcome.deal}  {report.outcome_summary(outcome)}")
    click.echo(
        f"{done.games:,} deals of {chosen} (seed {seed}) in {done.seconds:.1f} s, "
        f"{done.games / max(done.seconds, 1e-9):,.0f} a second; {len(done.loops)} never end"
    )


class _Progress:
    """What is told on stderr while a search runs: a live line on a terminal, else a line at times.

    Nothing in the first two seconds.
    """

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._status = self._console.status("")
        self._every = 0.25 if self._console.is_terminal else 5.0
        self._next = time.monotonic() + 2.0

    def __call__(self, done: Sample, longest: int) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._every
        rate = done.games / done.seconds
        line = f"{done.games:,} deals, {rate:,.0f} a second, longest {longest:,} cards"
        if self._console.is_terminal:
            self._status.start()
            self._status.update(line)
        else:
            click.echo(line, err=True)

    def close(self) -> None:
        self._status.stop()
