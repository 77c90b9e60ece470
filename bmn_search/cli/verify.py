"""`bmn verify`."""

import sys
from typing import Any

import click

from bmn_search import known, report
from bmn_search.cli.options import json_option, print_json


@click.command()
@click.argument("paths", metavar="[PATH...]", nargs=-1)
@json_option
@click.pass_context
def verify(ctx: click.Context, paths: tuple[str, ...], as_json: bool) -> None:
    """Replay known deals with both engines and compare with what is claimed of them.

    Without PATH: the deals that come with the package, that of arXiv 2403.13855 first. PATH is a
    file of known deals or a folder of them, - is stdin. A claim that fits another convention of
    counting agrees, and the convention is named. Exit 1 when a claim fails.

    \b
    Examples:
      bmn verify
      bmn verify my-deals.txt
      printf 'deal: ---AJ--Q---------QAKQJJ-QK/-----A----KJ-K--------A---\\ncards: 8345\\n' |
        bmn verify -
    """
    records: list[known.KnownDeal] = []
    for path in paths or (None,):
        if path == "-":
            records += known.read_known(sys.stdin.read(), "stdin")
        else:
            records += known.known_deals(path)
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
            click.echo(file)
        click.echo("\n".join(report.verification_lines(result)))
    if not as_json:
        click.echo(
            f"{len(records)} known deals replayed with both engines: "
            f"{len(records) - failed} agree ({other} of them in another convention of counting), "
            f"{failed} do not"
        )
    ctx.exit(1 if failed else 0)


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
        "year": record.year,
        "file": record.file,
        "line": record.line,
    }
