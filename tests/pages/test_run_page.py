"""The Run page in each of its states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dsebo.config import parse_flat
from dsebo.runs.commands import change
from dsebo.runs.manager import RunManager
from dsebo.text import typeset
from dsebo.ui import session
from objectives.fields import must
from tests.pages.conftest import components, open_page, said
from tests.pages.presses import press, shown_timeline, timeline_buttons, trigger
from tests.small import wait_for
from tests.small_run import SMALL


def button(at: AppTest, label: str) -> Any:
    return next(one for one in at.button if one.label == label)


def labels(at: AppTest) -> set[str]:
    return {one.label for one in at.button}


def field(at: AppTest, name: str) -> Any:
    return at.number_input(key=f"set_{name}")


def paused(manager: RunManager, steps: int = 3, **more: object) -> str:
    """A run that has made some evaluations and waits."""
    run_id = manager.launch(parse_flat({**SMALL, **more}), paused=True)[0]
    for wanted in range(1, steps + 1):
        manager.step(run_id)
        wait_for(lambda wanted=wanted: manager.store.get_run(run_id).n_done >= wanted)
    return run_id


def test_the_first_screen() -> None:
    at = open_page("run")
    assert not at.exception
    page = said(at)
    for title in ("20\\-second demonstration", "The paper's setting", "β too small"):
        assert title in page
    assert "First step $\\Delta d$ | 7" in page
    assert "20, at most 41" in page
    assert "30.1" in page
    assert "800 kB" in page
    assert "Predicted time" in page
    assert "Predicted memory" in page
    assert "Launch" in labels(at)


def test_a_preset_fills_the_form_and_the_link() -> None:
    at = open_page("run")
    at.button(key="preset beta-large").click().run()
    assert field(at, "beta").value == 32.0
    assert at.query_params["beta"] in ("32", ["32"])
    at.selectbox(key="preset").select("far-shift").run()
    assert field(at, "c").value == 5.0
    assert field(at, "beta").value == 12.0
    field(at, "c").set_value(4.0).run()
    assert at.selectbox(key="preset").value == "own"


def test_a_link_opens_the_same_form() -> None:
    at = open_page("run", D="200", function="levy", beta="7", seed="9")
    assert not at.exception
    assert (field(at, "D").value, field(at, "beta").value, field(at, "seed").value) == (200, 7, 9)
    assert at.selectbox(key="set_function").value == "levy"


def test_a_new_function_brings_its_shift_and_the_variant_its_model() -> None:
    at = open_page("run")
    at.selectbox(key="set_function").select("griewank").run()
    assert field(at, "c").value == 10.0
    at.selectbox(key="set_variant").select("authors").run()
    assert field(at, "kappa_scale").value == 1.0
    at.selectbox(key="set_method").select("random").run()
    assert not at.exception
    assert at.selectbox(key="set_function").value == "griewank"


@pytest.mark.parametrize(
    ("link", "part"),
    [
        ({"D": "many"}, "a whole number from 1"),
        ({"run": "../../etc"}, "not an id of a run"),
        ({"run": "feedbeef"}, "feedbeef"),
        ({"x": "1"}, "is not a setting"),
    ],
)
def test_a_bad_link_shows_one_plain_sentence(link: dict[str, str], part: str) -> None:
    at = open_page("run", **link)
    assert not at.exception
    shown = [one.value.replace("\\", "") for one in [*at.warning, *at.error]]
    assert len(shown) == 1
    assert part in shown[0]


def test_the_scale_that_is_lit_is_the_one_that_is_drawn(manager: RunManager) -> None:
    for function, lit, offered in (
        ("mslr", "linear", ["Linear", "Symlog"]),  # its values are below zero
        ("sphere", "log", ["Log", "Linear", "Symlog"]),
    ):
        (run_id,) = manager.launch(parse_flat({"function": function, "method": "random", "budget": 5}))
        wait_for(lambda run_id=run_id: manager.store.get_run(run_id).state == "finished")
        at = open_page("run", run=run_id)
        assert not at.exception
        scale = next(g for g in at.get("button_group") if g.key.startswith(f"scale {run_id}"))
        assert (scale.value, scale.options) == (lit, offered)


def test_what_follows_from_a_setting_names_gradients() -> None:
    for function, words in (
        ("sphere", "Has gradients."),
        ("mslr", "No gradients: the floor does not apply."),
    ):
        captions = [one.value.replace("\\", "") for one in open_page("run", function=function).caption]
        assert any(caption.endswith(words) for caption in captions)


def test_what_does_not_fit_together_is_said_under_field_and_launch() -> None:
    at = open_page("run")
    field(at, "D").set_value(20).run()
    sentence = typeset(must("d_e", "a whole number from 1 to D = 20", 30))
    assert sentence in at.error[0].value.replace("\\", "")
    below = [sentence in caption.value.replace("\\", "") for caption in at.caption]
    assert sum(below) == 2  # the field, and on a phone Launch
    assert all(one.disabled for one in at.button if one.label == "Launch")


def test_an_emptied_field_is_not_filled_in() -> None:
    at = open_page("run")
    field(at, "beta").set_value(None).run()
    assert field(at, "beta").value is None
    for said_of_it in (at.error[0].value, next(one.value for one in at.caption if "must be" in one.value)):
        assert (
            "β must be a finite number above 0, at most 1\u00a0000\u00a0000 \\(it is empty\\)" in said_of_it
        )
    assert button(at, "Launch").disabled


def test_the_same_again_offers_the_run_that_is_there(
    manager: RunManager, finished: Callable[..., str]
) -> None:
    run_id = finished()
    at = open_page("run", **{name: f"{value:g}" for name, value in SMALL.items()})
    button(at, "Launch").click().run()
    assert "This run exists already" in at.warning[0].value
    assert manager.store.count_runs() == 1
    assert "Open that run" in labels(at)
    button(at, "Launch it all the same").click().run()
    assert not at.exception
    assert manager.store.count_runs() == 2
    assert run_id not in str(at.query_params["run"])


def test_what_takes_more_than_an_hour_is_asked_about(manager: RunManager) -> None:
    link = {name: f"{value:g}" for name, value in {**SMALL, "budget": 400}.items()}
    at = open_page("run", **link, speed="0.1")
    button(at, "Launch").click().run()
    assert "1 h 6 min" in at.warning[0].value  # at the speed that was chosen
    assert manager.store.count_runs() == 0
    button(at, "Not now").click().run()
    assert "Launch it all the same" not in labels(at)
    button(at, "Launch").click().run()
    assert "Launch it all the same" in labels(at)
    field(at, "budget").set_value(300).run()
    assert "Launch it all the same" not in labels(at)  # another setting, another question


def ghosts(at: AppTest) -> int:
    """How many charts have another run behind theirs."""
    charts = [data.get("data", []) for data in components(at)]
    return sum(any(trace.get("name", "").startswith("ghost") for trace in chart) for chart in charts)


def test_a_run_is_forked_or_run_again_with_its_old_self_behind_it(
    manager: RunManager, finished: Callable[..., str]
) -> None:
    parent = finished()
    points = [event["t"] for event in manager.store.events(parent) if event["event"] == "expanded"]
    at = open_page("run", run=parent, session={f"chosen {parent}": points[1]})
    at.button(key="do fork").click().run()
    assert not at.exception
    forked = manager.store.list_runs()[0]
    assert forked.ghost == parent
    assert forked.config["forks"][0]["at"] == points[1]
    assert "In grey" in said(at)
    at = open_page("run", run=parent)
    assert at.selectbox(key="again setting").value == "beta"
    at.number_input(key=f"again beta {parent}").set_value(None).run()
    at.button(key="do again").click().run()
    assert [error.value for error in at.error] == [
        "β must be a finite number above 0, at most 1\u00a0000\u00a0000 \\(it is empty\\)\\."
    ]
    at.number_input(key=f"again beta {parent}").set_value(3.0).run()
    at.button(key="do again").click().run()
    assert not at.exception
    newest = manager.store.list_runs()[0]
    assert (newest.ghost, newest.config["optimizer"]["beta"]) == (parent, 3.0)
    wait_for(lambda: manager.store.get_run(newest.id).state == "finished")
    assert ghosts(open_page("run", run=newest.id, t="9")) == 1  # behind a replay too


def test_a_wrong_link_shows_the_way_back() -> None:
    at = open_page("run", run="feedbeef")
    assert len(at.error) == 1
    assert {"Launch a run", "All runs"} <= {link.label for link in at.get("page_link")}


def test_launch_shows_the_run_at_once(manager: RunManager) -> None:
    at = open_page("run", **{name: f"{value:g}" for name, value in SMALL.items()}, speed="2")
    button(at, "Launch").click().run()
    assert not at.exception
    rows = manager.store.list_runs()
    assert [row.budget for row in rows] == [40]
    assert rows[0].id in str(at.query_params["run"])
    assert "of 40 evaluations" in said(at)
    assert "Cancel" in labels(at)
    assert {"Pause", "Step"} <= timeline_buttons(at)


def test_repeats_are_one_group_to_step_through(manager: RunManager) -> None:
    at = open_page("run", **{name: f"{value:g}" for name, value in SMALL.items()}, repeats="3")
    button(at, "Launch").click().run()
    assert manager.store.count_runs() == 3
    assert "Compare" in labels(at)


def test_pause_step_resume_cancel(manager: RunManager) -> None:
    run_id = paused(manager)
    at = open_page("run", run=run_id)
    assert "Paused" in said(at)
    press(at, "Step")
    wait_for(lambda: manager.store.get_run(run_id).n_done == 4)
    button(at, "Cancel").click().run()
    wait_for(lambda: manager.store.get_run(run_id).state == "cancelled")
    wait_for(lambda: "Cancelled." in said(at.run()))
    assert "Resume" not in timeline_buttons(at)
    figure = next(data for data in components(at) if "layout" in data and "budget" in data["layout"]["meta"])
    assert figure["layout"]["meta"]["budget"] == 4  # its own axis


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("failed", "This run failed. Ten in a row"),
        ("cancelled", "Cancelled."),
        ("interrupted", "Every evaluation is kept; Resume (▶) carries on. The reason: Ten in a row"),
    ],
)
def test_states_that_need_words(manager: RunManager, state: str, words: str) -> None:
    run_id = paused(manager)
    manager.cancel(run_id)
    wait_for(lambda: manager.store.get_run(run_id).state == "cancelled")
    change(manager.store, run_id, state=state, error="Ten in a row")
    at = open_page("run", run=run_id)
    assert not at.exception
    assert words in said(at).replace("\\", "")
    assert ("Resume" in timeline_buttons(at)) == (state == "interrupted")
    assert shown_timeline(at)["end"] == (40 if state == "interrupted" else 3)  # there is more to come


def test_a_run_in_the_queue_says_that_it_waits(manager: RunManager) -> None:
    limits = manager.settings.limits.model_copy(
        update={"all": manager.settings.all_limits.model_copy(update={"active": 1})}
    )
    manager.settings = manager.settings.model_copy(update={"limits": limits})
    manager.launch(parse_flat({**SMALL, "budget": 2000}))
    waiting = manager.launch(parse_flat({**SMALL, "seed": 2}))[0]
    at = open_page("run", run=waiting)
    assert not at.exception
    assert "Waiting for a free place: other runs" in said(at)
    assert "under way" not in said(at)
    press(at, "Pause")
    assert "to begin paused" in said(at)
    press(at, "Resume")
    assert "It starts by itself" in said(at)
    button(at, "Cancel").click().run()
    wait_for(lambda: manager.store.get_run(waiting).state == "cancelled")


def test_a_stalled_run_may_be_taken_over(manager: RunManager) -> None:
    run_id = paused(manager)
    manager.cancel(run_id)
    wait_for(lambda: manager.store.get_run(run_id).state == "cancelled")
    lease = {"lease_token": "t", "lease_host": "elsewhere", "lease_pid": 1, "lease_process": "p"}
    change(manager.store, run_id, state="running", lease_expires=1.0, **lease)
    at = open_page("run", run=run_id)
    assert not at.exception
    assert "No sign of life" in said(at)
    press(at, "Resume")
    wait_for(lambda: manager.store.get_run(run_id).state == "finished")


def test_a_finished_run_explains_itself(finished: Callable[..., str], manager: RunManager) -> None:
    run_id = finished()
    at = open_page("run", run=run_id)
    assert not at.exception
    page = said(at).replace("\\", "")
    assert any(data.get("entries") for data in components(at))
    assert "No gain above" in page
    assert "Algorithm 1 at evaluation" in page
    assert len(at.get("bidi_component")) >= 2
    assert field(at, "D").value == SMALL["D"]  # its setting, to be varied
    first = next(e for e in manager.store.events(run_id) if e["event"] == "expanded")
    at.session_state[f"chosen {run_id}"] = first["t"]
    at.run()
    assert f"Algorithm 1 at evaluation {first['t']}" in said(at)


def test_a_finished_run_can_go_on(finished: Callable[..., str], manager: RunManager) -> None:
    run_id = finished()
    at = open_page("run", run=run_id)
    at.number_input(key="more evaluations").set_value(5).run()
    at.button(key="do Go on").click().run()
    assert manager.store.get_run(run_id).budget == 45


def test_a_method_without_a_subspace(finished: Callable[..., str]) -> None:
    at = open_page("run", run=finished(method="random"))
    assert not at.exception
    assert "Algorithm 1 at" not in said(at)


def test_a_name_is_text(finished: Callable[..., str], manager: RunManager) -> None:
    run_id = finished()
    manager.rename(run_id, "<img src=x> **b** :smile:")
    at = open_page("run", run=run_id)
    heading = next(m.value for m in at.markdown if "badge" in m.value)
    assert r"\<img src\=x\> \*\*b\*\* \:smile\:" in heading


def test_in_class_mode_a_link_gives_no_control(manager: RunManager, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = manager.settings.model_copy(
        update={"mode": "class", "lecturer_token": "chalk-on-a-blackboard"}
    )
    monkeypatch.setattr(manager, "settings", settings)
    run_id = manager.launch(parse_flat(SMALL), paused=True, owner="a" * 32)[0]
    at = open_page("run", run=run_id)
    assert "Only its owner or the lecturer" in said(at)
    assert "Cancel" not in labels(at)
    assert not {"Pause", "Resume", "Step"} & timeline_buttons(at)
    at.session_state["lecturer"] = "chalk-on-a-blackboard"
    at.run()
    assert "Resume" in timeline_buttons(at)
    assert session.class_mode()
    page = said(at) + str(at.query_params)
    assert "a" * 32 not in page


def test_a_ghost_is_kept_in_the_link_and_given_to_the_next_run(
    manager: RunManager, finished: Callable[..., str]
) -> None:
    old, new = finished(), finished(beta=3.0)
    at = open_page("run", run=new)
    assert "In grey" not in said(at)
    at = open_page("run", run=new, ghost=old[:12])
    assert not at.exception
    assert "In grey: Sphere 50/8" in said(at)
    assert old in str(at.query_params["ghost"])
    beside = finished(beta=5.0)
    for place, charts in ({"t": "7"}, 1), ({"with": beside}, 2), ({"with": beside, "t": "7"}, 2):
        at = open_page("run", run=new, ghost=old, **place)
        assert not at.exception
        assert ghosts(at) == charts, place
    assert ghosts(open_page("run", run=new, ghost=beside, **{"with": beside})) == 0  # it is there itself
    change(manager.store, old, deleted_at=1.0)
    at = open_page("run", ghost=old, **{name: str(value) for name, value in SMALL.items()})
    button(at, "Launch").click().run()
    newest = manager.store.list_runs()[0]
    assert newest.ghost == old
    assert not at.exception
    at = open_page("run", run=newest.id)
    assert not at.exception
    assert "In grey" not in said(at)  # it is gone
    at = open_page("run", run=new, ghost="nobody")
    assert not at.exception
    assert "'nobody' is not a run of this store" in said(at).replace("\\", "")


def test_the_formula_of_a_fork_has_the_settings_that_decided(
    manager: RunManager, finished: Callable[..., str]
) -> None:
    parent = finished()
    points = [event["t"] for event in manager.store.events(parent) if "d_to" in event]
    fork = manager.fork(parent, points[1], decide=1, changes={"beta": 7})
    wait_for(lambda: manager.store.get_run(fork).state == "finished")
    at = open_page("run", run=fork, session={f"chosen {fork}": points[1]})
    assert not at.exception
    page = said(at)
    assert "Next step, by hand" in page
    assert r"2 \cdot 7" in page
    assert f"fork of {parent[:8]} at {points[1]}" in page.replace("\\", "")
    at = open_page("run", run=fork, session={f"chosen {fork}": points[0]})
    assert r"2 \cdot 7" not in said(at)


def test_advice_is_a_button_that_runs_it_again(manager: RunManager, finished: Callable[..., str]) -> None:
    run_id = finished(d_h=8)  # β makes its first step 0
    at = open_page("run", run=run_id)
    newest = next(data["newest"] for data in components(at) if data.get("newest"))
    assert newest["advice"] == "Try min_step = 1"
    lines = next(data["entries"] for data in components(at) if data.get("entries"))
    assert [line["advice"] for line in lines] == ["Try min_step = 1", ""]  # a standstill, and the end
    assert lines[0]["numbers"].startswith("T 3")
    trigger(at, "newest", str(newest["t"]))
    row = manager.store.list_runs(limit=1)[0]
    assert (row.config["optimizer"]["min_step"], row.ghost) == (1, run_id)
    wait_for(lambda: manager.store.get_run(row.id).state == "finished")


def test_a_note_stands_under_the_name(manager: RunManager, finished: Callable[..., str]) -> None:
    run_id = finished()
    at = open_page("run", run=run_id)
    at.text_area(key=f"note {run_id}").set_value("for the lecture").run()
    button(at, "Save the note").click().run()
    assert manager.store.get_run(run_id).note == "for the lecture"
    assert "for the lecture\u00a0· Sphere" in said(at)
