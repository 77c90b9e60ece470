"""`bmn info`."""

import platform
from importlib.metadata import version

import click

from bmn_search import compiled
from bmn_search.cli.options import json_option, print_json


@click.command()
@json_option
def info(as_json: bool) -> None:
    """Say which version this is, what the CPU offers, and which kernel is used.

    BMN_KERNEL=NAME in the environment forces a kernel.

    \b
    Examples:
      bmn info
      BMN_KERNEL=portable bmn info --json
    """
    compiler, vectors = compiled.compiler()
    document = {
        "version": version("bmn_search"),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "compiler": compiler,
        "cpu_features": [name for name, offered in compiled.cpu_features().items() if offered],
        "kernels_built": list(compiled.KERNELS if vectors else compiled.KERNELS[:2]),
        "kernels_available": compiled.available_kernels(),
        "kernel": compiled.chosen_kernel(),
    }
    if as_json:
        print_json(document)
        return
    for name, value in document.items():
        text = " ".join(value) if isinstance(value, list) else value
        click.echo(f"{name.replace('_', ' '):19}{text}")
