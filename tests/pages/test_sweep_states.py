"""The Sweep page with a sweep on it: every state, its results, and who may control it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from streamlit.testing.v1 import AppTest

from dsebo.experiments.paired import too_few
from dsebo.experiments.records import get_experiment, list_experiments
from dsebo.experiments.spec import ExperimentSpec
from dsebo.runs.manager import RunManager
from dsebo.settings import Limits, LimitSettings
from dsebo.store import schema
from dsebo.store.errors import StoreError
from dsebo.store.patience import SLOW_WORDS
from dsebo.transfer import FORMATS
from dsebo.ui import controls, session
from dsebo.ui.experiments.view import look
from dsebo.ui.refresh import GOES_ON
from tests.pages.conftest import figures, open_page, said
from tests.pages.sweeps import (
    RANDOM,
    Stored,
    box,
    button,
    children,
    class_mode,
    labels,
    make_runs,
    of_functions,
    one_axis,
    stored,
    titles,
)

__all__ = ["children", "stored"]  # fixtures

# --- its states -----------------------------------------------------------------------------

STATES = {
    "queued": ("is starting", {"Pause", "Cancel"}),
    "running": ("", {"Pause", "Cancel"}),
    "paused": ("Paused.", {"Resume", "Cancel"}),
    "interrupted": ("Every evaluation is kept", {"Resume", "Cancel"}),
    "failed": ("2 of 4 runs did not finish", {"Go on"}),
    "cancelled": ("Cancelled.", {"Go on"}),
    "finished": ("", set()),
}
ALL_BUTTONS = {"Pause", "Cancel", "Resume", "Go on"}


@pytest.mark.parametrize("state", STATES)
def test_each_state_has_its_words_and_buttons(state: str, manager: RunManager, stored: Stored) -> None:
    words, buttons = STATES[state]
    make_runs(manager.store, one_axis(), None if state == "finished" else 2)
    sweep_id = stored(one_axis(), state, "2 of 4 runs did not finish." if state == "failed" else None)
    at = open_page("sweep", sweep=sweep_id)
    assert not at.exception
    assert not at.warning
    assert f"badge[{state}]" in said(at)
    assert words in said(at).replace("\\", "")
    assert controls_of(at) == buttons
    assert ("Runs of each cell" in titles(at)) is (state != "finished")
    assert "Final value, lower is better" in titles(at)  # drawn from the first finished run on
    assert "exclude chance" in said(at)
    assert ("Add 4 seeds" in labels(at)) is (state in ("interrupted", "failed", "cancelled", "finished"))
    at_work = state in ("queued", "running", "paused")
    assert (look(sweep_id).every is not None) is at_work


def test_before_the_first_finished_run_there_is_only_the_grid(manager: RunManager, stored: Stored) -> None:
    at = open_page("sweep", sweep=stored(one_axis(), "running"))
    assert "The first finished run will be drawn here" in said(at)
    assert len(figures(at)) == 1
    assert len(at.dataframe) == 1  # the table of all


def test_a_sweep_that_nobody_has_begun_can_be_taken_up(
    manager: RunManager, stored: Stored, children: list[str]
) -> None:
    sweep_id = stored(one_axis(), "queued")
    with manager.store.write() as connection:
        connection.execute(update(schema.experiment).values(created=time.time() - 100))
    at = open_page("sweep", sweep=sweep_id)
    control(at, "Resume").click().run()
    assert children == [sweep_id]


@pytest.mark.parametrize(
    ("state", "label", "wanted"),
    [("running", "Pause", "pause"), ("paused", "Resume", "run"), ("running", "Cancel", "cancel")],
)
def test_orders_go_through_the_store(
    state: str, label: str, wanted: str, manager: RunManager, stored: Stored, children: list[str]
) -> None:
    sweep_id = stored(one_axis(), state)
    at = open_page("sweep", sweep=sweep_id)
    control(at, label).click().run()
    assert not at.exception
    assert get_experiment(manager.store, sweep_id).wanted == wanted
    assert children == []
    if label == "Pause":
        assert "Pausing after" in said(at)
        assert "Resume" in labels(at)


@pytest.mark.parametrize(
    ("state", "label"), [("interrupted", "Resume"), ("failed", "Go on"), ("cancelled", "Go on")]
)
def test_a_sweep_that_nobody_works_on_gets_another_process(
    state: str, label: str, manager: RunManager, stored: Stored, children: list[str]
) -> None:
    sweep_id = stored(one_axis(), state)
    at = open_page("sweep", sweep=sweep_id)
    control(at, label).click().run()
    assert not at.exception
    assert children == [sweep_id]


def test_a_sweep_goes_on_within_the_limits_only(
    manager: RunManager, stored: Stored, children: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    at = open_page("sweep", sweep=stored(one_axis(), "interrupted"))
    tight = LimitSettings(all=Limits(seconds=0.001))
    monkeypatch.setattr(manager, "settings", manager.settings.model_copy(update={"limits": tight}))
    control(at, "Resume").click().run()
    assert not at.exception
    assert "is over the limit of" in at.toast[0].value
    assert children == []


def test_a_refused_order_is_said(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise StoreError("Sweep is at work in process 7.")

    monkeypatch.setattr(controls, "start_child", refuse)
    at = open_page("sweep", sweep=stored(one_axis(), "interrupted"))
    control(at, "Resume").click().run()
    assert not at.exception
    assert "at work in process 7" in at.toast[0].value


def test_delete_forgets_the_sweep_and_keeps_its_runs(manager: RunManager, stored: Stored) -> None:
    make_runs(manager.store, one_axis())
    at = open_page("sweep", sweep=stored(one_axis(), "finished"))
    button(at, "Delete").click().run()
    assert not at.exception
    assert list_experiments(manager.store) == []
    assert manager.store.count_runs() == 4
    assert "1 experiment deleted" in said(at)
    assert "experiment" not in at.query_params
    button(at, "Undo").click().run()
    assert len(list_experiments(manager.store)) == 1
    assert "experiment" in at.query_params


def test_a_sweep_that_is_gone_says_so(manager: RunManager, stored: Stored) -> None:
    sweep_id = stored(one_axis(), "finished")
    at = open_page("sweep", sweep=sweep_id)
    with manager.store.write() as connection:
        connection.execute(schema.experiment.delete())
    at.run()
    assert not at.exception
    assert "is not an experiment" in said(at).replace("\\", "")


def test_earlier_sweeps_are_listed_and_the_way_back_leads_there(manager: RunManager, stored: Stored) -> None:
    first = stored(one_axis(name="<b>first</b>"), "finished")
    stored(one_axis(name="second"), "interrupted")
    at = open_page("sweep", sweep=first)
    button(at, "Choose nothing").click().run()
    table = at.dataframe[0].value
    assert list(table["Name"]) == ["second", "<b>first</b>"]
    assert list(table["State"]) == ["interrupted", "finished"]
    assert list(table["Varies"]) == ["β 2, 6 × seeds 1-2"] * 2
    assert list(table["Function"]) == ["Sphere"] * 2  # known from its plan: no run has begun
    assert list(table["D"]) == [20] * 2
    assert table["β"].isna().all()  # it varies
    assert list(table["Runs"]) == ["▸ 4", "▸ 4"]


def test_a_name_is_text(manager: RunManager, stored: Stored) -> None:
    spec = one_axis(name="<script>alert(1)</script> **bold** $x$")
    at = open_page("sweep", sweep=stored(spec, "finished"))
    assert r"\<script\>" in said(at)
    assert r"\*\*bold\*\*" in said(at)


# --- results --------------------------------------------------------------------------------


def test_a_finished_sweep_in_sentences_charts_table_and_files(manager: RunManager, stored: Stored) -> None:
    spec = one_axis("1-6")
    make_runs(manager.store, spec)
    at = open_page("sweep", sweep=stored(spec, "finished"))
    assert not at.exception
    text = said(at).replace("\\", "")
    assert "12 of 12 runs finished" in text
    assert any(words in text for words in ("than the seeds do", "ends lowest", "do not tell"))
    table = at.dataframe[-1].value
    best = [row.best for row in manager.store.list_runs() if row.config["optimizer"]["beta"] == 2]
    assert list(table["β"]) == [2.0, 6.0]
    assert list(table["Seeds"]) == [6, 6]
    assert table["Best"][0] == pytest.approx(min(b for b in best if b is not None))
    files = [button.proto.label for button in at.get("download_button")]
    assert files == [form.label for form in FORMATS.values() if form.experiment]
    assert len(figures(at)) == 2  # response and curves; all runs are there, so no grid
    assert "centre" in json.dumps(figures(at))


def test_partial_results_say_how_many_seeds_each_cell_has(manager: RunManager, stored: Stored) -> None:
    spec = one_axis("1-3")
    make_runs(manager.store, spec, 4)
    at = open_page("sweep", sweep=stored(spec, "running"))
    assert "So far: 4 of 6 runs" in said(at)
    assert list(at.dataframe[-1].value["Seeds"]) == [3, 1]
    assert list(at.dataframe[-1].value["of"]) == [3, 3]
    legend = json.dumps(figures(at)[1], ensure_ascii=False)
    assert "β = 2 (n = 3)" in legend
    assert "β = 6 (n = 1)" in legend
    assert too_few(1, 2) in said(at).replace("\\", "")


def test_functions_are_shown_one_at_a_time_and_small_multiples_on_demand(
    manager: RunManager, stored: Stored
) -> None:
    make_runs(manager.store, of_functions())
    at = open_page("sweep", sweep=stored(of_functions(), "finished"))
    assert not at.exception
    text = said(at).replace("\\", "")
    assert "Sphere: " in text
    assert "Levy: " in text
    drawn = figures(at)
    assert len(drawn) == 3  # response, heat map, curves
    assert "Median final value" in json.dumps(drawn[1])
    choices = {group.key.rsplit(" ", 1)[0]: group for group in at.get("button_group")}
    choices["sweep curves"].set_value("Small multiples").run()
    assert not at.exception
    assert "<b>K = 100</b> (n = 6)" in titles(at)
    heat = next(g for g in at.get("button_group") if g.key.startswith("sweep heat"))
    heat.set_value("seconds").run()
    assert "Seconds of one run" in titles(at)
    function = next(g for g in at.get("button_group") if g.key.startswith("sweep function"))
    function.set_value("levy").run()
    assert not at.exception


def test_three_settings_are_seen_together_and_plane_by_plane(manager: RunManager, stored: Stored) -> None:
    axes = {"K": [100, 10_000], "c": [0.5, 1.0], "d_e": [2, 3]}
    spec = ExperimentSpec.parse({"base": RANDOM, "axes": axes, "seeds": "1-2"})
    make_runs(manager.store, spec)
    at = open_page("sweep", sweep=stored(spec, "finished"))
    assert not at.exception
    text = said(at).replace("\\", "")
    assert "Lowest median: K = " in text
    assert "Each line is one run" in text
    drawn = figures(at)
    assert [len(figure["data"]) for figure in drawn[:1]] == [1]
    assert len(drawn[0]["data"][0]["dimensions"]) == 4  # three settings and the best value
    assert "experiment" in drawn[0]["layout"]["meta"]["caption"]
    plane = next(group for group in at.get("button_group") if group.key.startswith("sweep plane"))
    plane.set_value(3).run()
    assert not at.exception
    button(at, "Change and run again").click().run()
    assert not at.exception
    assert at.query_params["third"] in ("d_e=2,3", ["d_e=2,3"])


def test_a_very_large_sweep_is_shown_without_what_cannot_be_told_apart(
    manager: RunManager, stored: Stored
) -> None:
    axes = {"K": list(range(1, 21)), "c": list(range(1, 11))}
    base = {"objective": {"D": 20, "d_e": 3}, "optimizer": {"method": "random"}, "budget": 2}
    spec = ExperimentSpec.parse({"base": base, "axes": axes, "seeds": "1"})
    make_runs(manager.store, spec, 3)
    at = open_page("sweep", sweep=stored(spec, "running"))
    assert not at.exception
    assert "too many cells" in said(at)
    assert "more than 48 cells" in said(at)
    assert len(figures(at)) == 2  # response and heat map
    assert len(at.dataframe[-1].value) == 200


def test_the_form_is_the_sweeps_own_to_be_varied_from_there(manager: RunManager, stored: Stored) -> None:
    at = open_page("sweep", sweep=stored(one_axis(), "finished"))
    button(at, "Change and run again").click().run()
    assert box(at, "Values of β").value == "2,6"
    assert at.query_params["D"] == "20"
    box(at, "Values of β").set_value("2,6,8").run()
    assert at.query_params["vary"] == "beta=2,6,8"
    assert "experiment" in at.query_params  # the experiment is still shown


# --- a class --------------------------------------------------------------------------------


def control(at: AppTest, label: str) -> Any:
    return at.button(key=f"do {label}")


def controls_of(at: AppTest) -> set[str]:
    """The buttons of the experiment itself."""
    return {b.label for b in at.button if str(b.key).startswith("do ")} & ALL_BUTTONS


def _watching(sweep_id: str, **who: str) -> AppTest:
    return open_page("sweep", who, sweep=sweep_id)


def test_in_a_class_only_the_owner_and_the_lecturer_control_a_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: Stored
) -> None:
    class_mode(tmp_path, monkeypatch)
    store = session.manager().store
    sweep_id = stored(one_axis(), "running", owner="a" * 32)
    stranger = _watching(sweep_id, owner="b" * 32)
    assert not stranger.exception
    assert "Only its owner or the lecturer" in said(stranger)
    assert not controls_of(stranger)
    assert {"Pause", "Cancel"} <= labels(_watching(sweep_id, owner="a" * 32))
    lecturer = _watching(sweep_id, owner="b" * 32, lecturer="chalk-on-a-blackboard")
    control(lecturer, "Cancel").click().run()
    assert get_experiment(store, sweep_id).wanted == "cancel"


def test_a_button_that_was_drawn_for_the_owner_does_nothing_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: Stored
) -> None:
    class_mode(tmp_path, monkeypatch)
    store = session.manager().store
    sweep_id = stored(one_axis(), "running", owner="a" * 32)
    at = _watching(sweep_id, owner="a" * 32)
    pause: Callable[[], Any] = control(at, "Pause").click
    at.session_state["owner"] = "b" * 32
    pause().run()
    assert get_experiment(store, sweep_id).wanted == "run"


def test_a_sweep_at_work_says_that_it_waits_for_the_database(
    stored: Stored, manager: RunManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manager.store, "waiting", lambda: SLOW_WORDS)
    at = open_page("sweep", sweep=stored(one_axis(), "running"))
    assert f"{SLOW_WORDS} {GOES_ON}" in said(at)
