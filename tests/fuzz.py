"""Seeded hostility: command lines and files that nobody means well with."""

from __future__ import annotations

import copy
import json
import random
import signal
from functools import cache
from pathlib import Path
from typing import Any

import typer
from click.testing import CliRunner

from dsebo.analysis.curves import EVERYTHING
from dsebo.charts.compare import figure_of_groups, groups_of
from dsebo.charts.run import figure_of
from dsebo.charts.scales import SCALES
from dsebo.cli import app, load_command
from dsebo.runs.data import read_run
from dsebo.store.store import Store
from dsebo.transfer import FORMATS
from tests.transfer.files import attempt, whole

TEXTS = (
    *(
        "",
        " ",
        "0",
        "-1",
        "2",
        "3",
        "0.5",
        "nan",
        "inf",
        "-inf",
        "1e400",
        "0x10",
        "٣",
        "1_0",
        " 5 ",
        "9" * 400,
    ),
    *("x", "ü", "[/x]", "\x1b[31mred", "\x00", "\u202ex", "%s{0}", "a=b", "beta=", "=4", "beta=4,8", "1:9:0"),
    *("1-3", "3-1", ",", "null", "{}", "[1]", "../..", "/", "~", "-", "--", "javascript:alert(1)", "'; drop"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1, 2**31, 2**63, 10**400, 1e308, -1e308, 1e-320, float("nan"), float("inf"), 1e10),
    *("", "x", "\x1b[31m", "<script>alert(1)</script>", "[/x]", "**b** $x$", "a" * 20_000, "\ud800", "\x00"),
    *([], {}, [[]], [None], {"a": {}}, [1e308, -1e308], {"event": "x"}),
)
QUICK = ("random", "centre", "dsebo")  # methods whose runs take no time
SMALL = ("--D", "40", "--d-e", "4", "--d-h", "12")
MOST_SECONDS = 60  # of one command
LAST = ("--budget", "3", "--d-e", "4", "--D", "40")  # whatever was given before: nothing takes long


class TookTooLong(AssertionError):
    """A command that should have ended by now."""


@cache
def commands() -> Any:
    """The terminal's commands, put together once: that takes longer than most of them."""
    return typer.main.get_command(app)


def command_line(chance: random.Random, ids: list[str], folder: Path) -> list[str]:
    """A command with some of its flags, and values that may or may not be meant for them."""
    each = commands().commands
    name = chance.choice([*each, "nonsense"])
    words = [name]
    known = load_command(name).params if name in each else []
    flags = [flag for option in known for flag in option.opts if flag.startswith("-")]
    takes_settings = "--beta" in flags
    values = (*TEXTS, *QUICK, "sphere", "ackley", *ids, ids[0][:4], str(folder), str(folder / "out.json"))
    if takes_settings and chance.random() < 0.7:
        words += SMALL
    for _ in range(chance.randrange(5)):
        flag = chance.choice([*flags, "--nonsense", ""])
        words += [flag] if flag else []
        words += [chance.choice(values)] if chance.random() < 0.85 else []
    if takes_settings:
        words += ["--method", chance.choice(QUICK)] if name in ("run", "sweep") else []
        words += ["--methods", ",".join(QUICK)] if name == "race" and chance.random() < 0.5 else []
        words += ["--seeds", "1-2"] if name in ("race", "sweep") else []
        words += LAST
    if name == "app":  # never let it start
        words += ["--port", "0"]
    return words


def check_command_line(words: list[str]) -> str:
    """Run it; an AssertionError where it shows a traceback, or writes control characters. How it ended."""

    def end(*_: Any) -> None:
        raise TookTooLong(words)

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(MOST_SECONDS)
    try:
        shown = CliRunner().invoke(commands(), words)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert shown.exception is None or isinstance(shown.exception, SystemExit), (words, shown.exception)
    assert shown.exit_code in (0, 1, 2), (words, shown.exit_code, shown.output)
    assert "Traceback" not in shown.output, (words, shown.output)
    assert not any(ord(c) < 32 and c not in "\n\r\t" for c in shown.output), (words, shown.output)
    return {0: "done", 1: "failed", 2: "refused in a sentence"}[shown.exit_code]


def hostile_bundle(chance: random.Random, bundle: bytes) -> bytes:
    """A bundle in which some values are others."""
    whole_file = json.loads(bundle)
    for run in whole_file["runs"]:  # of another seed: the same run would not come in twice
        run["config"]["seed"] = chance.randrange(2**31)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        _spoil(whole_file, chance)
    return json.dumps(whole_file).encode()


def _spoil(value: Any, chance: random.Random) -> None:
    """Replace, double or leave out something that is a few steps inside."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = chance.choice(keys)
        inside = value[key]
        if isinstance(inside, dict | list) and inside and chance.random() < 0.85:
            value = inside
            continue
        kind = chance.random()
        if kind < 0.8:
            value[key] = copy.deepcopy(chance.choice(VALUES))
        elif kind < 0.9:
            del value[key]
        elif isinstance(value, list):
            value.append(copy.deepcopy(inside))
        else:
            value["extra"] = copy.deepcopy(inside)
        return


def check_import(store: Store, data: bytes) -> list[str]:
    """What came in of it, whole; any other end than that or a sentence is a crash."""
    before = store.count_runs()
    ids, why = attempt(store, data, "x.json")
    assert ids or (store.count_runs() == before and why and "\n" not in why), why
    assert all(whole(store, run_id) for run_id in ids)
    return ids


def check_shown(store: Store, ids: list[str]) -> None:
    """Charts, comparisons, exports and the terminal stand what has come in."""
    runs = [read_run(store, run_id) for run_id in ids]
    for run in runs:
        for scale in SCALES:
            figure_of(run, scale).to_json()
    for scale in SCALES:
        figure_of_groups(groups_of(runs, EVERYTHING), "median", scale, True).to_json()
    for form in FORMATS.values():
        if form.runs is not None:
            assert form.runs(store, ids)
    for words in (["runs"], *(["show", run_id] for run_id in ids[:20])):
        assert check_command_line([*words, "--db", str(store.engine.url.database)]) == "done"
