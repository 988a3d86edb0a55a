from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from dsebo.cli import app
from dsebo.runs.commands import change
from dsebo.runs.data import read_run
from dsebo.runs.manager import RunManager
from dsebo.runs.worker import stored_run
from dsebo.settings import Settings
from dsebo.store.forking import convergences
from dsebo.store.store import Store
from dsebo.transfer import export_json
from tests.small import history, reference, small
from tests.transfer.files import pair, zipped


@pytest.fixture
def call(url: str) -> Any:
    def run(*words: str, code: int = 0) -> Result:
        result = CliRunner().invoke(app, [*words, "--db", url])
        assert result.exit_code == code, result.output
        return result

    return run


def test_names_and_texts_are_printed_as_they_are(
    call: Any, store: Store, two: list[str], tmp_path: Path
) -> None:
    change(store, two[0], name="[/x] \x1b[31mred \x9b", error="[bold]\x1b]0;title\x07")
    for words in (["runs"], ["show", two[0]], ["runs", "--json"]):
        output = call(*words).output
        assert "[/x]" in output
        assert "\x1b" not in output
        assert "\x9b" not in output
    assert json.loads(call("runs", "--json").output)[1]["name"] == "[/x] \x1b[31mred \x9b"
    (tmp_path / "[").mkdir()
    odd = tmp_path / "[" / "x].json"
    odd.write_bytes(export_json(store, two))
    assert "2 runs are here" in " ".join(call("import", str(odd)).output.split())
    call("delete", *two)
    assert "2 runs imported" in " ".join(call("import", str(odd)).output.split())
    assert call("runs").output.count("finished, imported") == 2


def test_runs_lists_filters_and_sorts(call: Any, two: list[str]) -> None:
    table = call("runs").output
    assert two[0][:8] in table
    assert "14/14" in table
    assert table.count("finished") == 2
    rows = json.loads(call("runs", "--json").output)
    assert [row["id"] for row in rows] == two[::-1]
    assert {"id", "state", "best", "n_done", "config"} <= set(rows[0])
    assert rows[1]["config"]["objective"]["D"] == 50
    by_name = json.loads(call("runs", "--json", "--sort", "name", "--ascending").output)
    assert [row["name"] for row in by_name] == ["=1+1", "other"]
    assert len(json.loads(call("runs", "--json", "--method", "random").output)) == 1
    assert len(json.loads(call("runs", "--json", "--tag", "a b", "--limit", "5").output)) == 1
    assert json.loads(call("runs", "--json", "--state", "failed").output) == []
    assert "No runs." in call("runs", "--search", "nothing").output
    assert "state must be one of queued" in call("runs", "--state", "odd", code=2).output


def test_a_fork_in_the_terminal(call: Any, two: list[str], store: Store) -> None:
    at = convergences(store, two[0])[0]
    shown = call(
        "fork", two[0][:8], "--at", str(at), "--decide", "7", "--set", "beta=8", "--set", "alpha=0.1"
    )
    assert f"Evaluation {at}: forked from run {two[0][:8]}, β 4 → 8, α 0.5 → 0.1, Δd = 7." in shown.output
    fork = store.list_runs()[0]
    assert read_run(store, fork.id).conclusion in " ".join(shown.output.split())
    assert history(store, fork.id) == reference(store.config(fork.id))
    told = call("show", fork.id).output
    assert f"forked from {two[0]} at evaluation {at}; Δd = 7; before β = 4, α = 0.5" in told
    assert f"ghost {two[0]}" in told
    lines = call("fork", fork.id, "--at", str(at), "--budget", "16", "--name", "longer", "--json").stdout
    events = [json.loads(line) for line in lines.splitlines() if line.startswith("{")]
    assert [event["event"] for event in events[:3]] == ["forked", "expanded", "evaluated"]
    assert [event["t"] for event in events if event["event"] == "evaluated"] == list(range(at + 1, 17))
    assert (store.list_runs()[0].name, store.list_runs()[0].budget) == ("longer", 16)


def test_a_run_names_its_ghost(call: Any, two: list[str], store: Store) -> None:
    call("run", "--D", "20", "--d-e", "2", "--budget", "3", "--method", "random", "--ghost", two[0][:6])
    assert store.list_runs()[0].ghost == two[0]
    assert store.get_run(two[0]).ghost is None


