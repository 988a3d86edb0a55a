"""Bad input ends every command with exit code 2 and one sentence on standard error."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dsebo.cli import app
from dsebo.store.forking import convergences
from dsebo.store.store import Store

NOT_TEXT = b"\xff\xfe\x00"
BUDGET_OF_5 = "[limits.owner]\nbudget = 5\n"
BOMB = "a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in pairwise("abcdefghij")
)
SMALL = "--D 40 --d-e 4 --budget 12"

# ID is a finished run of DSEBO that converged at POINT, OTHER one of random search, FOLDER an empty
# folder, BINARY, LIST and BROKEN are files.
BAD = [
    "--nonsense",
    "simplex",
    "runs --db \0",
    "app --port 0",
    "app --port many",
    "fetch",
    "fetch molecules",
    "fetch mslr --from nowhere.tar.gz",
    "fetch mslr --from BINARY",
    "import LIST --study tuned",
    "import sqlite:///nowhere.db",
    "import nonsense://",
    "run --method optuna --no-store",
    "figure",
    "figure ID",
    "figure ID -o figure.gif",
    "figure missing -o figure.html",
    "figure ID -o figure.html --width 0",
    "figure ID -o figure.html --width wide",
    "figure ID -o figure.html --points 1",
    "figure ID -o figure.html --scale cubic",
    "figure ID -o figure.html --band widest",
    "figure ID -o nowhere/figure.html",
    "run --D 0",
    "run --d-e 2000",
    "run --beta nan",
    "run --method simplex",
    "run --function spher",
    "run --config missing.json",
    "run --config FOLDER",
    "run --config BINARY",
    "run --config LIST",
    "run --config DIGITS",
    "run --config DEEP",
    "run --D 20 --d-e 30",
    "run --D 20 --d-h 30",
    "run --D 20 --d-l 30",
    "run --method dcem --elites 20",
    "run --method dcem --population 5 --elites 5",
    "run --method turbo --L-init 0.005",
    "run --method turbo --L-init 1.7",
    "run --method lm-ma-es --D 20",
    "run --method bandit-ucb-e --D 5",
    "run --config BROKEN",
    "run --nonsense 1",
    "run --D",
    "run --db oracle://host/name",
    "run --db nonsense://host",
    "run --db FOLDER",
    "run --db BINARY",
    "evaluate",
    "evaluate --constant 0 --at BINARY",
    "evaluate --constant 2",
    "evaluate --constant nan",
    "evaluate --constant one",
    "evaluate --constant 0 --beta 3",
    "evaluate --constant 0 --function spher",
    "evaluate --at missing.csv",
    "evaluate --at FOLDER",
    "evaluate --at BINARY",
    "race --methods simplex",
    "race --methods rembo:scale=huge",
    "race --seeds 3-1",
    "race --seed 3",
    "race --D many",
    "race --db FOLDER",
    "sweep",
    "sweep nobody",
    "sweep missing.yaml",
    "sweep BINARY",
    "sweep FOLDER",
    "sweep BROKEN.yaml",
    "sweep BOMB.yaml",
    "sweep LOOP.yaml",
    "sweep --preset nonsense",
    "sweep --vary beta",
    "sweep --vary beta=4:32",
    "sweep --vary nonsense=1,2",
    "sweep --vary beta=4,8 --seeds x",
    "sweep --vary beta=4,8 --workers 0",
    "sweep --vary beta=4,8 -o runs.docx",
    "sweep --vary beta=4,8 -o missing/runs.csv",
    "sweep --vary beta=4,8 -o FOLDER",
    "sweep --vary beta=4,8 --config missing.json",
    "sweep --vary beta=4,8 --cluster tcp://127.0.0.1:1",
    "sweep nobody --pause",
    "sweep --vary beta=4,8 --db FOLDER",
    "floor --dims 5,x",
    "floor --dims 0",
    "floor --method random",
    "floor --run nobody",
    "floor --run ID --D 9",
    "floor --config missing.json",
    "floor --db FOLDER",
    "runs --state odd",
    "runs --sort nonsense",
    "runs --limit 0",
    "runs --limit 99999999999999999999",
    "runs --limit many",
    "runs --search a\x00b",
    "runs --db FOLDER",
    "runs --db BINARY",
    "runs --db oracle://host/name",
    "runs --db ://",
    "show",
    "show nobody",
    "show ID --db FOLDER",
    "run --ghost nobody",
    "run --ghost ID --no-store",
    "fork nobody --at 3",
    "fork ID",
    "fork ID --at 1",
    "fork ID --at many",
    "fork ID --at POINT --decide -1",
    "fork ID --at POINT --decide 1000",
    "fork ID --at POINT --set beta",
    "fork ID --at POINT --set beta=0",
    "fork ID --at POINT --set d_h=12",
    "fork ID --at POINT --set seed=12",
    "fork ID --at POINT --set gamma=1",
    "fork ID --at POINT --budget 3",
    "fork OTHER --at 2",
    "fork ID --at POINT --db FOLDER",
    "resume nobody",
    "resume ID",
    "resume ID --db BINARY",
    "export",
    "export nobody",
    "export --group nobody",
    "export ID --format docx",
    "export ID --format parquet",
    "export ID --format html",
    "export ID --format optuna",
    "export ID -o FOLDER",
    "export ID -o missing/runs.csv",
    f"export ID -o {'9' * 400}",
    "export ID --format optuna -o FOLDER",
    "export ID --format optuna -o missing/runs.db",
    "export ID --format html -o missing/runs.html",
    "export ID --db FOLDER",
    "import",
    "import missing.json",
    "import FOLDER",
    "import BINARY",
    "import BROKEN",
    "import LIST",
    "import BROKEN --db FOLDER",
    "delete",
    "delete nobody",
    "delete ID nobody",
    "delete ID --db FOLDER",
    "methods --nonsense",
    "methods dsebo",
    "functions --nonsense",
]
OVER_THE_LIMIT = [
    "fork ID --at POINT",
    f"run {SMALL}",
    f"race {SMALL} --seeds 1",
    f"sweep {SMALL} --vary beta=4,8 --seeds 1",
]


@pytest.fixture
def words(
    tmp_path: Path, two: list[str], url: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """What the words in capitals stand for."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DSEBO_DB", url)
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(NOT_TEXT * 500)
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "broken.json").write_text('{\n"format": }')
    (tmp_path / "broken.yaml").write_text("base: [\n")
    (tmp_path / "bomb.yaml").write_text(BOMB)
    (tmp_path / "loop.yaml").write_text("base: &a [*a]\n")
    (tmp_path / "digits.json").write_text('{"budget": %s}' % ("9" * 5000))
    (tmp_path / "deep.json").write_text("[" * 100_000)
    files = {"BOMB.yaml": "bomb.yaml", "LOOP.yaml": "loop.yaml", "DIGITS": "digits.json", "DEEP": "deep.json"}
    files |= {"BROKEN.yaml": "broken.yaml", "BROKEN": "broken.json", "LIST": "list.json"}
    runs = {"ID": two[0], "OTHER": two[1], "POINT": str(convergences(store, two[0])[0])}
    return {**runs, "FOLDER": "folder", "BINARY": "binary", **files}


