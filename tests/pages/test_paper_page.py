"""The Paper page in each of its states."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dsebo.config import parse_flat
from dsebo.paper.bundled import ThinRun, thin
from dsebo.run import run
from dsebo.runs.manager import RunManager
from dsebo.store.rows import RunFilter
from dsebo.transfer import export_json, import_bytes
from dsebo.ui import session
from dsebo.ui.paper import view as paper_view
from objectives import LassoConfig
from tests.pages.conftest import open_page, said
from tests.small import wait_for

RANDOM = {"method": "random", "function": "sphere"}


@pytest.fixture(autouse=True)
def _nothing_bundled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper_view, "bundled_paper_runs", lambda: ())
    monkeypatch.setattr(paper_view, "bundled_peer_runs", lambda: ())


def table(at: AppTest) -> Any:
    return at.dataframe[0].value.set_index("Method")


def button(at: AppTest) -> Any:
    return next(b for b in at.button if b.label.startswith("Run "))


def choose(at: AppTest, label: str) -> None:
    next(box for box in at.selectbox if box.label == "Row").select(label).run()


def test_an_empty_store_shows_gaps_with_a_button_and_a_command() -> None:
    at = open_page("paper")
    assert not at.exception
    shown = table(at)
    assert shown["Here"]["DSEBO"] == "not run yet"
    assert shown["Here"]["Centre of the box"] == "30.1"
    assert shown["Here"]["F*, the minimum"] == "0"
    assert shown["Here"]["VAEBO, d = 50"] == "not run yet"
    assert shown["Paper"]["DSEBO"] == "3.9 ± 1.3"
    assert "None of the 334 printed rows has been run here yet" in said(at).replace("\\", "")
    assert button(at).label.startswith("Run 10 seeds, about ")
    expected = "dsebo race --methods dsebo --function sphere --D 1000 --budget 500 --seeds 1-10"
    assert at.code[0].value == expected
    assert at.query_params == {"table": "1", "task": "Sphere"}
    assert not [c for c in at.get("bidi_component") if c.proto.bytes]  # no curves without runs


def with_other_seeds(manager: RunManager, run_id: str, seeds: Iterable[int]) -> None:
    """As if the same values had come from these seeds too: runs of 500 evaluations take a while."""
    bundle = json.loads(export_json(manager.store, [run_id]))
    run = bundle["runs"][0]
    others = [{**run, "id": secrets.token_hex(16), "config": {**run["config"], "seed": n}} for n in seeds]
    import_bytes(manager.store, json.dumps({**bundle, "runs": others}).encode(), "runs.json", source="run")


def test_the_button_runs_what_is_missing(manager: RunManager) -> None:
    first = manager.launch(parse_flat({**RANDOM, "seed": 2}))[0]
    wait_for(lambda: manager.store.count_runs(RunFilter(states=["finished"])) == 1)
    with_other_seeds(manager, first, range(4, 11))
    at = open_page("paper")
    choose(at, "Random Search")
    assert "--methods random" in at.code[0].value
    assert at.code[0].value.endswith("--seeds 1,3")
    assert button(at).label.startswith("Run 2 seeds")
    button(at).click().run()
    assert not at.exception
    wait_for(lambda: manager.store.count_runs(RunFilter(states=["finished"])) == 10)
    rows = manager.store.list_runs(RunFilter(tags=["paper"]))
    assert sorted(row.seed for row in rows) == [1, 3]
    shown = table(open_page("paper"))
    assert shown["Runs"]["Random Search"] == "10 of yours"
    assert "±" in shown["Here"]["Random Search"]
    assert shown["Apart"]["Random Search"].startswith("+")
    assert shown["Here, s"]["Random Search"] != ""
    at = open_page("paper")
    assert "Random Search" not in next(box for box in at.selectbox if box.label == "Row").options


def test_runs_under_way_are_neither_counted_nor_started_again(manager: RunManager) -> None:
    manager.launch(parse_flat({**RANDOM, "seed": 1}).seeds(3), paused=True)
    at = open_page("paper")
    assert table(at)["Here"]["Random Search"] == "3 under way"
    choose(at, "Random Search")
    assert at.code[0].value.endswith("--seeds 4-10")


def test_bundled_and_own_runs_are_counted_together_but_no_seed_twice(
    manager: RunManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundled: tuple[ThinRun, ...] = tuple(thin(run(parse_flat({**RANDOM, "seed": seed}))) for seed in (1, 2))
    monkeypatch.setattr(paper_view, "bundled_paper_runs", lambda: bundled)
    manager.launch(parse_flat({**RANDOM, "seed": 2}).seeds(2))
    wait_for(lambda: manager.store.count_runs(RunFilter(states=["finished"])) == 2)
    shown = table(open_page("paper"))
    assert shown["Runs"]["Random Search"] == "2 bundled, 1 of yours"


def test_bundled_runs_of_dsebo_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    made = thin(run(parse_flat({"D": 50, "d_e": 8, "budget": 20, "d_h": 20, "beta": 6.0})))
    as_paper = parse_flat({}).model_dump(mode="json")
    bundled = tuple(ThinRun(**{**made.__dict__, "config": {**as_paper, "seed": seed}}) for seed in (1, 2))
    monkeypatch.setattr(paper_view, "bundled_paper_runs", lambda: bundled)
    at = open_page("paper", table="4", task="Sphere")
    figures = [json.loads(c.proto.bytes)["whole"] for c in at.get("bidi_component") if c.proto.bytes]
    names = [t["name"] for t in figures[0]["data"] if t.get("showlegend", True) and "name" in t]
    assert names == ["DSEBO (n = 2)"]
    notes = {note["text"] for note in figures[0]["layout"]["annotations"]}
    assert {"centre 30.1", "paper's DSEBO 3.939"} <= {note.replace("<br>", " ") for note in notes}
    assert "seeds 1-2" in said(at)
    assert table(at)["Runs"]["DSEBO"] == "2 bundled"


def test_a_task_that_is_only_like_the_papers_says_so() -> None:
    at = open_page("paper", table="2", task="LIMO")
    assert not at.exception
    assert "our own smaller VAE" in at.info[0].value
    assert "are not compared" in at.info[0].value
    assert table(at)["Here"]["DSEBO, our rules"] == "not run yet"
    assert at.code[0].value == "dsebo race --methods dsebo --function limo --budget 500 --seeds 1-10"


def test_lasso_hard_is_the_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LassoConfig, "unavailable", lambda self: "lasso-hard needs celer.")
    at = open_page("paper", table="5", task="Lasso-Hard")
    assert not at.exception
    assert [info.value.replace("\\", "") for info in at.info] == ["lasso-hard needs celer."]
    assert "best constant λ **2.329**" in said(at)
    assert not any(b.label.startswith("Run ") for b in at.button)  # it could not be run


def test_the_link_names_table_and_task() -> None:
    at = open_page("paper", table="3", task="Michalewicz")
    assert at.dataframe[0].value.set_index("Method")["Here"]["Centre of the box"] == "−3.402"
    assert at.query_params == {"table": "3", "task": "Michalewicz"}
    assert "D = 10000" in said(at)


@pytest.mark.parametrize(
    "link", [{"table": "9"}, {"table": "<b>"}, {"table": "1", "task": "LIMO"}, {"task": "x" * 999}]
)
def test_a_bad_link_is_said_and_shows_a_table(link: dict[str, str]) -> None:
    at = open_page("paper", **link)
    assert not at.exception
    assert " must be one of " in at.warning[0].value
    assert len(at.dataframe[0].value) > 15


def test_over_the_limit_nothing_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "limits.toml"
    file.write_text("[limits.owner]\nseconds = 1\n")
    monkeypatch.setenv("DSEBO_SETTINGS", str(file))
    session.forget()
    at = open_page("paper")
    button(at).click().run()
    assert "over the limit of 1 s" in at.error[0].value.replace("\\", "")
    assert session.manager().store.count_runs() == 0


def test_every_reading_is_there_with_its_switch() -> None:
    at = open_page("paper")
    words = said(at).replace("\\", "")
    assert "How the paper is read" in {tab.label for tab in at.tabs}
    assert "kappa_scale = 1]" in words
    assert "A slip: no switch" in words
