"""The README tells the truth: its commands are run, its Python is a doctest."""

import doctest
import re
import shlex

import pytest
from conftest import ROOT

README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```console\n(\$ .*?)```", README, re.DOTALL)
COMMANDS = [
    (command, output)
    for block in BLOCKS
    for command, output in re.findall(r"^\$ bmn (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
]


def test_there_are_commands():
    assert len(COMMANDS) >= 6
    assert README.index("make demo") < README.index("make test") < README.index("$ bmn play")


@pytest.mark.parametrize(("command", "output"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_command(bmn, command, output):
    printed = bmn(*shlex.split(command), check=0).stdout
    parts = [re.escape(part) for part in re.split(r"(?: +)?\.\.\.", output)]
    assert re.fullmatch(".*?".join(parts), printed, re.DOTALL), printed


def test_python():
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    test = doctest.DocTestParser().get_doctest(code, {}, "README", "README.md", 0)
    result = doctest.DocTestRunner().run(test)
    assert result.attempted >= 4
    assert result.failed == 0


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
