"""`bmn finds`: the board."""

from pathlib import Path

import click

from bmn_search import engine, report
from bmn_search import finds as board
from bmn_search.ancestry import longest_ancestor
from bmn_search.cli.options import db_option, json_option, print_json
from bmn_search.deal import Deal, Deck
from bmn_search.errors import StoreError
from bmn_search.store import Find, Store


@click.group()
def finds() -> None:
    """List, show, export and import what searches found.

    \b
    Examples:
      bmn finds list --kind loop
      bmn finds show 3
      bmn finds export --format known --output mine.txt
      bmn finds import from-another-machine.sqlite
    """


def filter_options(command: click.decorators.FC) -> click.decorators.FC:
    """Add the options that choose among the finds."""
    for decorator in (
        db_option,
        click.option(
            "--least-cards", type=click.IntRange(0, 2**62), default=0, help="Only games so long."
        ),
        click.option(
            "--run", type=click.IntRange(1, 2**62), metavar="RUN", help="Only of this run."
        ),
        click.option("--deck", metavar="DECK", help="Only of this deck."),
        click.option("--kind", type=click.Choice(["long", "loop"]), help="Only of this kind."),
    ):
        command = decorator(command)
    return command


def _chosen(
    db: str | None, kind: str | None, deck: str | None, run: int | None, least_cards: int
) -> list[Find]:
    with Store(db, create=False) as store:
        if run is not None:
            store.run(run)
        return store.finds(
            kind=kind,
            deck=None if deck is None else Deck.parse(deck),
            run=run,
            least_cards=least_cards,
        )


@finds.command(name="list")
@filter_options
@json_option
def list_finds(
    db: str | None,
    kind: str | None,
    deck: str | None,
    run: int | None,
    least_cards: int,
    as_json: bool,
) -> None:
    """List the finds: loops first, then the longest games; each deal once.

    \b
    Examples:
      bmn finds list --deck standard52 --least-cards 3000
      bmn finds list --kind loop --json
    """
    chosen = _chosen(db, kind, deck, run, least_cards)
    for find in chosen:
        fields = board.document(find)
        if as_json:
            print_json(fields)
            continue
        known = f"  known: {fields['known']}" if fields["known"] else ""
        click.echo(
            f"{find.id:>6}  {find.kind:<4}  {find.cards:>6,} cards {find.tricks:>5,} tricks  "
            f"{find.deck!s:<10}  {find.deal}{known}"
        )
    if not as_json:
        click.echo(report.counted(len(chosen), "find"))


@finds.command()
@click.argument("number", metavar="N", type=int)
@db_option
@json_option
def show(number: int, db: str | None, as_json: bool) -> None:
    """Show a find, how to play it again, and the longest deal that leads to it.

    \b
    Example:
      bmn finds show 3
    """
    with Store(db, create=False) as store:
        find = store.find(number)
        run = store.run(find.run)
    deal = Deal.parse(find.deal)
    longer = longest_ancestor(deal, find.rules)
    if as_json:
        ancestor = longer and {
            "deal": str(longer[0]),
            "cards": find.cards + longer[1].cards,
            "tricks": find.tricks + longer[1].tricks,
        }
        print_json({**board.document(find), "longest_ancestor": ancestor})
        return
    outcome = engine.play(deal, find.rules)
    click.echo("\n".join(report.outcome_lines(outcome)))
    known = board.known_name(deal, find.rules)
    click.echo(f"known as          {known or 'not among the known deals'}")
    click.echo(
        f"found             by run {run.id} ({run.strategy}, seed {run.seed}), chunk {find.chunk}, "
        f"at {find.place:,}, with bmn_search {run.version}"
    )
    base, _, penalties = find.rules.name.partition(" ")
    rules = "" if base == "standard" else f" --rules {base}"
    rules += f" --penalties {penalties}" if penalties else ""
    deck = "" if find.deck.name == "standard52" else f" --deck {find.deck}"
    click.echo(f"play it again     bmn play{rules}{deck} {find.deal}")
    if longer:
        cards, tricks = longer[1]
        more = f"{report.counted(cards, 'card')}, {report.counted(tricks, 'trick')}"
        click.echo(f"longest ancestor  {longer[0]}, +{more}")


@finds.command()
@filter_options
@click.option(
    "--format",
    "form",
    type=click.Choice(board.FORMATS),
    default="jsonl",
    show_default=True,
    help="jsonl: for bmn finds import; known: for bmn verify.",
)
@click.option("--output", type=click.Path(dir_okay=False), help="A file instead of stdout.")
@json_option
def export(
    db: str | None,
    kind: str | None,
    deck: str | None,
    run: int | None,
    least_cards: int,
    form: str,
    output: str | None,
    as_json: bool,
) -> None:
    """Write finds as JSON lines, as CSV, or as records that bmn verify reads.

    \b
    Examples:
      bmn finds export --kind loop --format known --output loops.txt
      bmn finds export --format csv
    """
    text = board.export(_chosen(db, kind, deck, run, least_cards), "jsonl" if as_json else form)
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{output}: cannot be written: {error.strerror}") from None


@finds.command(name="import")
@click.argument("paths", metavar="FILE...", nargs=-1, required=True)
@db_option
@json_option
def import_finds(paths: tuple[str, ...], db: str | None, as_json: bool) -> None:
    """Take over the finds of other files of finds, or of exports as JSON lines.

    Every find is proved by both engines first. A run or an export that is here already is not
    entered again, and the board shows each deal once.

    \b
    Example:
      bmn finds import from-another-machine.sqlite
    """
    with Store(db) as store:
        for path in paths:
            done = board.import_file(store, path)
            if as_json:
                print_json({"file": path, "runs": done.runs, "finds": done.finds})
            else:
                click.echo(
                    f"{path}: {report.counted(done.finds, 'new find')}, "
                    f"{report.counted(done.runs, 'new run')}"
                )
