"""Words for people: outcomes, traces and verifications as lines of text."""

from collections.abc import Iterable, Iterator

from bmn_search import ranks
from bmn_search.ancestry import Ancestry
from bmn_search.cycle import Cycle
from bmn_search.deal import Deal
from bmn_search.exhaustive import CycleCount, Record
from bmn_search.known import Verification
from bmn_search.notation import SYMBOLS
from bmn_search.outcome import Count, Distinct, Outcome
from bmn_search.reference import Event
from bmn_search.worlds import World

__all__ = [
    "ENDED",
    "basin_lines",
    "counted",
    "cycle_count",
    "cycle_lines",
    "outcome_lines",
    "outcome_summary",
    "printable",
    "record_summary",
    "trace_lines",
    "verification_lines",
    "world_lines",
]

_ENDS = {"draw": "a draw", "tie": "a tie", "none": "nobody wins"}


_APART = {"plain": "every plain card", "all": "every card"}


def counted(number: int | None, noun: str) -> str:
    """Write a number of things: 1 trick, 1,164 tricks."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def printable(text: str) -> str:
    """Replace what could change the terminal rather than be read."""
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )


def _count(cards: int | None, tricks: int | None) -> str:
    return f"{counted(cards, 'card')}, {counted(tricks, 'trick')}"


def _ending(outcome: Outcome) -> str:
    if outcome.winner is None:
        return _ENDS[outcome.result]
    by = "" if outcome.status == "finished" else ", holding the most cards then"
    return f"player {outcome.winner} wins{by}"


def outcome_summary(outcome: Outcome) -> str:
    """Say in one line how a game went."""
    total = _count(outcome.cards, outcome.tricks)
    if outcome.status == "finished":
        return f"finished: {total}; {_ending(outcome)}"
    if outcome.status == "unknown":
        return f"unknown: stopped by a limit at {total}"
    cycle = _count(outcome.cycle_cards, outcome.cycle_tricks)
    transient = _count(outcome.transient_cards, outcome.transient_tricks)
    return f"never ends: a cycle of {cycle}, after {transient}"


def outcome_lines(outcome: Outcome, distinct: Distinct = "none") -> Iterator[str]:
    """Say all that is known of a game, one fact a line."""
    facts = {"deal": str(outcome.deal), "rules": outcome.rules.name}
    if distinct != "none":
        facts["told apart"] = _APART[distinct]
    if outcome.status == "loop":
        facts |= {
            "status": "loop: this game never ends",
            "transient": _count(outcome.transient_cards, outcome.transient_tricks),
            "cycle": _count(outcome.cycle_cards, outcome.cycle_tricks)
            + (" (a mirror cycle: players exchanged after half of it)" if outcome.mirror else ""),
            "first repeat": f"after {_count(outcome.cards, outcome.tricks)}",
        }
    else:
        stopped = "" if outcome.status == "finished" else ": a limit was reached first"
        facts |= {
            "status": outcome.status + stopped,
            "cards": f"{outcome.cards:,}",
            "tricks": f"{outcome.tricks:,}",
        }
    if outcome.status == "finished":
        for name, count in outcome.counting._asdict().items():
            same = count == Count(outcome.cards, outcome.tricks)
            facts[name.replace("_", " ")] = "the same" if same else _count(*count)
    if outcome.result != "none":
        facts["result"] = _ending(outcome)
    facts["engine"] = outcome.engine
    yield from _table(facts)


def _table(facts: dict[str, str]) -> Iterator[str]:
    width = max(map(len, facts)) + 2
    for name, fact in facts.items():
        yield f"{name:{width}}{fact}"


_MIRROR = "players exchanged after half of it"
# How the end of backward play is told.
ENDED = {
    "complete": "",
    "depth": " (as far as asked: there may be more)",
    "limit": " (the limit was reached: there are more)",
}


def cycle_lines(deal: Deal, cycle: Cycle, around: Ancestry) -> Iterator[str]:
    """Say all that is known of a cycle and its basin, one fact a line."""
    least, most = cycle.packet_sizes
    choices = ranks.choices(cycle)
    yield from _table(
        {
            "deal": str(deal),
            "rules": cycle.rules.name,
            "transient": _count(*cycle.transient),
            "cycle": _count(*cycle.period) + (f" (mirror: {_MIRROR})" if cycle.mirror else ""),
            "canonical": str(cycle.canonical),
            "packet sizes": f"{least} to {most}",
            "lead moves": f"{cycle.lead_moves:,} times",
            "longest trick": counted(cycle.longest_trick, "card"),
            "plain apart": _count(*cycle.distinct_period("plain")),
            "all apart": _count(*cycle.distinct_period("all")),
            "orbits": _orbits(cycle),
            "ranks": f"{counted(choices, 'choice')} in this deck",
            "normal form": str(ranks.normal_form(cycle).canonical),
            "basin": f"{counted(len(around), 'position')} up to exchange, "
            f"{counted(around.depth + 1, 'level')} with the cycle{ENDED[around.ended]}",
            "balanced deals": f"{int(around.balanced.sum()):,}",
        }
    )


def _orbits(cycle: Cycle) -> str:
    """Say of each orbit of pay cards how many cards it has and which ranks they may have."""
    found = ranks.orbits(cycle)
    pay = sorted((orbit for orbit in found if orbit.least), key=lambda orbit: orbit.places)
    words = [
        f"{len(orbit.places)}{SYMBOLS[orbit.code]}"
        + ("" if orbit.exact else f" at least {orbit.least}")
        for orbit in pay
    ]
    plain = [f"{len(orbit.places)}-" for orbit in found if not orbit.least]
    return ", ".join([*plain, *words])


def basin_lines(around: Ancestry) -> Iterator[str]:
    """List the positions of a basin: tricks and cards to the cycle, and which are balanced."""
    yield f"{'tricks':>7}{'cards':>7}  balanced  position"
    for row in range(len(around)):
        yield (
            f"{around.distance[row]:>7}{around.cards[row]:>7}  "
            f"{'yes' if around.balanced[row] else '':<8}  {around.deal(row)}"
        )


def trace_lines(events: Iterable[Event], players: int) -> Iterator[str]:
    """Write a game as a table: one line a card, and one for each pile taken, with the packets."""
    packets = "".join(f"{'packet ' + str(player):>10}" for player in range(1, players + 1))
    yield f"{'cards':>7}{'tricks':>7}  {'player':<7}{'card':<10}{packets}{'table':>7}{'debt':>6}"
    for event in events:
        what = {"lays": event.card, "takes": f"takes {event.table}", "out": "is out"}[event.action]
        sizes = "".join(f"{size:>10}" for size in event.sizes)
        table = 0 if event.action == "takes" else event.table
        packets = f"  {'/'.join(event.packets)}" if event.action == "takes" else ""
        yield (
            f"{event.cards:>7}{event.tricks:>7}  {event.player:<7}{what:<10}"
            f"{sizes}{table:>7}{event.debt:>6}{packets}"
        )


def verification_lines(result: Verification) -> Iterator[str]:
    """Say whether a claim holds, and on a second line in which convention or where it fails."""
    yield f"  {'yes' if result.agrees else 'NO ':<5}{printable(result.known.name)}"
    yield f"       {outcome_summary(result.outcome)}"
    if result.remark:
        yield f"       {result.remark}"


def world_lines(found: World) -> Iterator[str]:
    """Say what becomes of all positions of a deck, one fact a line; the cycles are a table."""
    facts = {"deck": str(found.deck), "rules": found.rules.name}
    if found.each > 1:
        facts["played as"] = (
            f"{found.alike}: cards that cost the same are alike, and each position below stands "
            f"for {found.each:,}"
        )
    yield from _table(
        facts
        | {
            "positions": f"{found.positions:,} up to exchange, any split",
            "never end": _share(found.endless, found.positions),
            "balanced deals": f"{found.balanced:,}",
            "of which never end": _share(found.balanced_endless, found.balanced),
            "longest finite": counted(found.longest_tricks, "trick"),
            "cycles": f"{len(found.basins):,} up to exchange",
        }
    )


def _share(part: int, whole: int) -> str:
    return f"{part:,}" + (f", a share of {part / whole:.3g}" if part else "")


def cycle_count(cycle: CycleCount) -> str:
    """Say in one line how long a cycle is, how many deals lead to it, and what it is."""
    mirror = ", mirror" if cycle.mirror else ""
    period = f"{_count(cycle.cards, cycle.tricks)}{mirror}"
    return f"{period}, {counted(cycle.deals, 'deal')}: {cycle.canonical}"


def record_summary(record: Record) -> str:
    """Say in one line what all deals of a deck come to."""
    deck = f"{record.numbering.deck.spec} ({record.rules} rules"
    deck += ", all splits)" if record.all_splits else ")"
    longest = "no game ends"
    if record.by_cards and record.by_tricks:
        longest = f"longest {_count(record.by_cards.cards, record.by_tricks.tricks)}"
    return (
        f"{deck}: {counted(record.deals, 'deal')}, {record.infinite:,} never end, "
        f"{counted(len(record.cycles), 'cycle')}; {longest}"
    )
