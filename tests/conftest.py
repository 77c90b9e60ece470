"""Fixtures and helpers that several test modules share."""

import contextlib
import io
import json
import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bmn_search import cli
from bmn_search.deal import Deal
from bmn_search.outcome import Outcome
from bmn_search.rules import STANDARD, Rules

ROOT = Path(__file__).parent.parent
CASES = json.loads((Path(__file__).parent / "data" / "public_cases.json").read_text())


def case_deal(case: dict) -> Deal:
    return Deal((case["player1"], case["player2"]), case["leader"])


def same_game(one: Outcome, other: Outcome) -> bool:
    """Whether two outcomes are equal in all but the engine that made them."""
    return replace(one, engine="") == replace(other, engine="")


def odd_deal(rng: random.Random, most: int) -> Deal:
    """Deal some cards of any composition, split anywhere; either player leads."""
    size = rng.randint(2, most)
    pay_cards = rng.randint(0, size if rng.random() < 0.5 else min(size, 5))
    cards = [rng.choice("JQKA") for _ in range(pay_cards)] + ["-"] * (size - pay_cards)
    rng.shuffle(cards)
    first = rng.randint(1, size - 1)
    return Deal(("".join(cards[:first]), "".join(cards[first:])), rng.randint(1, 2))


def odd_rules(rng: random.Random) -> Rules:
    """Make rules for two players: other penalties, either leader, limits, verdicts."""
    penalties = STANDARD.penalties
    if rng.random() < 0.5:
        penalties = tuple(rng.choice([0, 1, 2, 3, 4, 5, 9, 15]) for _ in range(4))
    return Rules(
        "odd",
        penalties=penalties,
        next_leader=rng.choice(["winner", "payer"]),
        out_of_cards=rng.choice(["loses", "pile-to-demander", "debt-passes"]),
        max_tricks=rng.choice([None, None, rng.randint(1, 8)]),
        max_cards=rng.choice([None, None, rng.randint(1, 60)]),
        on_limit=rng.choice(["none", "draw", "most-cards"]),
        on_repeat=rng.choice(["none", "draw", "most-cards"]),
    )


@pytest.fixture
def bmn(monkeypatch):
    """Run a command as the console script does, in this process; returns how it finished."""
    monkeypatch.setattr(cli, "_behave_like_a_tool", lambda: None)
    monkeypatch.chdir(ROOT)
    at_rest = signal.getsignal(signal.SIGINT)

    def run(*arguments: str, stdin: str = "", check: int | None = None):
        stdout, stderr = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with (
            contextlib.redirect_stdout(stdout),
            contextlib.redirect_stderr(stderr),
            pytest.raises(SystemExit) as left,
        ):
            cli.main(arguments)
        signal.signal(signal.SIGINT, at_rest)
        code = left.value.code
        done = subprocess.CompletedProcess(arguments, code, stdout.getvalue(), stderr.getvalue())
        if check is not None:
            assert done.returncode == check, (done.stdout, done.stderr)
        return done

    return run
