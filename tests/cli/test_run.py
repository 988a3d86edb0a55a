"""The terminal: events as JSON lines, sentences for people, exit codes that mean something."""

import json
import math
import signal
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from dsebo.cli import app
from dsebo.config import METHODS
from dsebo.parsing import config_flags
from objectives.fields import must, not_one_of
from tests.processes import dsebo as command
from tests.processes import start

SMALL = ["--D", "40", "--d-e", "4", "--d-h", "12", "--d-l", "2", "--beta", "3", "--budget", "20"]


def dsebo(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_json_lines() -> None:
    shown = dsebo("run", *SMALL, "--seed", "2", "--no-store", "--json")
    assert shown.exit_code == 0, shown.stderr
    events = [json.loads(line) for line in shown.stdout.splitlines()]
    assert [events[0]["event"], events[-1]["event"]] == ["started", "finished"]
    evaluated = [event for event in events if event["event"] == "evaluated"]
    assert [event["t"] for event in evaluated] == list(range(1, 21))
    assert {"t", "y", "best", "d", "seconds"} <= set(evaluated[0])
    expanded = next(event for event in events if event["event"] == "expanded")
    assert {
        "t",
        "d_from",
        "d_to",
        "dims",
        "bests",
        "slopes",
        "s_min",
        "s_max",
        "k",
        "delta_before",
        "delta_after",
        "T_before",
        "T_after",
        "text",
    } <= set(expanded)


def test_what_takes_more_than_an_hour_is_asked_about_first(tmp_path: Path) -> None:
    db = f"sqlite:///{tmp_path}/long.db"
    long = ["--D", "40", "--d-e", "4", "--d-h", "12", "--budget", "5000"]
    asked = dsebo("run", *long, "--db", db)
    assert asked.exit_code == 2
    assert asked.stderr.splitlines()[-1].endswith("Give --yes to start it.")
    assert dsebo("sweep", *long, "--vary", "beta=4,8", "--db", db).exit_code == 2
    assert dsebo("runs", "--json", "--db", db).stdout.strip() == "[]"
    refused = dsebo("run", *long[:-1], "100000", "--yes", "--db", db)
    assert refused.exit_code == 2
    assert "is over the limit of" in refused.stderr


def test_for_people() -> None:
    shown = dsebo("run", *SMALL, "--no-store")
    assert shown.exit_code == 0, shown.stderr
    assert "DSEBO on sphere, D = 40" in shown.stdout
    assert "No gain above 0.5" in shown.stdout
    finished = json.loads(dsebo("run", *SMALL, "--no-store", "--json").stdout.splitlines()[-1])
    assert f"From 4 at the centre to {finished['best']:.3g}." in shown.stdout  # processors differ


def test_config_file_with_flags_over_it(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"objective": {"name": "levy", "D": 30, "d_e": 3}, "budget": 4}))
    shown = dsebo("run", "--config", str(file), "--budget", "3", "--no-store", "--json")
    started = json.loads(shown.stdout.splitlines()[0])
    assert started["config"]["objective"]["name"] == "levy"
    assert started["config"]["budget"] == 3


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--d-e", "2000"], must("d_e", "a whole number from 1 to D = 1000", 2000)),
        (["--d-l", "50", "--d-h", "20"], "d_l must be a whole number"),
        (["--beta", "nan"], must("beta", config_flags()["beta"].allowed, math.nan)),
        (["--budget", "many"], must("budget", config_flags()["budget"].allowed, "many")),
        (["--function", "spher"], "Did you mean 'sphere'?"),
        (["--config", "missing.json"], "cannot be read"),
        (["--method", "simplex"], not_one_of("method", METHODS, "simplex")),
    ],
)
def test_bad_input_exits_with_2_and_a_sentence(flags: list[str], sentence: str) -> None:
    shown = dsebo("run", *flags)
    assert shown.exit_code == 2
    assert sentence in shown.stderr
    assert isinstance(shown.exception, SystemExit)
    assert shown.stdout == ""


def test_interrupt_ends_cleanly_with_what_was_found() -> None:
    words = command("run", "--no-store", "--json", "--budget", "400")
    process = start(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["t"] == 5:
            break
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=60)
    last = json.loads(rest.splitlines()[-1])
    assert process.returncode == 130
    assert (last["event"], last["state"]) == ("finished", "interrupted")
    assert last["best"] is not None
    assert "Traceback" not in errors


def test_help_lists_the_papers_symbols(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    shown = dsebo("run", "--help")
    for flag in ("--D", "--d-e", "--K", "--c", "--beta", "--d-l", "--d-h", "--variant"):
        assert f"{flag} " in shown.stdout


def test_functions_are_listed() -> None:
    shown = dsebo("functions")
    assert "michalewicz" in shown.stdout


def test_the_list_says_which_functions_have_gradients() -> None:
    said = {line.split()[0]: line for line in dsebo("functions").stdout.splitlines()}
    assert said["sphere"].endswith(". Has gradients.")
    assert said["limo"].endswith(". No gradients: the floor does not apply.")
