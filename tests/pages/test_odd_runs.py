"""Pages and reports on runs as odd as a file may make them: huge, untold, without an evaluation."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dsebo.analysis.curves import EVERYTHING
from dsebo.charts.compare import figure_of_groups, groups_of, table_of
from dsebo.charts.run import figure_of
from dsebo.charts.scales import SCALES
from dsebo.config import parse_flat
from dsebo.runs.data import read_run
from dsebo.runs.manager import RunManager
from dsebo.transfer import FORMATS, export_json, import_bytes, import_path
from tests.pages.conftest import open_page, said
from tests.small_run import SMALL

Change = Callable[[dict[str, Any]], object]
HUGE = 9e299


def _huge(run: dict[str, Any]) -> None:
    run["at_centre"] = best = HUGE
    for evaluation in run["evaluations"][:20]:
        evaluation["y"] = HUGE
    for evaluation in run["evaluations"]:
        best = evaluation["best"] = min(best, evaluation["y"])
    for event in run["events"]:
        if "bests" in event:
            event |= {"bests": [HUGE] * len(event["bests"]), "slopes": [-HUGE] * len(event["slopes"])}


def _emptied(run: dict[str, Any]) -> None:
    nothing = {"bests": [None], "slopes": [], "dims": [], "s_min": None, "k": None, "delta_before": None}
    for event in run["events"]:
        if "bests" in event:
            event |= {**nothing, "T_before": 0, "T_after": 0, "d_to": 20}


def _of_others(run: dict[str, Any]) -> None:
    pulled = {"d_from": None, "d_to": 2, "dims": [], "pulls": [], "means": [], "bests": [], "scores": []}
    run["events"] += [
        {"event": "arm-pulled", "t": 3, **pulled, "text": "x"},
        {
            "event": "subspace-changed",
            "t": 3,
            "d_from": None,
            "d_to": 0,
            "variables": [],
            "angle": None,
            "text": "",
        },
        {"event": "never-heard-of", "t": 3, "more": {"a": [1]}},
    ]


ODD: dict[str, Change] = {
    "huge": _huge,
    "emptied": _emptied,
    "of others": _of_others,
    "told twice": lambda run: run.update(events=run["events"] * 2),
    "told nothing": lambda run: run.update(events=[]),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_run_is_shown(name: str, manager: RunManager, finished: Callable[..., str]) -> None:
    store, good = manager.store, finished()
    bundle = json.loads(export_json(store, [good]))
    ODD[name](bundle["runs"][0])
    manager.delete(good)  # of a run that is here no second copy is made
    odd = import_bytes(store, json.dumps(bundle).encode(), "x.json")[0]
    manager.restore(good)
    for page, link in (
        ("run", {"run": odd}),
        ("replay", {"run": odd, "t": "7"}),
        ("embedding", {"run": odd}),
        ("compare", {"runs": f"{odd},{good}"}),
        ("runs", {}),
    ):
        at = open_page(page, **link)
        assert not at.exception, (page, at.exception)
    assert "not what was computed here" in said(open_page("run", run=odd))
    runs = [read_run(store, odd), read_run(store, good)]
    for scale in SCALES:
        assert figure_of(runs[0], scale).to_json()
        assert figure_of_groups(groups_of(runs, EVERYTHING), "median", scale, True).to_json()
    assert "imported" in "".join(table_of(groups_of(runs, EVERYTHING))["source"])
    html = FORMATS["html"]
    assert html.runs is not None
    assert b"finished, imported" in html.runs(store, [odd, good])


def test_runs_without_an_evaluation_are_compared(manager: RunManager) -> None:
    ids = manager.launch(parse_flat(SMALL).seeds(3), paused=True)
    at = open_page("compare", runs=",".join(ids))
    assert not at.exception
    html = FORMATS["html"]
    assert html.runs is not None
    assert b"Compared" in html.runs(manager.store, ids)
    for run_id in ids:
        manager.cancel(run_id)


def test_an_imported_study_is_shown(
    manager: RunManager, finished: Callable[..., str], tmp_path: Path
) -> None:
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    address = f"sqlite:///{tmp_path / 'study.db'}"
    study = optuna.create_study(storage=address, study_name="tuned", direction="maximize")
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1) - trial.suggest_int("n", 1, 3), n_trials=3)
    imported, good = import_path(manager.store, address).ids[0], finished()
    for page, link in (
        ("run", {"run": imported}),
        ("run", {"run": imported, "show": "why"}),
        ("replay", {"run": imported, "t": "2"}),
        ("embedding", {"run": imported}),
        ("compare", {"runs": f"{imported},{good}"}),
        ("runs", {}),
    ):
        at = open_page(page, **link)
        assert not at.exception, (page, at.exception)
    words = said(open_page("run", run=imported)).replace("\\", "")
    assert "not what was computed here. The study maximises: its values are shown negated." in words
    for key, form in FORMATS.items():
        if form.runs is not None:
            assert form.runs(manager.store, [imported]), key
