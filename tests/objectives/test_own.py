"""A function of one's own: from its file to a run, whatever it does; and never from anywhere else."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from dsebo import Problem, RunConfig, minimize
from dsebo.cli import app
from dsebo.cli.flags import flags_of_function
from dsebo.cli.output import EXIT_INTERRUPTED
from dsebo.config import config_hash, parse_flat
from dsebo.runs.manager import RunManager
from dsebo.settings import Settings
from dsebo.store.errors import StoreError
from dsebo.store.store import Store
from dsebo.transfer import FORMATS, ImportDesk, import_bytes
from objectives import own
from objectives.fields import ConfigError
from objectives.own import Source, as_number, offer

FILE = """
import os, time
import numpy as np
from dsebo import Problem

def f(x):
    return float(((x - 1.0) ** 2)[:3].sum())

def raises(x):
    if x[0] > 0:
        raise ValueError("no value here")
    return float(x[0])

def hangs(x):
    if x[0] > 0:
        time.sleep(600)
    return float(x[0])

def dies(x):
    os._exit(3)

def prints(x):
    print("evaluating", flush=True)
    return float(x[0])

def leaves(x):
    import subprocess
    import sys
    started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(617)"])
    with open(__file__ + ".started", "a") as file:
        print(started.pid, file=file)
    started.wait()
    return 0.0

def stops(x):
    if not os.path.exists(__file__ + ".go"):
        raise KeyboardInterrupt
    return float(x[0])

def exits(x):
    if x[0] > 0:
        raise SystemExit("enough of it")
    return float(x[0])

