"""`bmn search`: the strategies."""

import re
import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, replace
from typing import Any, get_args

import click

from bmn_search import report
from bmn_search.cli.options import Command, Seconds, db_option, json_option, print_json
from bmn_search.cli.progress import Progress
from bmn_search.cycle import find_cycle
from bmn_search.deal import STANDARD52, Deal, Deck
from bmn_search.engine import play
from bmn_search.errors import RunError
from bmn_search.exhaustive import cycles_of, record_of
from bmn_search.known import KnownDeal, known_deals
from bmn_search.record_files import check_enterable, enter
from bmn_search.rules import NAMED_RULES, STANDARD, Rules
from bmn_search.search import runner
from bmn_search.search.climb import MOVES, Climb, Objective, expected_longest
from bmn_search.search.crew import Crew
from bmn_search.search.exhaust import MOST_DEALS, MOST_SHARED, Exhaust, usual_chunk
from bmn_search.search.grow import EDITS, MOST_ISLANDS, MOST_PASS, Grow
from bmn_search.search.random_deals import RandomDeals
from bmn_search.search.strategy import Strategy
from bmn_search.store import Run, Store

KEEP = 10
SHOWN = 20  # cycles in words


@click.group()
def search() -> None:
    """Look for long games and for games that never end.

    A run is entered in a file of finds (--db) chunk by chunk: Ctrl-C, or a crash, loses no more
    than the chunks in flight, and --resume RUN goes on.

    \b
    Examples:
      bmn search random --seconds 20
      bmn search random --resume 1 --seconds 3600
      bmn search climb --seconds 60 --cluster local:2
      bmn search random --cluster tcp://HOST:8786 --chunk 100000000
    """


cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Let the workers of this Dask scheduler play, or local:N processes here.",
)


def run_options(command: Command) -> Command:
    """Add the options that all strategies have."""
    for decorator in reversed(
        [
            click.option(
                "--deck",
                metavar="DECK",
                help=f"A name, or a SPEC as 14-,2J,2Q,2K.  [default: {STANDARD52}]",
            ),
            click.option(
                "--rules",
                "rules_name",
                metavar="NAME",
                help=f"One of {', '.join(NAMED_RULES)}.  [default: {STANDARD}]",
            ),
            click.option(
                "--penalties", metavar="TEXT", help="Change what pay cards cost, as in A=0."
            ),
            click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="[default: 0]"),
            click.option(
                "--keep",
                type=click.IntRange(1, 10_000),
                help=f"How many of the longest games to keep.  [default: {KEEP}]",
            ),
            click.option("--games", type=click.IntRange(1), help="Play so many, in whole chunks."),
            click.option("--seconds", type=Seconds(), help="Stop after so long."),
            click.option(
                "--until",
                metavar="WHAT=N",
                multiple=True,
                help="Stop when found: cards=6000, tricks=900 or loops=1.",
            ),
            click.option(
                "--workers", type=click.IntRange(1, 1024), help="Threads.  [default: all cores]"
            ),
            cluster_option,
            click.option(
                "--resume", type=click.IntRange(1, 2**62), metavar="RUN", help="Go on with a run."
            ),
            db_option,
            json_option,
        ]
    ):
        command = decorator(command)
    return command


