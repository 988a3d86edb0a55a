"""A sweep's form as values, its time left, and what is kept of its runs; without a page."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import delete

from dsebo.config import METHODS
from dsebo.experiments.progress import STORED, read_curves
from dsebo.experiments.records import ExperimentRow, create_experiment, get_experiment, progress
from dsebo.experiments.spec import ExperimentSpec
from dsebo.experiments.status import progress_words, setting_line, share, time_left, words
from dsebo.paper.presets import PRESETS
from dsebo.runs.manager import RunManager
from dsebo.runs.worker import stored_run
from dsebo.store import schema
from dsebo.ui import cache
from dsebo.ui.experiments.form import Draft
from dsebo.ui.experiments.vary_form import VARY, usual_values
from objectives.fields import ConfigError

BASE = {"objective": {"D": 20, "d_e": 3}, "optimizer": {"d_l": 2, "d_h": 10}, "budget": 8}
SPEC = ExperimentSpec.parse({"base": BASE, "axes": {"beta": [2, 6]}, "seeds": "1-2"})


def hashes(spec: ExperimentSpec) -> list[str]:
    return [one.hash for one in spec.planned()]


# --- values and links -----------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
def test_a_preset_survives_the_form_and_the_link(preset: object) -> None:
    spec = preset.spec  # type: ignore[attr-defined]
    draft = VARY.of_spec(spec)
    assert hashes(VARY.spec(draft)) == hashes(spec)
    assert VARY.spec(draft).name == spec.name
    assert VARY.spec(draft.but(seeds="1-3")).name != spec.name  # it is another sweep
    again, refused = VARY.from_link(VARY.link(draft))
    assert refused == []
    assert hashes(VARY.spec(again)) == hashes(spec)


@pytest.mark.parametrize("method", list(METHODS))
def test_every_field_of_every_method_can_be_swept_from_the_form(method: str) -> None:
    draft, unusable = VARY.from_link({"method": method, "D": "200", "budget": "40"})
    assert unusable == []
    for field, spec in VARY.axis_fields({"method": method}).items():
        text = usual_values(field, spec)
        assert len(text.split(",")) >= 2, field
        swept = draft.but(vary=f"{field}={text}", also="")
        if refused := _refused(swept):  # a value that the other settings do not allow is named
            assert field in refused or "Cell" in refused
        else:
            assert VARY.spec(swept).axes[0].field == field


def _refused(draft: Draft) -> str:
    try:
        VARY.spec(draft)
    except ConfigError as error:
        return str(error)
    return ""


def test_a_name_and_odd_values_go_through_the_link() -> None:
    draft = VARY.of_spec(SPEC).but({"kernel": "rbf"}, name="mine & <yours>", vary="beta=2:6:2")
    link = VARY.link(draft)
    assert link["kernel"] == "rbf"
    assert "beta" not in link
    again, refused = VARY.from_link(link)
    assert refused == []
    assert again.texts["name"] == "mine & <yours>"
    assert VARY.spec(again).axes[0].values == (2.0, 4.0, 6.0)


def test_a_function_axis_lets_each_function_have_its_own_shift() -> None:
    draft = VARY.of_spec(SPEC).but(also="function=sphere,griewank")
    spec = VARY.spec(draft)
    assert {one.config.objective.c for one in spec.planned()} == {1.0, 10.0}
    moved = VARY.spec(draft.but({"c": 2.0}))
    assert {one.config.objective.c for one in moved.planned()} == {2.0}


def test_a_base_that_does_not_fit_alone_may_fit_in_every_cell() -> None:
    draft, _ = VARY.from_link({"D": "20", "d_e": "3", "d_h": "10", "vary": "D=100,200"})
    assert VARY.spec(draft.but({"d_e": 30})).total == 20


@pytest.mark.parametrize(
    "bad",
    [
        {"vary": "zz=1,2"},
        {"vary": "beta=" + "1," * 400},
        {"also": "beta"},
        {"seeds": "0x1"},
        {"D": "-3"},
        {"vary": "beta=1:2:nan"},
        {"seeds": "1-99999"},
        {"unknown": "x"},
        {"seeds": ",".join(map(str, range(200)))},
        {"vary": "function=sphere,levy,foo"},
        {"also": "method=dsebo,foo"},
        {"vary": "d_h=60,80", "also": "d_h=90,100"},
        {"also": "beta=3,4"},
    ],
    ids=range(13),
)
def test_a_bad_link_gives_one_sentence_and_a_form_that_works(bad: dict[str, str]) -> None:
    draft, refused = VARY.from_link(bad)
    assert len(refused) == 1
    assert VARY.spec(draft).total > 0


def test_what_a_link_names_wrongly_is_said_with_what_is_allowed() -> None:
    _, refused = VARY.from_link({"vary": "function=sphere,levy,foo"})
    assert refused[0].startswith("The link's function must be one of ")
    assert "levy" in refused[0]
    draft, refused = VARY.from_link({"vary": "beta=2,6", "also": "beta=3,4"})
    assert refused == ["The link's also must be another setting than those before (got 'beta')."]
    assert (draft.texts["vary"], draft.texts["also"]) == ("beta=2,6", "")


# --- status ---------------------------------------------------------------------------------


def frame_of(spec: ExperimentSpec, states: list[str], seconds: float = 4.0) -> pd.DataFrame:
    rows = [
        {
            "cell": one.cell.index,
            "seed": one.seed,
            "state": state,
            "wanted": "pause" if state == "paused" else "run",
            "n_done": 8 if state == "finished" else 4 if state == "running" else 0,
            "budget": 8,
            "seconds": seconds if state == "finished" else np.nan,
        }
        for one, state in zip(spec.planned(), states, strict=True)
    ]
    return pd.DataFrame(rows)


def row(state: str, wanted: str = "run", error: str | None = None) -> ExperimentRow:
    return ExperimentRow("a" * 32, "name", SPEC, state, wanted, 0.0, 0.0, None, error, "local", 2)


def test_the_share_counts_evaluations() -> None:
    assert share(frame_of(SPEC, ["missing"] * 4)) == 0.0
    assert share(frame_of(SPEC, ["finished", "running", "missing", "missing"])) == 12 / 32
    short = frame_of(SPEC, ["finished"] * 4)
    short["n_done"] = 3  # a method that had nothing more to ask
    assert share(short) == 1.0


def test_the_time_left_is_set_right_by_what_was_measured() -> None:
    states = ["finished", "missing", "missing", "missing"]
    slow = time_left(SPEC, frame_of(SPEC, states, 0.4), 2)
    fast = time_left(SPEC, frame_of(SPEC, states, 0.2), 2)
    kept = STORED * 8  # the evaluations of one run
    assert slow == pytest.approx(3 * (0.4 + kept) / 2)
    assert fast == pytest.approx(3 * (0.2 + kept) / 2)
    assert time_left(SPEC, frame_of(SPEC, ["finished"] * 4), 2) == 0.0
    alone = time_left(SPEC, frame_of(SPEC, ["finished"] * 3 + ["missing"], 0.4), 2)
    assert alone == pytest.approx(0.4 + kept)  # one run has one core
    forever = time_left(SPEC, frame_of(SPEC, states, 1e6), 2)
    assert forever < 1e3


def test_progress_in_words() -> None:
    states = ["finished", "failed", "running", "missing"]
    said = progress_words(row("running"), frame_of(SPEC, states, 0.4))
    assert said.startswith("1 of 4 runs finished · 1 failed · about ")
    assert said.endswith("left on 2 cores")
    assert "left" not in progress_words(row("running", "pause"), frame_of(SPEC, states))
    assert progress_words(row("finished"), frame_of(SPEC, ["finished"] * 4)).endswith("16 s of computing")
    assert words(row("running", "cancel")) == "Being cancelled."
    assert words(row("running")) == ""
    assert "code 9" in words(row("interrupted", error="It ended with code 9."))


def test_a_run_that_is_paused_by_hand_is_named_in_place_of_the_time() -> None:
    held = frame_of(SPEC, ["finished", "finished", "failed", "paused"])
    assert progress_words(row("running"), held) == (
        "2 of 4 runs finished · 1 failed · 1 run is paused; the experiment waits for it"
    )
    assert "waits" not in progress_words(row("paused", "pause"), held)
    two = frame_of(SPEC, ["finished", "finished", "paused", "paused"])
    assert progress_words(row("running"), two).endswith("the experiment waits for them")
    busy = frame_of(SPEC, ["finished", "finished", "missing", "paused"])
    assert progress_words(row("running"), busy).endswith("left on 2 cores")


def test_the_setting_in_one_line() -> None:
    line = "β = 2, 6 · seeds 1-2 · Sphere · DSEBO · D = 20 · dₑ = 3 · c = 1 · budget = 8"
    assert setting_line(SPEC) == line
    many = ExperimentSpec.parse({"axes": {"beta": list(range(1, 21))}, "seeds": [1]})
    assert "… 20" in setting_line(many)
    race = ExperimentSpec.parse({"axes": {"method": ["dsebo:variant=adaptive", "random"]}, "seeds": [1]})
    assert setting_line(race).startswith("DSEBO, our rules; Random search · seeds 1 · Sphere")


# --- what is kept ---------------------------------------------------------------------------


@pytest.fixture
def sweep(manager: RunManager) -> ExperimentRow:
    """A sweep whose runs have all been made."""
    for one in SPEC.planned():
        list(stored_run(one.config, manager.store))
    return get_experiment(manager.store, create_experiment(manager.store, SPEC))


def test_curves_are_read_once(
    manager: RunManager, sweep: ExperimentRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = progress(manager.store, sweep)
    curves = cache.SHARED.curves(manager.store, frame)
    assert set(curves) == set(frame["run_id"])
    run_id = frame["run_id"][0]
    stored = manager.store.evaluations(run_id)
    np.testing.assert_array_equal(curves[run_id].best, stored["best"])
    np.testing.assert_array_equal(curves[run_id].d, stored["d"])

    def refuse(*_: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr("dsebo.charts.curves.read_curves", refuse)
    assert cache.SHARED.curves(manager.store, frame)[run_id] is curves[run_id]


def test_a_thinned_run_keeps_its_values_until_the_next(manager: RunManager, sweep: ExperimentRow) -> None:
    run_id = progress(manager.store, sweep)["run_id"][0]
    whole = manager.store.evaluations(run_id)
    table = schema.evaluation
    with manager.store.write() as connection:
        connection.execute(delete(table).where(table.c.run_id == run_id, table.c.t.in_([3, 4, 7])))
    best, d = read_curves(manager.store, [run_id])[run_id]
    assert len(best) == 8
    assert best[2] == best[3] == whole["best"][1]
    assert (best[7], d[7]) == (whole["best"][7], whole["d"][7])
    assert read_curves(manager.store, ["none"]) == {}


def test_many_who_look_at_once_read_the_frame_once(
    manager: RunManager, sweep: ExperimentRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = cache.SHARED.frame(manager.store, sweep)
    assert cache.SHARED.frame(manager.store, sweep) is first
    monkeypatch.setattr(cache, "FRESH", -1.0)
    assert cache.SHARED.frame(manager.store, sweep) is not first


def test_a_form_of_many_cells() -> None:
    draft, _ = VARY.from_link({"vary": "beta=1:40:1", "also": "d_h=60:99:1", "seeds": "1"})
    assert VARY.spec(draft).total == 1600