number = 3
problem = Problem(f, [(-5.0, 10.0)] * 12, names=[f"v{i}" for i in range(12)], minimum=0.0, name="mine")
"""


@pytest.fixture(autouse=True)
def _only_here(monkeypatch: Any) -> Iterator[None]:
    """What a test offers is forgotten."""
    monkeypatch.setenv(own.VARIABLE, "")
    monkeypatch.setattr(own, "_offered", None)
    yield
    for name in [name for name in sys.modules if name.startswith("dsebo_own_")]:
        del sys.modules[name]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my_problem.py"
    path.write_text(FILE)
    return path


def call(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == code, result.output
    return result


def evaluations(output: str) -> list[dict[str, Any]]:
    events = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return [event for event in events if event["event"] == "evaluated"]


def flags(file: Path, name: str) -> list[str]:
    return ["--function", f"{file}:{name}", "--bounds=-5,10", "--D", "6"]


SHORT = ["--method", "random", "--budget", "8", "--no-store", "--json"]


def test_a_plain_function_runs_in_its_own_units(file: Path) -> None:
    shown = call("run", *flags(file, "f"), *SHORT).stdout
    started = json.loads(shown.splitlines()[0])
    objective = started["config"]["objective"]
    assert {**objective, "fingerprint": ""} == {
        "kind": "own",
        "name": "my_problem:f",
        "fingerprint": "",
        "D": 6,
        "noise": 0.0,
    }
    assert re.fullmatch(r"[0-9a-f]{16}", objective["fingerprint"])
    assert started["at_centre"] is None  # every evaluation may be dear
    assert len(evaluations(shown)) == 8
    (row,) = json.loads(call("evaluate", *flags(file, "f"), "--constant", "0", "--json").stdout)
    assert row["y"] == pytest.approx(3 * (2.5 - 1.0) ** 2)


def test_a_problem_has_its_bounds_and_works_everywhere(file: Path) -> None:
    assert offer(Source(f"{file}:problem")) == "mine"
    config = parse_flat({"function": "mine", "method": "random", "budget": 4})
    assert (config.D, config.objective.build().minimum) == (12, 0.0)
    problem = own.offered()["mine"].problem
    found = minimize(problem, budget=12, method="random")
    assert (found.nfev, found.nit, found.status, found.success) == (12, 12, 0, True)
    assert found.fun == pytest.approx(problem.f(found.x))
    axis = ["--vary", "method=random,centre", "--seeds", "1-2", "--budget", "3", "--workers", "1", "--yes"]
    shown = call("sweep", "--function", f"{file}:problem", *axis, "--db", f"sqlite:///{file.parent}/sweep.db")
    assert "random" in shown.output.lower()


def test_failures_are_told_and_the_run_goes_on(file: Path) -> None:
    found = evaluations(call("run", *flags(file, "raises"), *SHORT).stdout)
    assert {e["error"] for e in found if e["failed"]} == {"ValueError: no value here"}
    assert any(not e["failed"] for e in found)
    assert len(found) == 8


def test_an_evaluation_that_hangs_is_ended_and_one_that_dies_is_told(file: Path) -> None:
    found = evaluations(call("run", *flags(file, "hangs"), *SHORT, "--timeout", "1", "--budget", "4").stdout)
    assert {e["error"] for e in found if e["failed"]} == {"TooSlow: no value within 1 s"}
    assert any(not e["failed"] for e in found)
    died = evaluations(
        call("run", *flags(file, "dies"), *SHORT, "--workers", "1", "--budget", "2", code=1).stdout
    )
    assert all("ended with code 3" in e["error"] for e in died)


def test_what_a_function_prints_does_not_disturb_its_process(file: Path) -> None:
    found = evaluations(call("run", *flags(file, "prints"), *SHORT, "--workers", "2").stdout)
    assert not any(e["failed"] for e in found)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "got None"),
        ("3.0", "got '3.0'"),
        (1 + 2j, r"got \(1\+2j\)"),
        (np.zeros(3), r"got an array of shape \(3,\)"),
        ([1.0], r"got \[1\.0\]"),
        (np.array(1j), "got 1j"),
    ],
)
def test_what_is_no_number_is_a_failure_in_a_sentence(value: Any, words: str) -> None:
    with pytest.raises(TypeError, match=f"must return a number \\({words}\\)"):
        as_number(value)


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.array([2.0]), np.array([[2]]), np.int64(2)])
def test_what_is_one_number_is_taken(value: Any) -> None:
    assert as_number(value) == 2.0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["FILE:missing", "--bounds=-5,10", "--D", "6"], "has no missing"),
        (["FILE:number", "--bounds=-5,10", "--D", "6"], "a function of a point, or a Problem (got 3)"),
        (["FILE:f"], "needs its bounds and D"),
        (["FILE:f", "--bounds=-5,10"], "needs its bounds and D"),
        (["FILE:f", "--bounds=10,-5", "--D", "6"], "the lower below the upper"),
        (["FILE:f", "--bounds=-5", "--D", "6"], "bounds must be two numbers, such as -5,10"),
        (["FILE:f", "--bounds=-5,10", "--D", "many"], "D must be a whole number"),
        (["FILE:f", "--bounds=-5,10", "--D", "6", "--workers", "-1"], "workers must be a whole number"),
        (["FILE:f", "--bounds=-5,10", "--D", "6", "--timeout", "0"], "timeout must be a number of seconds"),
        (["nowhere.py:f", "--bounds=-5,10", "--D", "6"], "there is no file"),
        (["FILE", "--bounds=-5,10", "--D", "6"], "such as my_problem.py:f"),
        (["BROKEN:f", "--bounds=-5,10", "--D", "6"], "cannot be executed: SyntaxError"),
        (["LEAVES:f", "--bounds=-5,10", "--D", "6"], "cannot be executed: SystemExit"),
        (["sphere", "--bounds=-5,10"], "--bounds is for a function of one's own"),
    ],
)
def test_what_cannot_be_called_is_refused_in_a_sentence(file: Path, words: list[str], said: str) -> None:
    (file.parent / "broken.py").write_text("def f(x: return 1")
    (file.parent / "leaves.py").write_text("raise SystemExit(1)")
    named = {"FILE": file, "BROKEN": file.parent / "broken.py", "LEAVES": file.parent / "leaves.py"}
    for name, path in named.items():
        words = [word.replace(name, str(path)) for word in words]
    shown = call("run", "--function", *words, *SHORT, code=2)
    assert said in " ".join(shown.output.split())


def test_the_dashboard_refuses_it_to_a_class(file: Path, monkeypatch: Any, tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text('mode = "class"\n')
    monkeypatch.setenv("DSEBO_SETTINGS", str(settings))
    words = ["app", f"{file}:f", "--bounds=-5,10", "--D", "6", "--no-browser"]
    assert "local mode" in " ".join(call(*words, code=2).output.split())
    offer(Source(f"{file}:problem"))
    store = Store.open(f"sqlite:///{tmp_path}/class.db")
    manager = RunManager(store, Settings(mode="class"))
    with pytest.raises(ConfigError, match="local mode only"):
        manager.launch(parse_flat({"function": "mine", "method": "random", "budget": 3}))
    manager.close()
    store.close()


def test_a_run_without_its_function_can_be_looked_at_but_not_carried_on(
    file: Path, store: Store, monkeypatch: Any
) -> None:
    url = store.engine.url.render_as_string()
    call("run", "--function", f"{file}:problem", "--method", "random", "--budget", "4", "--db", url)
    (row,) = store.list_runs()
    data = FORMATS["json"].runs
    assert data is not None
    bundle = data(store, [row.id])
    mine = store.config(row.id)

    monkeypatch.setattr(own, "_offered", {})
    again = RunConfig.from_json(mine.to_json().encode())
    assert config_hash(again) == config_hash(mine)
    assert again.objective.unavailable() == "The function mine is not here: start dsebo with its file."
    assert store.point(row.id, 2).shape == (12,)
    assert all(record.runs(store, [row.id]) for record in FORMATS.values() if record.runs)
    assert len(import_bytes(store, bundle, "runs.json")) == 1
    uploaded = ImportDesk().take(store, Settings(), bundle, "runs.json", "anna")  # through a browser too
    assert uploaded.ids == [row.id]
    manager = RunManager(store, Settings())
    with pytest.raises(StoreError, match="mine is not here"):
        manager.extend(row.id, 5)
    manager.close()
    with pytest.raises(ConfigError, match="function must be one of"):
        parse_flat({"function": "mine"})

    monkeypatch.setattr(own, "_offered", None)
    for name in [name for name in sys.modules if name.startswith("dsebo_own_")]:
        del sys.modules[name]
    file.write_text(FILE + "\n# changed\n")
    offer(Source(f"{file}:problem"))
    assert "is another one here" in again.objective.unavailable()
    assert config_hash(parse_flat({"function": "mine", "method": "random", "budget": 4})) != config_hash(mine)


def test_problems_say_what_is_wrong_with_them() -> None:
    with pytest.raises(ConfigError, match="f must be a function of a point"):
        Problem(3, [(0, 1)])  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="names must be one for each of the 2 variables"):
        Problem(sum, [(0, 1), (0, 1)], names=["a"])
    with pytest.raises(ConfigError, match=r"bounds\[0\]"):
        Problem(sum, [(1, 0)])
    with pytest.raises(ConfigError, match="bounds must be"):
        minimize(lambda x: 0.0)


def test_what_a_function_started_ends_with_its_time_out(file: Path) -> None:
    given = [*flags(file, "leaves"), *SHORT, "--timeout", "1", "--budget", "2"]
    assert all(row["failed"] for row in evaluations(call("run", *given, code=1).stdout))
    for started in Path(f"{file}.started").read_text().split():
        ended = Path("/proc") / started / "stat"
        assert not ended.exists() or ended.read_text().rpartition(") ")[2].startswith("Z")


def test_a_function_that_exits_has_failed_and_the_run_goes_on(file: Path) -> None:
    rows = evaluations(call("run", *flags(file, "exits"), *SHORT).stdout)
    assert len(rows) == 8
    assert {row["error"] for row in rows if row["failed"]} == {"SystemExit: enough of it"}


def test_why_an_evaluation_failed_is_said_at_the_end(file: Path, tmp_path: Path) -> None:
    given = ["--method", "random", "--budget", "8", "--db", str(tmp_path / "runs.db")]
    shown = call("run", *flags(file, "raises"), *given).output
    assert "The last reason: ValueError: no value here." in " ".join(shown.split())
    with closing(Store.open(str(tmp_path / "runs.db"))) as store:
        (row,) = store.list_runs()
        frame = store.evaluations(row.id)
    assert set(frame.loc[frame["failed"], "error"]) == {"ValueError: no value here"}
    assert frame.loc[~frame["failed"], "error"].isna().all()


def test_a_stored_run_goes_on_where_its_file_is_named(file: Path, tmp_path: Path) -> None:
    db = str(tmp_path / "runs.db")
    given = ["--method", "random", "--budget", "4", "--db", db]
    shown = call("run", *flags(file, "stops"), *given, code=EXIT_INTERRUPTED).output
    Path(f"{file}.go").touch()
    command = re.findall(r"dsebo (resume .*) carries", shown)[0]
    run_id = command.split()[1]
    assert shlex.split(command)[2:] == ["--function", f"{file}:stops", "--bounds=-5,10", "--D", "6"]
    own._offered = None
    own.os.environ[own.VARIABLE] = ""
    assert "start dsebo with its file" in call("resume", run_id, "--db", db, code=2).output
    assert "4/4" in call(*shlex.split(command), "--db", db).output
    assert "--D is for a function" in call("resume", run_id, "--D", "3", "--db", db, code=2).output


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"minimum": "abc"}, "minimum must be a finite number"),
        ({"minimum": float("nan")}, "minimum must be a finite number"),
        ({"name": 5}, "name must be a text"),
        ({"names": ["a", "a"]}, "names must be all different"),
    ],
)
def test_a_problem_that_cannot_be_is_refused_at_once(more: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Problem(lambda x: 0.0, [(0.0, 1.0)] * 2, **more)


def test_bounds_of_a_problem_are_not_given_again(file: Path) -> None:
    for given, flag in ((["--bounds=0,1"], "--bounds"), (["--D", "3"], "--D")):
        shown = call("run", "--function", f"{file}:problem", *given, *SHORT, code=2).output
        assert f"leave out {flag}" in " ".join(shown.split())


def test_the_best_point_has_the_names_of_its_variables() -> None:
    problem = Problem(lambda x: float(x.sum()), [(0.0, 1.0)] * 2, names=["mass", "speed"])
    found = minimize(problem, budget=3, method="random")
    assert found.x is not None
    assert found.named == {"mass": found.x[0], "speed": found.x[1]}
    assert list(minimize(problem.f, problem.bounds, budget=2, method="random").named) == ["x1", "x2"]


def test_the_flags_that_carry_it_on_give_the_same_bounds_to_the_last_digit(file: Path) -> None:
    ends = (-0.1234567890123, 10.000000001)
    name = offer(Source(f"{file}:f", ends, 3))
    flags_of = flags_of_function(parse_flat({"function": name, "budget": 4}))
    (given,) = re.findall(r"--bounds=(\S+)", flags_of)
    assert tuple(float(end) for end in given.split(",")) == ends


def test_a_scalar_of_torch_is_a_number() -> None:
    import torch

    assert as_number(torch.tensor(2.5)) == 2.5
