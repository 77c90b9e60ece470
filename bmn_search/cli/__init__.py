"""The console script `bmn`: commands that read, call the package, and print.

Commands are loaded when they are called for, so that `bmn --help` is quick.
"""

import contextlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from bmn_search.errors import BmnError, CoreMissingError

__all__ = ["bmn", "main"]

# Command, the module in this folder that holds it, and its line in `bmn --help`.
COMMANDS = {
    "play": ("play", "Play deals and say how they end."),
    "verify": ("verify", "Replay known deals and compare with what is claimed of them."),
    "deal": ("deal", "Check, number and convert deals."),
    "rules": ("rules", "List the rule sheets."),
    "stats": ("stats", "Play sampled deals and tell how long games are."),
    "plot": ("plot", "Draw games and cycles."),
    "bench": ("bench", "Measure the kernels against a yardstick."),
    "info": ("info", "Say what this machine offers and which kernel is used."),
    "cycle": ("cycle", "Study the cycle of a deal that never ends, and its basin."),
    "ancestors": ("ancestors", "List the balanced deals that lead to a deal, the longest first."),
    "search": ("search", "Look for long games and for games that never end."),
    "finds": ("finds", "List, show, export and import what searches found."),
}


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"bmn_search.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="bmn_search", message="bmn_search %(version)s")
def bmn() -> None:
    """Beggar-My-Neighbour, exactly and fast.

    A deal is written as two packets, top card first: - is a plain card, J Q K A are pay cards.

    \b
    Examples:
      bmn play ---AJ--Q---------QAKQJJ-QK/-----A----KJ-K--------A---
      bmn play J--/-J- --any-deck --trace
      bmn verify
      bmn deal from-index 472460898658889399111
      bmn search random --seconds 20
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; every error is one line on stderr and exit code 2, never a traceback."""
    _behave_like_a_tool()
    try:
        code = bmn.main(arguments, prog_name="bmn", standalone_mode=False)
        if sys.stdout is None:
            code = _complain("stdout is closed: nothing could be printed")
        else:
            sys.stdout.flush()
    except (BmnError, CoreMissingError) as error:
        code = _complain(str(error))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        code = 2
    except click.ClickException as error:
        hint = ""
        if isinstance(error, click.UsageError) and error.ctx:
            hint = f" (see {error.ctx.command_path} --help)"
        code = _complain(error.format_message() + hint)
    except (click.Abort, KeyboardInterrupt):
        code = 130
    except OSError as error:
        code = _complain(f"output cannot be written: {error.strerror}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that nothing is left to fail at exit
    except MemoryError as error:
        code = _complain(
            f"not enough memory: {str(error) or 'a smaller deck or --chunk needs less'}"
        )
    sys.exit(code if isinstance(code, int) else 0)


def _behave_like_a_tool() -> None:
    """Let signals end the program at once; print any number and any name.

    A command that has something to keep on Ctrl-C handles it itself.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "SIGPIPE"):  # whoever reads our output may stop, as `head` does
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.set_int_max_str_digits(0)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _complain(message: str) -> int:
    with contextlib.suppress(OSError):
        click.echo(f"bmn: {' '.join(message.split())}", err=True)
    return 2
