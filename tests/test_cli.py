"""The command line: its contract with people and with machines."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import CASES, ROOT

RECORD = "---AJ--Q---------QAKQJJ-QK/-----A----KJ-K--------A---"
CASELLA = "---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA"
KEYS = [
    "deal",
    "rules",
    "status",
    "winner",
    "cards",
    "tricks",
    "transient_cards",
    "transient_tricks",
    "cycle_cards",
    "cycle_tricks",
    "mirror",
    "counting",
    "engine",
]


def documents(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_help_teaches(bmn):
    for command in ((), ("play",), ("verify",), ("deal",), ("deal", "index"), ("search", "random")):
        shown = bmn(*command, "--help", check=0).stdout
        assert "Example" in shown
        assert "bmn " in shown


def test_version(bmn):
    assert bmn("--version", check=0).stdout.startswith("bmn_search 0.")


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_json_has_exactly_these_keys(bmn, engine):
    (outcome,) = documents(bmn("play", RECORD, "--json", "--engine", engine, check=0))
    assert list(outcome) == KEYS
    assert outcome["counting"] == {
        "until_called": {"cards": 8345, "tricks": 1165},
        "completed_tricks": {"cards": 8344, "tricks": 1164},
    }
    assert (outcome["engine"], outcome["winner"], outcome["mirror"]) == (engine, 2, None)
    (loop,) = documents(bmn("play", CASELLA, "--json", "--engine", engine, check=0))
    assert (loop["status"], loop["cycle_tricks"], loop["mirror"]) == ("loop", 62, False)


def test_cases_from_stdin_in_order(bmn):
    deals = [f"{case['player1']}/{case['player2']}" for case in CASES]
    done = bmn("play", "-", "--any-deck", "--json", stdin="\n".join(deals), check=0)
    outcomes = documents(done)
    assert [outcome["deal"] for outcome in outcomes] == deals
    for outcome, case in zip(outcomes, CASES, strict=True):
        assert case.get("identity") or outcome["cards"] == case["expected"]["cards"]
    assert done.stderr == ""


def test_ways_to_give_a_deal(bmn, tmp_path):
    whole = RECORD.replace("/", "")
    file = tmp_path / "deals"
    file.write_text(f"# records\n{RECORD}\n\n{CASELLA}\n")
    for arguments in ([RECORD], [RECORD.replace("/", " | ")], RECORD.split("/"), [whole]):
        (outcome,) = documents(bmn("play", *arguments, "--json", check=0))
        assert (outcome["deal"], outcome["cards"]) == (RECORD, 8344)
    assert [outcome["cards"] for outcome in documents(bmn("play", str(file), "--json"))] == [
        8344,
        474,
    ]
    assert len(documents(bmn("play", RECORD, CASELLA, "--json", check=0))) == 2
    (two,) = documents(bmn("play", "--any-deck", "J-/--", "--leader", "2", "--json", check=0))
    assert two["deal"] == "J-/-- leader=2"
    (uva,) = [case for case in CASES if "raw" in case]
    for text in (uva["raw"], uva["raw"] + "\n#\n"):
        (read,) = documents(bmn("play", "--format", "uva", "-", "--json", stdin=text, check=0))
        assert (read["winner"], read["cards"]) == (2, 89)


def test_a_bad_line_does_not_stop_the_others(bmn):
    done = bmn("play", "-", "--json", stdin=f"{RECORD}\nnonsense\n{CASELLA}\nJ/-\n", check=2)
    assert [outcome["cards"] for outcome in documents(done)] == [8344, 474]
    complaints = done.stderr.splitlines()
    assert len(complaints) == 2
    assert complaints[0].startswith("bmn: stdin, line 2: 'n' at position 1")
    assert complaints[1].startswith("bmn: stdin, line 4: the deal fits no named deck")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["play", "J--x/-J-"], "'x' at position 4 of packet 1"),
        (["play", "J--/-J-"], "fits no named deck"),
        (["play", "--Jx-/-J-"], "'x' at position 4 of packet 1"),
        (["play", RECORD.replace("A", "K", 1)], "missing: 1 A; too many: 1 K"),
        (["play", RECORD, "--deck", "camicia40"], "the deal does not fit: camicia40"),
        (["play", RECORD, "--deck", "piquet"], "deck 'piquet' is unknown"),
        (["play", "/J"], "packet 1 is empty"),
        (["play", RECORD, "--rules", "house"], "rules 'house' are unknown"),
        (["play", RECORD, "--penalties", "A=99"], "penalty 99 of A"),
        (["play", RECORD, "--max-tricks", "0"], "max-tricks"),
        (["play", RECORD, "--leader", "3"], "leader 3"),
        (["play", RECORD, "--engine", "slow"], "slow"),
        (["play", RECORD, "--no-such-option"], "No such option"),
        (["play"], "Missing argument"),
        (["play", "nowhere.txt"], "nor is there a file of that name"),
        (["play", "/tmp"], "cannot be read: Is a directory"),
        (["play", "--max_tricks", "5", RECORD], "No such option"),
        (["play", "J/-/Q", "--any-deck"], "choose rules for more players"),
        (["play", "--format", "uva", "H2 H3"], "2 cards: a UVa deck has 52"),
        (["play", "J-", "--players", "1", "--any-deck"], "to 1 players"),
        (["play", "J-", "--players", "9" * 30, "--any-deck"], "2 cards cannot be dealt"),
        (["deal", "index", "J--/-J-"], "name its deck (--deck 4-,2J)"),
        (["deal", "convert", "J/--", "--any-deck", "--to", "whole"], "cannot be told"),
        (["deal", "index", f"{RECORD} leader=2"], "has no number"),
        (["deal", "from-index", "653534134886878245000"], "out of range"),
        (["deal", "from-index", "-1"], "index -1 is out of range"),
        (["deal", "from-index", "x"], "'x' is no index"),
        (["deal", "check", "J--/-J-"], "fits no named deck"),
        (["verify", "nowhere.txt"], "cannot be read"),
        (["search", "random", "--deck", "1-"], "expected 2 to 65,535"),
        (["search", "random", "--seed", "-1"], "seed"),
        (["nonsense"], "No such command"),
    ],
)
def test_bad_input_is_one_clear_line(bmn, arguments, words):
    done = bmn(*arguments, check=2)
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("bmn: ")
    assert words in done.stderr


def test_a_wrong_claim_fails(bmn):
    good = f"deal: {RECORD}\ncards: 8345\n"
    done = bmn("verify", "-", stdin=good, check=0)
    assert "8345 cards (8344 in ours): this source lets the winner lead once more" in done.stdout
    done = bmn("verify", "-", stdin=good + f"\ndeal: {RECORD}\ncards: 8343\n", check=1)
    assert "cards: claimed 8343, computed 8344" in done.stdout
    done = bmn(
        "verify", "-", "--json", stdin=good + f"\ndeal: {CASELLA}\nstatus: finished\n", check=1
    )
    first, second = documents(done)
    assert (first["agrees"], first["convention"]) == (True, "until_called")
    assert (second["agrees"], second["convention"]) == (False, None)
    assert done.stderr == ""


def test_records_that_cannot_be_read(bmn):
    done = bmn("verify", "pyproject.toml", check=2)
    assert done.stdout == ""
    assert all(line.startswith("bmn: pyproject.toml:") for line in done.stderr.splitlines())
    done = bmn("verify", "-", stdin=f"deal: {RECORD}\ncards: 8344\n\nbad\n", check=2)
    assert "1 claim replayed with both engines: 1 hold" in done.stdout
    assert done.stderr.startswith("bmn: stdin:4: 'bad'")


def test_verify_begins_with_the_first_published_deal(bmn):
    done = bmn("verify", check=0)
    assert done.stdout.splitlines()[0] == "00-arxiv-2403.13855.txt"
    assert "yes  Casella 2024" in done.stdout.splitlines()[1]
    assert " 0 fail" in done.stdout


def test_deal_commands(bmn):
    (index,) = documents(bmn("deal", "index", CASELLA, "--json", check=0))
    assert index == {"deal": CASELLA, "deck": "standard52", "index": 472460898658889399111}
    done = bmn("deal", "from-index", "472460898658889399111", "--json", check=0)
    assert documents(done) == [index]
    (checked,) = documents(bmn("deal", "check", CASELLA, "--json", check=0))
    assert checked["deck"] == "standard52"
    assert checked["sizes"] == [26, 26]
    for arguments, text in (
        (["J-/QA", "--any-deck", "--to", "digits"], "10/24"),
        (["J-/QA", "--any-deck", "--to", "whole", "--exchange"], "QAJ- leader=2"),
        ([CASELLA, "--to", "index"], "472460898658889399111"),
    ):
        assert bmn("deal", "convert", *arguments, check=0).stdout == f"{text}\n"


def test_distinct_and_limit(bmn):
    (outcome,) = documents(bmn("play", CASELLA, "--distinct", "--json", check=0))
    assert (outcome["cards"], outcome["tricks"]) == (33034, 4654)
    (all_told,) = documents(bmn("play", CASELLA, "--distinct-all", "--json", check=0))
    assert all_told["cycle_tricks"] % outcome["cycle_tricks"] == 0
    (limited,) = documents(bmn("play", CASELLA, "--max-tricks", "65", "--json", check=0))
    assert (limited["status"], limited["tricks"], limited["cycle_tricks"]) == ("unknown", 65, None)


def test_trace_as_json(bmn):
    *events, outcome = documents(bmn("play", "J-/--", "--any-deck", "--trace", "--json", check=0))
    assert list(outcome) == KEYS
    assert events[0] == {
        "packets": ["-", "--"],
        "pile": "J",
        "action": "lays",
        "player": 1,
        "card": "J",
        "sizes": [1, 2],
        "table": 1,
        "debt": 1,
        "cards": 1,
        "tricks": 0,
    }


def test_three_players(bmn):
    arguments = ("play", "Q----/-J---/-----", "--any-deck", "--rules", "full-rules", "--json")
    (outcome,) = documents(bmn(*arguments, check=0))
    assert outcome["engine"] == "reference"
    assert outcome["mirror"] is None


def test_rules_are_listed(bmn):
    assert len(documents(bmn("rules", "--json", check=0))) == 7
    assert "the payer leads" in bmn("rules", check=0).stdout


def test_ctrl_c_ends_what_keeps_nothing(tmp_path):
    program = str(Path(sys.executable).parent / "bmn")
    huge = tmp_path / "huge"
    huge.write_text("-" * 3_000_000 + "J" * 1_000 + "/" + "-J" * 50_000)
    process = subprocess.Popen(
        [program, "play", str(huge), "--any-deck"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=10)
    assert process.returncode == -signal.SIGINT
    assert stderr == b""


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ("bmn verify >/dev/full", 2, "output cannot be written: No space left on device"),
        ("bmn play J/x --any-deck 2>/dev/full", 2, ""),
        ("bmn play J/- --any-deck >&-", 2, "stdout is closed"),
        ("bmn play - --any-deck <&-", 2, "stdin is closed"),
        ("bmn verify - <&-", 2, "stdin is closed"),
        ("bmn play - </dev/null", 2, "no deals found"),
        ("bmn verify - </dev/null", 2, "no deals found"),
        (r"printf 'deal: \xff\n' | bmn verify -", 2, "expected UTF-8"),
        (r"printf '\xef\xbb\xbfJ/-\n' | bmn play - --any-deck", 0, ""),
        ("bmn play --any-deck -- J-/--", 0, ""),
        ("bmn deal from-index $(printf '9%.0s' $(seq 5000))", 2, "out of range"),
        (
            "bmn play J/- --any-deck --penalties J=$(printf '9%.0s' $(seq 5000))",
            2,
            "cannot be read",
        ),
        ("bmn play --notation digits --any-deck $(printf '01%.0s' $(seq 300))", 0, ""),
        ("bmn deal from-index 5 --deck 999999999-", 2, "expected 2 to 65,535"),
        ("echo 0 3488399 | bmn deal from-index - --deck half20", 0, ""),
    ],
)
def test_odd_surroundings(command, code, words):
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=60, env=environment
    )
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == bool(words)


def test_a_closed_pipe_is_no_error():
    program = str(Path(sys.executable).parent / "bmn")
    shell = f"{program} play '{RECORD}' --trace | head -2; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "141"  # killed by SIGPIPE, as other tools are


def test_the_missing_compiled_module_is_told(tmp_path):
    """A copy of the package without the compiled module says how to build it."""
    package = tmp_path / "bmn_search"
    for source in (ROOT / "bmn_search").rglob("*.py"):
        target = package / source.relative_to(ROOT / "bmn_search")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source.read_text())
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import bmn_search.cli as c; c.main()"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, "play", "J/-"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(pytest.__file__).parent.parent)},
        cwd=tmp_path,
    )
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "pip install ." in done.stderr