def refused(line: str, words: dict[str, str]) -> str:
    """What is said; the exit code is 2, in one sentence, with nothing on standard output."""
    shown = CliRunner().invoke(app, [words.get(word, word) for word in line.split()])
    assert shown.exit_code == 2, f"{shown.exit_code}: {shown.output} {shown.exception!r}"
    assert isinstance(shown.exception, SystemExit)
    assert len(shown.stderr.splitlines()) == 1, shown.stderr
    assert shown.stderr.rstrip()[-1] in ".?", shown.stderr
    assert shown.stdout == ""
    return shown.stderr


@pytest.mark.parametrize("line", BAD)
def test_bad_input(line: str, words: dict[str, str], store: Store) -> None:
    assert "Input should" not in refused(line, words)  # pydantic's words, not ours
    assert store.count_runs() == 2  # nothing was stored, nothing deleted


@pytest.mark.parametrize("line", OVER_THE_LIMIT)
def test_over_the_limits(
    line: str, words: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "settings.toml").write_text(BUDGET_OF_5)
    monkeypatch.setenv("DSEBO_SETTINGS", str(tmp_path / "settings.toml"))
    assert "within the limit of 5 evaluations" in refused(line, words)


def test_every_command_is_tried() -> None:
    commands = {command.name for command in app.registered_commands}
    assert {line.split()[0] for line in BAD} >= commands
