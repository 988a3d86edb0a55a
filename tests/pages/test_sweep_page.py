"""The Sweep page before a start: form, presets, links, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dsebo.experiments.paired import too_few
from dsebo.experiments.records import list_experiments
from dsebo.paper.presets import PRESETS
from dsebo.runs.manager import RunManager
from dsebo.store.store import Store
from dsebo.text import value_text
from dsebo.ui import session
from dsebo.ui.experiments import setup
from tests.pages.conftest import open_page, said
from tests.pages.sweeps import LINK, box, button, children, class_mode, make_runs, one_axis

__all__ = ["children"]  # a fixture


def test_an_empty_store_offers_the_papers_sweeps_and_small_ones() -> None:
    at = open_page("experiments")
    assert not at.exception
    assert "See what a setting does" in said(at)
    assert "No run yet" in said(at)
    assert sum(b.label == "Choose" for b in at.button) == len(PRESETS)
    button(at, "New experiment").click().run()
    assert "7 × 10 seeds = **70**" in said(at)
    assert "| In the store, reused | none |" in said(at)
    assert "about" in said(at)
    assert "MB" in said(at)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
def test_a_preset_fills_the_form_and_the_link(preset: Any, children: list[str]) -> None:
    at = open_page("experiments")
    at.button(key=f"preset {preset.key}").click().run()
    assert not at.exception
    assert box(at, "Start from").value == preset.key
    first = preset.spec.axes[0]
    assert at.query_params["vary"] == f"{first.field}={','.join(value_text(v) for v in first.values)}"
    assert ("also" in at.query_params) is (len(preset.spec.axes) == 2)
    button(at, "Launch").click().run()
    assert not at.exception
    row = list_experiments(session.manager().store)[0]
    assert children == [row.id]
    assert [one.hash for one in row.spec.planned()] == [o.hash for o in preset.spec.planned()]


def test_a_link_opens_the_same_form() -> None:
    at = open_page("sweep", **LINK, also="variant=paper,authors")
    assert not at.exception
    assert not at.warning
    assert box(at, "Vary").value == "beta"
    assert box(at, "Values of β").value == "2,6"
    assert box(at, "And vary").value == "variant"
    assert next(m for m in at.multiselect if m.label == "Values").value == ["paper", "authors"]
    assert box(at, "Seeds").value == "1-2"
    assert "2 × 2 × 2 seeds = **8**" in said(at)
    link = {name: at.query_params[name] for name in (*LINK, "also")}
    assert link == {**LINK, "also": "variant=paper,authors"}
    assert "beta" not in at.query_params


def test_choosing_another_setting_brings_its_own_values() -> None:
    at = open_page("sweep")
    box(at, "Vary").select("d_e").run()
    assert at.query_params["vary"] == "d_e=10,30,50,70,90"
    assert not any(b.label.endswith("effective dimension") for b in at.number_input)
    box(at, "And vary").select("function").run()
    assert at.query_params["also"] == "function=sphere,levy"
    assert "each function takes its own" in said(at)
    box(at, "And vary").select("").run()
    assert "also" not in at.query_params


def test_another_method_has_other_settings_to_vary() -> None:
    at = open_page("sweep")
    box(at, "Method").select("rembo").run()
    assert not at.exception
    assert "beta" not in box(at, "Vary").options
    assert box(at, "Vary").value != "beta"
    assert not at.error


@pytest.mark.parametrize(
    ("label", "text", "words"),
    [
        ("Values of β", "8", "from 2 to"),
        ("Values of β", "", "β"),
        ("Values of β", "4,4", "all different"),
        ("Values of β", "4,eight", "β"),
        ("Values of β", "4:1:2", "from:to:step"),
        ("Values of β", "0,4", "above 0"),
        ("Values of β", "1:1e9:0.1", "at most"),
        ("Seeds", "", "seeds"),
        ("Seeds", "one", "1-10 or 1,3,5"),
        ("Seeds", "1,1", "all be different"),
        ("Seeds", "<b>", "seeds"),
        ("Seeds", "1-20000", "seeds"),
    ],
)
def test_what_is_refused_is_said_in_one_sentence(
    label: str, text: str, words: str, children: list[str]
) -> None:
    at = open_page("sweep", **LINK)
    box(at, label).set_value(text).run()
    assert not at.exception
    assert len(at.error) == 1
    assert words in at.error[0].value.replace("\\", "")
    assert button(at, "Launch").disabled
    assert words in button(at, "Launch").help.replace("\\", "")
    assert any(
        words in one.value.replace("\\", "") for one in at.markdown if ":red[" in one.value
    )  # below it
    assert children == []
    assert list_experiments(session.manager().store) == []


def test_a_cell_that_does_not_fit_is_named() -> None:
    at = open_page("sweep", **{**LINK, "vary": "d_h=10,50"})
    assert "Cell dₕ\u00a0=\u00a050" in at.error[0].value.replace("\\", "")


def test_what_is_in_the_store_is_not_run_again(manager: RunManager) -> None:
    make_runs(manager.store, one_axis(), 3)
    at = open_page("sweep", **LINK)
    assert "| In the store, reused | 3 |" in said(at)
    make_runs(manager.store, one_axis())
    at = open_page("sweep", **LINK)
    assert "nothing left to run" in said(at)


def test_too_few_seeds_are_pointed_out_before_the_start() -> None:
    at = open_page("sweep", **{**LINK, "vary": "beta=1,2,4,8", "seeds": "1-5"})
    assert too_few(5, 4) in said(at)
    at = open_page("sweep", **{**LINK, "vary": "beta=1,2,4,8", "seeds": "1-8"})
    assert "exclude chance" not in said(at)


@pytest.mark.parametrize(
    "bad",
    [
        {"sweep": "no-such-sweep"},
        {"sweep": "<script>"},
        {"sweep": "x" * 5000},
        {"vary": "zz=1,2"},
        {"vary": "beta"},
        {"vary": "beta=9:1:1"},
        {"seeds": "many"},
        {"D": "many"},
        {"nonsense": "1"},
        {"also": "seed=1,2"},
        {"method": "none"},
    ],
    ids=str,
)
def test_a_bad_link_shows_a_sentence(bad: dict[str, str]) -> None:
    at = open_page("sweep", **bad)
    assert not at.exception
    assert len(at.warning) == 1
    assert "What varies" in said(at)
    assert not at.error


def test_a_link_whose_values_do_not_fit_together_is_refused_not_lost() -> None:
    at = open_page("sweep", vary="d_h=2,4", d_l="3", D="20", d_e="3")
    assert not at.exception
    assert len(at.error) == 1
    assert at.query_params["vary"] == "d_h=2,4"


# --- the start ------------------------------------------------------------------------------


def test_start_makes_a_sweep_and_its_process(children: list[str]) -> None:
    at = open_page("sweep", **LINK)
    button(at, "Launch").click().run()
    assert not at.exception
    row = list_experiments(session.manager().store)[0]
    assert children == [row.id]
    assert at.query_params["experiment"] == row.id[:12]
    assert row.spec.total == 4
    assert "0 of 4 runs finished" in at.get("progress")[0].proto.text
    assert "What varies" not in said(at)  # the form has made room for it


def test_a_process_that_cannot_start_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, manager: RunManager
) -> None:
    def refuse(store: Store, sweep_id: str) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(setup, "start_child", refuse)
    at = open_page("sweep", **LINK)
    button(at, "Launch").click().run()
    assert not at.exception
    assert "no more processes" in at.error[0].value
    assert list_experiments(manager.store) == []


def test_what_is_over_a_limit_cannot_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, children: list[str]
) -> None:
    class_mode(tmp_path, monkeypatch)
    at = open_page("sweep", **{**LINK, "budget": "3000"})
    assert "2000" in at.error[0].value
    assert button(at, "Launch").disabled
    assert children == []