@pytest.mark.parametrize("seed", [10, 2**53])
def test_each_run_is_one_line_on_80_columns(
    call: Any, store: Store, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    names = ["a name that is far longer than the few columns that are left for it", "[red]in brackets[/red]"]
    for name, own in zip(names, [1, seed], strict=True):
        list(stored_run(small(budget=3, seed=own, method="random"), store, name))
    lines = call("runs").output.splitlines()
    assert len(lines) == 1 + len(names)
    assert max(map(len, lines)) <= 80
    for line, row in zip(lines[1:], store.list_runs(), strict=True):
        assert line.startswith(row.short_id)
        assert row.name[:11] in line
        assert "finished" in line
        assert "3/3" in line


def test_show(call: Any, two: list[str]) -> None:
    shown = call("show", two[0][:10]).output
    assert "finished, 14 of 14 evaluations" in shown
    assert "The first step is" in shown
    plain = json.loads(call("show", two[0], "--json").output)
    assert plain["events"][0]["event"] == "started"
    assert plain["versions"]["python"]
    assert call("show", "zz", code=2).output == "'zz' is not a run of this store.\n"


def test_resume(call: Any, store: Store) -> None:
    config, ids = small(budget=12), []
    events = stored_run(config, store, on_id=ids.append)
    for event in events:
        if event.t == 4:
            break
    assert "heard of less than" not in call("runs").output
    events.close()
    shown = call("resume", ids[0][:9]).output
    assert read_run(store, ids[0]).conclusion in " ".join(shown.split())  # of all of it
    assert history(store, ids[0]) == reference(config)
    assert "has finished its 12 evaluations" in call("resume", ids[0], code=2).output


def test_why_a_run_ended_is_said_beside_the_list(call: Any, store: Store, two: list[str]) -> None:
    change(store, two[0], state="interrupted", error="The disk\x1b[31m is full.")
    listed = call("runs")
    assert f"{two[0][:8]} interrupted: The disk [31m is full." in listed.stderr
    assert "full" not in listed.stdout
    assert "is full" in call("show", two[0]).output


def test_resume_all_that_were_at_work(call: Any, store: Store) -> None:
    """Two runs whose process died, one that was paused, one that was cancelled."""
    manager = RunManager(store, Settings(slots=1))
    ids = [manager.launch(small(budget=6, seed=seed), paused=True)[0] for seed in (1, 2, 3, 4)]
    manager.close()
    for run_id in ids[:2]:
        change(store, run_id, wanted="run", error=None)
    change(store, ids[3], state="cancelled")
    said = call("resume", "--all").output
    assert "2 runs resumed." in said
    assert said.count(" finished, best ") == 2
    assert [store.get_run(run_id).state for run_id in ids[2:]] == ["interrupted", "cancelled"]
    for seed, run_id in zip((1, 2), ids, strict=False):
        assert history(store, run_id) == reference(small(budget=6, seed=seed))
    assert "0 runs resumed." in call("resume", "--all").output
    call("resume", code=2)
    call("resume", ids[2], "--all", code=2)


def test_resume_as_json_lines(call: Any, store: Store) -> None:
    ids: list[str] = []
    events = stored_run(small(budget=6, method="random"), store, on_id=ids.append)
    next(events)
    next(events)
    events.close()
    lines = [json.loads(line) for line in call("resume", ids[0], "--json").output.splitlines()]
    assert [line["t"] for line in lines] == [2, 3, 4, 5, 6, 6]
    assert lines[-1]["event"] == "finished"


def test_export_and_import(call: Any, two: list[str], tmp_path: Path, store: Store) -> None:
    frame = pd.read_csv(io.StringIO(call("export", *two, "--format", "csv").output))
    assert len(frame) == 18
    for form in ("csv", "parquet", "json", "optuna"):
        out = tmp_path / f"out.{form}"
        call("export", two[0][:8], "--format", form, "-o", str(out))
        assert out.stat().st_size > 100
    group = store.get_run(two[1]).group
    assert len(pd.read_csv(io.StringIO(call("export", "--group", group).output))) == 4
    assert "ID is missing" in call("export", "--group", "none", code=2).output
    assert "parquet needs a file" in call("export", two[0], "--format", "parquet", code=2).output
    assert "cannot be written" in call("export", two[0], "-o", str(tmp_path), code=2).output
    (tmp_path / "r.zip").write_bytes(zipped(pair()))
    call("import", str(tmp_path / "out.json"), str(tmp_path / "r.zip"))
    assert store.count_runs() == 3  # of the two in the bundle both are here
    (tmp_path / "bad.json").write_text('{\n"format": }')
    assert "bad.json, line 2: not JSON" in call("import", str(tmp_path / "bad.json"), code=2).output
    assert store.count_runs() == 3  # of the two in the bundle both are here


def test_html_comes_from_the_report(call: Any, two: list[str], tmp_path: Path) -> None:
    report = ModuleType("dsebo.transfer.html")
    report.export_html = lambda store, ids: f"<html>{len(ids)}".encode()  # type: ignore[attr-defined]
    before = sys.modules.get("dsebo.transfer.html")
    sys.modules["dsebo.transfer.html"] = report
    try:
        call("export", *two, "--format", "html", "-o", str(tmp_path / "r.html"))
    finally:
        del sys.modules["dsebo.transfer.html"]
        if before is not None:
            sys.modules["dsebo.transfer.html"] = before
    assert (tmp_path / "r.html").read_text() == "<html>2"


def test_delete_and_restore(call: Any, two: list[str], store: Store) -> None:
    call("delete", two[0][:8])
    assert [row.id for row in store.list_runs()] == [two[1]]
    assert two[0] in call("runs", "--deleted", "--json").output
    call("delete", two[0], "--restore")
    assert store.count_runs() == 2


def test_a_store_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("no database" * 100)
    result = CliRunner().invoke(app, ["runs", "--db", str(tmp_path / "x.db")])
    assert result.exit_code == 2
    assert "is not a dsebo store" in result.output
