"""`bmn verify`."""

import random
from typing import Any

import click

from bmn_search import known, report
from bmn_search.cli.options import json_option, print_json, read_text
from bmn_search.errors import BmnError, KnownDealError
from bmn_search.exhaustive import check
from bmn_search.record_files import read_records


@click.command()
@click.argument("paths", metavar="[PATH...]", nargs=-1)
@click.option(
    "--exhaustive",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Check the records that bmn search exhaust --record wrote, instead of known deals.",
)
@click.option(
    "--chunks",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="With --exhaustive: count so many chunks of each record again.",
)
@click.option(
    "--seed", type=int, help="With --exhaustive: which chunks.  [default: other ones each time]"
)
@json_option
@click.pass_context
def verify(
    ctx: click.Context,
    paths: tuple[str, ...],
    exhaustive: str | None,
    chunks: int,
    seed: int | None,
    as_json: bool,
) -> None:
    """Replay known deals with both engines and compare with what is claimed of them.

    Without PATH: the deals that come with the package, that of arXiv 2403.13855 first. PATH is a
    file of known deals or a folder of them, - is stdin. A claim that fits another convention of
    counting agrees, and the convention is named. Exit 1 when a claim fails, 2 when a record
    cannot be read (the others are done all the same); so too with --exhaustive.

    \b
    Examples:
      bmn verify
      bmn verify my-deals.txt
      printf 'deal: ---AJ--Q---------QAKQJJ-QK/-----A----KJ-K--------A---\\ncards: 8345\\n' |
        bmn verify -
      bmn verify --exhaustive results/exhaustive.jsonl --chunks 3
    """
    if exhaustive is not None:
        if paths:
            raise click.UsageError("PATH and --exhaustive: expected one of them")
        seed = random.SystemRandom().randrange(2**32) if seed is None else seed
        ctx.exit(_check_records(exhaustive, chunks, seed, as_json))
    bad: list[BmnError] = []

    def complain(error: BmnError) -> None:
        click.echo(f"bmn: {error}", err=True)
        bad.append(error)

    records: list[known.KnownDeal] = []
    for path in paths or (None,):
        try:
            if path == "-":
                records += known.read_known(read_text("-"), "stdin", complain)
            else:
                records += known.known_deals(path, complain)
        except BmnError as error:
            complain(error)
    if not records and not bad:
        raise KnownDealError(f"{' '.join(paths)}: {known.NOTHING}")
    file, failed, other = None, 0, 0
    for record in records:
        result = known.verify(record)
        failed += not result.agrees
        other += result.agrees and result.convention != "standard"
        if as_json:
            print_json(_document(result))
            continue
        if record.file != file:
            file = record.file
            click.echo(report.printable(file))
        click.echo("\n".join(report.verification_lines(result)))
    if records and not as_json:
        click.echo(
            f"{report.counted(len(records), 'claim')} replayed with both engines: "
            f"{len(records) - failed} hold ({other} in another convention of counting), "
            f"{failed} fail"
        )
    ctx.exit(2 if bad else 1 if failed else 0)


def _document(result: known.Verification) -> dict[str, Any]:
    record = result.known
    return {
        "name": record.name,
        "agrees": result.agrees,
        "convention": result.convention,
        "engines_agree": result.engines_agree,
        "remark": result.remark,
        "claimed": dict(record.claim),
        "computed": result.outcome.as_dict(),
        "source": record.source,
        "year": int(record.year) if record.year.isdigit() else record.year or None,
        "file": record.file,
        "line": record.line,
    }


def _check_records(path: str, chunks: int, seed: int, as_json: bool) -> int:
    """Check the records of a file and tell; returns the exit code."""
    failed, bad = 0, 0

    def complain(error: BmnError) -> None:
        nonlocal bad
        bad += 1
        click.echo(f"bmn: {error}", err=True)

    checked = read_records(path, complain)
    for record in checked:
        problems = check(record, chunks, seed)
        failed += bool(problems)
        summary = report.record_summary(record)
        if as_json:
            document = {"agrees": not problems, "problems": problems, "seed": seed}
            print_json({"deck": record.numbering.deck.spec, "line": record.line, **document})
            continue
        mark = f"NO   line {record.line}: " if problems else "yes  "
        click.echo(f"  {mark}{report.printable(summary)}")
        for problem in problems:
            click.echo(f"       {report.printable(problem)}")
    if not as_json:
        click.echo(
            f"{report.counted(len(checked), 'record')}: ranges, every loop, the longest games and "
            f"{report.counted(chunks, 'chunk')} of each (seed {seed}) checked, {failed} fail"
        )
    return 2 if bad else 1 if failed else 0
