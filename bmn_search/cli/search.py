"""`bmn search`: the strategies."""

import click

from bmn_search import report
from bmn_search.cli.options import chosen_rules, json_option, print_json, rules_options
from bmn_search.cli.progress import Progress
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
@click.option(
    "--first",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Its number.",
)
@click.option("--games", type=click.IntRange(1), help="Stop after so many deals.")
@click.option("--seconds", type=click.FloatRange(0, 1e9), help="Stop after so long.")
@click.option(
    "--keep", type=click.IntRange(1), default=5, show_default=True, help="How many to print."
)
@json_option
def random(
    deck: str,
    rules_name: str,
    penalties: str | None,
    seed: int,
    first: int,
    games: int | None,
    seconds: float | None,
    keep: int,
    as_json: bool,
) -> None:
    """Play uniform random deals, and print the longest games and every loop.

    Deal number n of a seed is always the same deal: --first N --games 1 plays it again. Without
    --games or --seconds it plays on until Ctrl-C, which prints what was found.

    \b
    Examples:
      bmn search random --seconds 20
      bmn search random --deck camicia40 --games 1000000 --seed 7 --json
    """
    chosen = Deck.parse(deck)
    rules = chosen_rules(rules_name, penalties)
    with Progress() as progress:

        def tell(done: Sample) -> None:
            rate = done.games / done.seconds
            longest = done.longest["cards"][0].outcome.cards if done.longest["cards"] else 0
            progress.tell(f"{done.games:,} deals, {rate:,.0f} a second, longest {longest:,} cards")

        done = sample(
            chosen,
            rules,
            seed=seed,
            first=first,
            games=games,
            seconds=seconds,
            keep=keep,
            progress=tell,
        )
    finds = {
        "longest by cards": done.longest["cards"],
        "longest by tricks": done.longest["tricks"],
        "loop": list(done.loops.values()),
    }
    rate = done.games / done.seconds if done.seconds else 0.0
    if as_json:
        for kind, kept in finds.items():
            for find in kept:
                print_json({"kind": kind, "number": find.number, **find.outcome.as_dict()})
        print_json(
            {
                "run": None,
                "strategy": "random",
                "deck": chosen.name,
                "rules": rules.name,
                "seed": seed,
                "first": first,
                "games": done.games,
                "seconds": round(done.seconds, 3),
                "games_per_second": round(rate),
                "loops": done.loop_games,
                "loop_deals": len(done.loops),
            }
        )
        return
    for kind, kept in finds.items():
        if kept:
            click.echo(kind)
        for find in kept:
            click.echo(
                f"  {find.outcome.deal}  {report.outcome_summary(find.outcome)}  "
                f"(number {find.number:,})"
            )
    click.echo(
        f"{report.counted(done.games, 'deal')} of {chosen} (seed {seed}, from number {first:,}) in "
        f"{done.seconds:.2f} s, {rate:,.0f} a second; "
        f"{done.loop_games:,} never end ({report.counted(len(done.loops), 'different deal')})"
    )