@search.command()
@run_options
@click.option(
    "--chunk",
    type=click.IntRange(1, 10**9),
    help=f"Games in a chunk.  [default: {RandomDeals.games:,}; less for --games or over 64 cards]",
)
def random(**options: Any) -> None:
    """Play uniform random deals; keep the longest games and every loop.

    Deal number n of a seed is always the same deal, so what is found depends neither on the number
    of workers nor on how often the run was stopped. Without --games, --seconds or --until it plays
    on until Ctrl-C.

    \b
    Examples:
      bmn search random --seconds 20
      bmn search random --deck camicia40 --games 1000000 --seed 7 --json
      bmn search random --until cards=4000
    """

    def make(deck: Deck, rules: Rules, seed: int, keep: int, old: dict[str, Any]) -> Strategy:
        whole = RandomDeals(deck, rules, seed, keep)
        # The general engine plays decks over 64 cards, and their games grow with the square.
        most = whole.games if deck.size <= 64 else max(1, whole.games // deck.size**2)
        wanted = options["chunk"] or min(most, options["games"] or most)
        return replace(whole, games=old.get("games", wanted))

    _search("random", make, options)


@search.command()
@run_options
@click.option(
    "--population", type=click.IntRange(1), help=f"Individuals.  [default: {Climb.population:,}]"
)
@click.option(
    "--moves",
    metavar="MOVE=WEIGHT,...",
    help=f"How often each edit is made: {', '.join(MOVES)}.  [default: pay=1,plain=1]",
)
@click.option(
    "--edits", type=click.IntRange(1), help=f"Most edits a child.  [default: {Climb.edits}]"
)
@click.option(
    "--temperature",
    type=click.FloatRange(0),
    help="Above 0: annealing, in cards or tricks.  [default: 0, hill climbing]",
)
@click.option(
    "--patience",
    type=click.IntRange(0),
    help=f"Generations without gain before a fresh start.  [default: {Climb.patience}]",
)
@click.option(
    "--objective",
    type=click.Choice(get_args(Objective)),
    help="What to lengthen.  [default: cards]",
)
@click.option(
    "--ancestors-every",
    type=click.IntRange(0),
    help="Generations between two looks for longer ancestors of the best; 0: never.  "
    f"[default: {Climb.ancestors_every}]",
)
@click.option(
    "--from",
    "start",
    metavar="known|FILE",
    help="Start beside deals that never end: the known ones, or those of a file of known deals.",
)
@click.option(
    "--chunk", type=click.IntRange(1, 10**9), help=f"Games in a chunk.  [default: {Climb.games:,}]"
)
def climb(**options: Any) -> None:
    """Climb: change deals a little, keep what is longer, start afresh when nothing is.

    Each chunk is a climb of its own, so a run depends on its seed and number of chunks alone. After
    it, the longest game is compared with what as many random deals are expected to reach:
    docs/search.md tells what each move and setting gave.

    \b
    Examples:
      bmn search climb --seconds 60
      bmn search climb --moves pay=1 --edits 2 --temperature 100 --games 20000000
      bmn search climb --from known --seconds 60
    """
    keys = ("population", "edits", "temperature", "patience", "objective", "ancestors_every")
    chosen = {key: options[key] for key in keys if options[key] is not None}
    if options["moves"] is not None:
        chosen["moves"] = _weights(options["moves"])

    def make(deck: Deck, rules: Rules, seed: int, keep: int, old: dict[str, Any]) -> Strategy:
        if old:
            own = {key: old[key] for key in (*keys, "games", "elite")}
            moves = tuple(old["moves"][move] for move in MOVES)  # the file sorts them
            starts = tuple(old["starts"])
            return Climb(deck, rules, seed, keep, moves=moves, starts=starts, **own)
        if options["start"] is not None:
            chosen["starts"] = _starts(options["start"], deck, rules)
        games = options["chunk"] or min(Climb.games, options["games"] or Climb.games)
        return Climb(deck, rules, seed, keep, games=games, **chosen)

    asked = dict(chosen)
    if "moves" in asked:
        asked["moves"] = dict(zip(MOVES, asked["moves"], strict=True))
    if options["resume"] is not None and options["start"] is not None:
        raise RunError("--from cannot be changed when a run is resumed: leave it out")
    _search("climb", make, options, asked)


def _weights(text: str) -> tuple[float, ...]:
    weights = dict.fromkeys(MOVES, 0.0)
    for part in text.split(","):
        found = re.fullmatch(rf"\s*({'|'.join(MOVES)})\s*=\s*([0-9]+(?:\.[0-9]+)?)\s*", part)
        if not found:
            raise RunError(
                f"--moves {part!r}: expected MOVE=WEIGHT, MOVE one of {', '.join(MOVES)}"
            )
        weights[found[1]] = float(found[2])  # type: ignore[index]
    return tuple(weights.values())


def _records(source: str) -> list[KnownDeal]:
    """Return what --from names."""
    if not source:
        raise RunError("--from is empty: expected known, or a file of known deals")
    return known_deals(None if source == "known" else source)


def _starts(source: str, deck: Deck, rules: Rules) -> tuple[str, ...]:
    """Return the deals of a deck, balanced and led by player 1, that never end."""
    records = _records(source)
    deals = dict.fromkeys(record.deal for record in records)
    starts = [
        str(deal)
        for deal in deals
        if deck.fits(deal)
        and tuple(map(len, deal.packets)) == deck.sizes
        and deal.leader == 1
        and play(deal, rules).status == "loop"
    ]
    if not starts:
        raise RunError(f"--from {source}: holds no balanced deal of {deck} that never ends")
    return tuple(starts)


@search.command()
@click.option("--deck", metavar="DECK", help="A name, or a SPEC as 14-,2J,2Q,2K: up to 64 cards.")
@click.option(
    "--rules",
    "rules_name",
    metavar="NAME",
    help=f"One of {', '.join(NAMED_RULES)}.  [default: {STANDARD}]",
)
@click.option("--penalties", metavar="TEXT", help="Change what pay cards cost, as in A=0.")
@click.option("--from", "first", type=click.IntRange(0), metavar="I", help="First deal.")
@click.option("--to", "end", type=click.IntRange(1), metavar="J", help="The deal after the last.")
@click.option("--all-splits", is_flag=True, default=None, help="Packets of all sizes.")
@click.option(
    "--share/--no-share",
    default=None,
    help="Play equivalent games once: fewer games, not less time.  [default: if one chunk, of at "
    f"most {MOST_SHARED:,} deals, is all]",
)
@click.option(
    "--chunk",
    type=click.IntRange(1, MOST_DEALS),
    help=f"Deals in a chunk.  [default: {Exhaust.games:,}; less over 32 cards]",
)
@click.option("--seconds", type=Seconds(), help="Begin no chunk after so long.")
@click.option("--workers", type=click.IntRange(1, 1024), help="Threads.  [default: all cores]")
@cluster_option
@click.option("--resume", type=click.IntRange(1, 2**62), metavar="RUN", help="Go on with a run.")
@click.option(
    "--record",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="When all deals of the deck are counted: write what they come to into this file.",
)
@db_option
@json_option
def exhaust(**options: Any) -> None:
    """Count every deal: how many never end, and how long the longest game is.

    Deals go by their numbers (bmn deal index), so that machines can share them: give each a range,
    bring the files together (bmn finds import), and write the record, which is refused while a
    deal is missing. With --all-splits the numbers go on from one size of the first packet, 1 card,
    to the next.

    \b
    Examples:
      bmn search exhaust --deck half20
      bmn search exhaust --deck 20-,2J,2Q,2K --record results.jsonl
      bmn search exhaust --deck standard52 --from 472460898658889000000 --to 472460898658890000000
    """
    keys = ("first", "end", "all_splits", "share")
    asked = {key: options[key] for key in keys if options[key] is not None}
    options |= dict.fromkeys(("seed", "keep", "games"), None) | {"until": ()}

    def make(deck: Deck, rules: Rules, seed: int, keep: int, old: dict[str, Any]) -> Strategy:
        return Exhaust(
            deck, rules, **(old or {"games": options["chunk"] or usual_chunk(deck)} | asked)
        )

    if options["deck"] is None and options["resume"] is None:
        raise RunError(
            "no deck is named: expected --deck SPEC, as in 14-,2J,2Q,2K, or --resume RUN"
        )
    if options["record"] is not None:
        check_enterable(options["record"])
    _search("exhaust", make, options, asked, _tell_exhausted)


def _tell_exhausted(
    store: Store, entered: Run, state: runner.State, options: dict[str, Any]
) -> None:
    """Print what all deals of a range came to; write the record of the whole deck."""
    plan = Exhaust(entered.deck, entered.rules, **entered.parameters)
    finds = store.finds(run=entered.id)
    loops = [Deal.parse(find.deal) for find in finds if find.kind == "loop"]
    cycles = cycles_of(loops, plan.rules)
    fewer = state.new_games / state.new_plays if state.new_plays else 1.0
    if options["as_json"]:
        for find in finds:
            number = plan.first + find.place
            print_json({"id": find.id, "kind": find.kind, "number": number, **find.outcome})
        for cycle in cycles:
            print_json({"kind": "cycle", **cycle._asdict()})
        print_json(
            {
                "run": entered.id,
                "strategy": entered.strategy,
                "deck": entered.deck.name,
                "rules": entered.rules.name,
                "all_splits": plan.all_splits,
                "from": plan.first,
                "to": plan.end,
                "deals": plan.deals,
                "games": state.games,
                "plays": state.new_plays,
                "seconds": round(state.seconds, 3),
                "games_per_second": round(state.new_games / (state.seconds or 1)),
                "loops": state.loops,
                "cycles": len(cycles),
                "longest_cards": state.longest_cards,
                "longest_tricks": state.longest_tricks,
                "chunks": state.chunks,
                "stopped": state.stopped,
            }
        )
    else:
        for cycle in cycles:
            click.echo(f"cycle     {report.cycle_count(cycle)}")
        for find in finds:
            long = f"{report.counted(find.cards, 'card')}, {report.counted(find.tricks, 'trick')}"
            what = f"longest   {long}" if find.kind == "long" else "no end   "
            click.echo(f"{what}  {find.deal}  deal number {plan.first + find.place:,}")
        click.echo(
            f"run {entered.id}: {state.games:,} of {report.counted(plan.deals, 'deal')} of "
            f"{entered.deck} ({entered.rules} rules) counted; {state.loops:,} never end, in "
            f"{report.counted(len(cycles), 'cycle')} up to exchange; now {state.new_games:,} in "
            f"{state.seconds:.1f} s, {report.counted(state.new_plays, 'game')} played, "
            f"{fewer:.1f} times fewer"
        )
        _tell_unfinished(entered, state, options)
    if options["record"] is None:
        return
    if state.stopped == "done":
        enter(options["record"], record_of(store, plan.numbering, plan.rules))
    else:
        click.echo(
            f"bmn: {options['record']}: nothing is written: the run is not finished", err=True
        )


@search.command()
@run_options
@click.option(
    "--from",
    "start",
    metavar="known|FILE",
    help="Begin with the cycles of known deals, or of those in a file of known deals, instead of "
    "random positions.",
)
@click.option(
    "--edits",
    "weights",
    metavar="EDIT=WEIGHT,...",
    help=f"How often each edit is made: {', '.join(EDITS)}.  [default: "
    + ",".join(f"{edit}={weight}" for edit, weight in zip(EDITS, Grow.weights, strict=True))
    + "]",
)
@click.option(
    "--passes",
    type=click.IntRange(0, MOST_PASS),
    help="Every other island begins with cycles of one pass, of runs of up to so many cards; "
    "0: none does.  "
    f"[default: {Grow.passes}]",
)
@click.option(
    "--islands",
    type=click.IntRange(1, MOST_ISLANDS),
    help="So many archives side by side, each grown by one worker at a time.  "
    f"[default: {Grow.islands}]",
)
@click.option(
    "--chunk",
    type=click.IntRange(1, 10**12),
    help=f"Candidates in a chunk.  [default: {Grow.games:,}]",
)
def grow(**options: Any) -> None:
    """Grow cycles of small decks into cycles of a deck, and find all deals that lead into them.

    An island begins with random small positions that never end or with cycles of one pass
    (--passes), or, with --from, with known deals. It edits them, keeps what never ends again in an
    archive, and steers to the deck. Each chunk is a spell of one of several islands, goes on from
    its archive, and takes in some of a neighbour's; --resume does so too. Games are candidates
    played. Every cycle of the deck is kept, with how many balanced deals lead into it; these deals
    are finds. docs/grow.md tells how it works and what it gave.

    \b
    Examples:
      bmn search grow --deck camicia40 --seconds 60
      bmn search grow --from known --seconds 600
      bmn search grow --deck half20 --games 10000000 --chunk 5000000 --json
    """
    asked = {key: options[key] for key in ("passes", "islands") if options[key] is not None}
    if options["weights"] is not None:
        asked["weights"] = _edits(options["weights"])

    def make(deck: Deck, rules: Rules, seed: int, keep: int, old: dict[str, Any]) -> Strategy:
        if old:
            return Grow.of(deck, rules, seed, keep, old)
        starts = () if options["start"] is None else _endless(options["start"], rules)
        games = options["chunk"] or min(Grow.games, options["games"] or Grow.games)
        grow = Grow(deck, rules, seed, keep, games, starts)
        return Grow.of(deck, rules, seed, keep, grow.parameters() | asked)

    if options["resume"] is not None and options["start"] is not None:
        raise RunError("--from cannot be changed when a run is resumed: leave it out")
    _search("grow", make, options, asked, _tell_grown)


def _edits(text: str) -> dict[str, int]:
    weights = dict.fromkeys(EDITS, 0)
    for part in text.split(","):
        found = re.fullmatch(rf"\s*({'|'.join(EDITS)})\s*=\s*([0-9]{{1,5}})\s*", part)
        if not found:
            raise RunError(
                f"--edits {part!r}: expected EDIT=WEIGHT, EDIT one of {', '.join(EDITS)}"
            )
        weights[found[1]] = int(found[2])
    return weights


def _endless(source: str, rules: Rules) -> tuple[str, ...]:
    """Return the deals of two players, of any deck, that never end."""
    records = _records(source)
    deals = dict.fromkeys(record.deal for record in records if len(record.deal.packets) == 2)
    starts = [
        str(deal) for deal in deals if deal.size <= 63 and find_cycle(deal, rules) is not None
    ]
    if not starts:
        raise RunError(f"--from {source}: holds no deal that never ends")
    return tuple(starts)


def _tell_grown(store: Store, entered: Run, state: runner.State, options: dict[str, Any]) -> None:
    """Print the cycles of the deck that a run has found."""
    cycles = store.cycles(entered.id)
    families = {cycle.family for cycle in cycles}
    deals = sum(cycle.balanced for cycle in cycles)
    rate = state.new_games / state.seconds if state.seconds else 0.0
    if options["as_json"]:
        for cycle in cycles:
            print_json({"kind": "cycle", **asdict(cycle)})
        print_json(
            {
                "run": entered.id,
                "strategy": entered.strategy,
                "deck": entered.deck.name,
                "rules": entered.rules.name,
                "seed": entered.seed,
                "games": state.games,
                "seconds": round(state.seconds, 3),
                "games_per_second": round(rate),
                "loops": state.loops,
                "cycles": len(cycles),
                "families": len(families),
                "balanced_deals": deals,
                "loop_deals": state.loop_deals,
                "chunks": state.chunks,
                "stopped": state.stopped,
            }
        )
        return
    for cycle in cycles[:SHOWN]:
        mirror = ", mirror" if cycle.mirror else ""
        click.echo(
            f"{report.counted(cycle.balanced, 'deal'):>9}  {cycle.canonical}  "
            f"{cycle.tricks:,} tricks, {cycle.cards:,} cards{mirror}, balance {cycle.balance}"
        )
    if len(cycles) > SHOWN:
        click.echo(
            f"  ... and {report.counted(len(cycles) - SHOWN, 'more cycle')} (--json has all)"
        )
    click.echo(
        f"run {entered.id}: {report.counted(state.games, 'candidate')} towards {entered.deck} "
        f"({entered.rules} rules, seed {entered.seed}): {report.counted(len(cycles), 'cycle')} "
        f"up to exchange, {len(families):,} {'family' if len(families) == 1 else 'families'}, "
        f"{report.counted(deals, 'balanced deal')}; "
        f"{state.new_games:,} in {state.seconds:.1f} s now, {rate:,.0f} a second"
    )
    _tell_unfinished(entered, state, options)


def _tell_unfinished(entered: Run, state: runner.State, options: dict[str, Any]) -> None:
    """Print the command that goes on with a run that was stopped."""
    if state.stopped == "done":
        return
    click.echo(f"go on with: {_going_on(entered, options)}")


Make = Callable[[Deck, Rules, int, int, dict[str, Any]], Any]
Tell = Callable[[Store, Run, runner.State, dict[str, Any]], None]


def _going_on(entered: Run, options: dict[str, Any]) -> str:
    command = ["bmn", "search", entered.strategy, "--resume", str(entered.id)]
    for name in ("db", "record"):
        if options.get(name) is not None:
            command += [f"--{name}", str(options[name])]
    return shlex.join(command)


def _as_begun(entered: Run, make: Make) -> Any:
    """Return the strategy of a run to go on with."""
    strategy = None
    with suppress(KeyError, TypeError, ValueError, AttributeError):
        strategy = make(entered.deck, entered.rules, entered.seed, entered.keep, entered.parameters)
    if strategy is None or strategy.parameters() != entered.parameters:
        raise RunError(
            f"run {entered.id} has parameters that this version does not know: begin a new run"
        )
    return strategy


def _search(
    name: str,
    make: Make,
    options: dict[str, Any],
    own: dict[str, Any] | None = None,
    tell: Tell | None = None,
) -> None:
    """Begin or go on with a run of a strategy, and tell what it found.

    `make` makes the strategy of deck, rules, seed, keep, and the parameters of a run to go on with;
    `own` are the parameters of the strategy that the caller asks for; `tell` prints the results.
    """
    rules = None if options["rules_name"] is None else Rules.named(options["rules_name"])
    if options["penalties"] is not None:
        rules = (rules or STANDARD).with_penalties(options["penalties"])
    deck = None if options["deck"] is None else Deck.parse(options["deck"])
    seed, keep = options["seed"], options["keep"]
    limits = _limits(options)
    if options["resume"] is None:  # what is refused leaves no file behind
        strategy = make(deck or STANDARD52, rules or STANDARD, seed or 0, keep or KEEP, {})
    with (
        Store(options["db"], create=options["resume"] is None) as store,
        Progress() as progress,
        _crew(options, progress) as crew,
    ):
        if options["resume"] is None:
            entered = store.begin(strategy)
        else:
            asked = {
                "deck": deck and deck.name,
                "rules": rules and rules.name,
                "seed": seed,
                "keep": keep,
                "games": options["chunk"],
                **(own or {}),
            }
            entered = runner.resume(store, options["resume"], name, asked)
            strategy = _as_begun(entered, make)
        if options["games"] is not None:
            limits = replace(limits, chunks=-(-options["games"] // strategy.games))
        if isinstance(strategy, Exhaust):
            limits = replace(limits, chunks=strategy.chunks)
        try:
            state = runner.run(
                strategy,
                store,
                entered,
                limits,
                workers=options["workers"],
                crew=crew,
                progress=lambda state: progress.tell(_progress_line(state)),
            )
        except RunError as error:
            raise RunError(f"{error}: go on with {_going_on(entered, options)}") from None
        (tell or _tell)(store, entered, state, options)


def _crew(options: dict[str, Any], progress: Progress) -> AbstractContextManager[Crew | None]:
    """Open the cluster that is asked for; without one threads play."""
    if options["cluster"] is None:
        return nullcontext()
    if options["workers"] is not None:
        raise RunError("--workers are threads here, --cluster has its own: leave one out")
    from bmn_search.search.cluster import open_cluster  # an extra, and slow to import

    return open_cluster(options["cluster"], lambda line: progress.note(f"bmn: {line}"))


def _limits(options: dict[str, Any]) -> runner.Limits:
    wanted: dict[str, int] = {}
    for text in options["until"]:
        found = re.fullmatch(r"(cards|tricks|loops)=([0-9]{1,9})", text)
        if not found:
            raise RunError(f"--until {text!r}: expected cards=N, tricks=N or loops=N")
        wanted[found[1]] = int(found[2])
    return runner.Limits(seconds=options["seconds"], **wanted)


def _progress_line(state: runner.State) -> str:
    rate = state.new_games / state.seconds if state.seconds else 0.0
    minutes, seconds = divmod(int(state.seconds), 60)
    last = f", last find {state.last}" if state.last else ""
    return (
        f"run {state.run.id}: {state.games:,} games, {rate:,.0f} a second, {minutes}:{seconds:02} "
        f"min, longest {state.longest_cards:,} cards, {state.loop_deals:,} loops{last}"
    )


def _expected(entered: Run, games: int) -> float | None:
    """Return what random deals would reach, where their tail was measured; None elsewhere."""
    measured = entered.deck == STANDARD52 and entered.rules == STANDARD
    return expected_longest(games) if measured and games >= 10_000 else None


def _tell(store: Store, entered: Run, state: runner.State, options: dict[str, Any]) -> None:
    """Print what the run has on the board, and how it went."""
    finds = store.finds(run=entered.id)
    rate = state.new_games / state.seconds if state.seconds else 0.0
    expected = _expected(entered, state.games)
    if options["as_json"]:
        for find in finds:
            print_json({"id": find.id, "kind": find.kind, "number": find.place, **find.outcome})
        print_json(
            {
                "run": entered.id,
                "strategy": entered.strategy,
                "deck": entered.deck.name,
                "rules": entered.rules.name,
                "seed": entered.seed,
                "games": state.games,
                "seconds": round(state.seconds, 3),
                "games_per_second": round(rate),
                "loops": state.loops,
                "loop_deals": state.loop_deals,
                "longest_cards": state.longest_cards,
                "longest_tricks": state.longest_tricks,
                "chunks": state.chunks,
                "stopped": state.stopped,
                "expected_of_random": expected and round(expected),
            }
        )
        return
    for find in finds:
        long = f"{find.cards:,} cards, {find.tricks:,} tricks"
        click.echo(f"{find.id:>6}  {find.deal}  {long if find.kind == 'long' else 'never ends'}")
    click.echo(
        f"run {entered.id}: {report.counted(state.games, 'game')} of {entered.deck} "
        f"({entered.rules} rules, seed {entered.seed}), {report.counted(state.loops, 'loop')}; "
        f"{state.new_games:,} games in {state.seconds:.1f} s now, {rate:,.0f} a second"
    )
    if expected:
        click.echo(
            f"longest {state.longest_cards:,} cards; as many random deals are expected to reach "
            f"{expected:,.0f}"
        )
    _tell_unfinished(entered, state, options)
