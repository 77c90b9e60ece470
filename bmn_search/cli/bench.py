"""`bmn bench`."""

import sys

import click
from rich.console import Console
from rich.table import Table

from bmn_search import bench as benchmarks
from bmn_search.cli.options import Seconds, deck_option, json_option, print_json
from bmn_search.cli.progress import Progress
from bmn_search.compiled import YARDSTICK, available_kernels, chosen_kernel
from bmn_search.deal import Deck
from bmn_search.workers import usable_cores


@click.command()
@deck_option
@click.option(
    "--seconds",
    type=Seconds(),
    default=20.0,
    show_default=True,
    help="About how long to measure.",
)
@click.option(
    "--threads", type=click.IntRange(1), default=1, show_default=True, help="How many play at once."
)
@click.option(
    "--rounds",
    type=click.IntRange(1),
    default=11,
    show_default=True,
    help="How often every kernel is measured.",
)
@click.option("--signature-only", is_flag=True, help="Print only the signature.")
@json_option
@click.pass_context
def bench(
    ctx: click.Context,
    deck: str,
    seconds: float,
    threads: int,
    rounds: int,
    signature_only: bool,
    as_json: bool,
) -> None:
    """Measure every kernel, interleaved, against the yardstick.

    First the signature of the first million deals of seed 0: games, cards, tricks, loops, and a
    hash over all outcomes. It is computed with every kernel (exit 1 if they differ) and does not
    depend on the number of threads or the machine.

    The yardstick, plain, is a compiled engine of byte queues, card by card, the way public
    engines work, with a full shuffle. Rates are medians over the rounds; a ratio is to the
    yardstick in the same round.

    \b
    Examples:
      bmn bench
      bmn bench --seconds 60 --threads 2 --json
      bmn bench --signature-only
    """
    chosen = Deck.parse(deck)
    chosen_kernel()  # a wrong BMN_KERNEL is told before anything is measured
    with Progress() as progress:
        kernels = [*available_kernels()[::-1], YARDSTICK]
        signatures = {}
        for kernel in kernels:
            progress.tell(f"signature of {kernel}")
            signatures[kernel] = benchmarks.signature(kernel, usable_cores())
        signature = signatures[kernels[0]]
        wrong = {kernel for kernel, other in signatures.items() if other != signature}
        for kernel in sorted(wrong):
            click.echo(
                f"bmn: kernel {kernel} has another signature: {signatures[kernel]}", err=True
            )
        if wrong or signature_only:
            click.echo(signature)
            ctx.exit(1 if wrong else 0)
        if not as_json:
            click.echo(f"signature  {signature}")
            sys.stdout.flush()
        measured = benchmarks.measure(
            chosen,
            seconds=seconds,
            threads=threads,
            rounds=rounds,
            progress=lambda done, of: progress.tell(f"round {done} of {of}"),
        )
    if as_json:
        print_json(_document(signature, chosen, threads, rounds, measured))
    else:
        _print_table(measured)


def _document(
    signature: str, deck: Deck, threads: int, rounds: int, measured: list[benchmarks.Measurement]
) -> dict[str, object]:
    kernels = {}
    for row in measured:
        kernels[row.kernel] = {
            "play_only": row.play_only.median,
            "with_dealing": row.with_dealing.median,
            "cards": row.cards,
            "play_only_ratio": row.play_only.ratio,
            "play_only_ratio_quartiles": [row.play_only.ratio_least, row.play_only.ratio_most],
            "with_dealing_ratio": row.with_dealing.ratio,
            "with_dealing_ratio_quartiles": [
                row.with_dealing.ratio_least,
                row.with_dealing.ratio_most,
            ],
        }
    return {
        "signature": signature,
        "deck": deck.name,
        "threads": threads,
        "rounds": rounds,
        "kernels": kernels,
    }


def _print_table(measured: list[benchmarks.Measurement]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("kernel")
    for column in (
        "play only, games/s",
        "ratio (quartiles)",
        "with dealing",
        "ratio (quartiles)",
        "cards/s",
    ):
        table.add_column(column, justify="right")
    for row in measured:
        cells = []
        for figure in (row.play_only, row.with_dealing):
            spread = f"({figure.ratio_least:.2f}-{figure.ratio_most:.2f})"
            cells += [f"{figure.median:,.0f}", f"{figure.ratio:.2f} {spread}"]
        table.add_row(row.kernel, *cells, f"{row.cards:,.0f}")
    console = Console()
    console.width = max(console.width, 100)
    console.print(table)
