"""Links that version 0.1.0 put into the address bar, opened on the store that it left."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from dsebo.text import plain
from tests.pages.conftest import open_page, said
from tests.pages.presses import shown_timeline

FIXTURES = Path(__file__).parents[1] / "fixtures"
FILES = FIXTURES / "files_0_1_0"
LINKS = [line.split("\t") for line in (FILES / "links.txt").read_text().splitlines()]
IDS: dict[str, Any] = json.loads((FILES / "ids.json").read_text())
INPUTS = ("number_input", "selectbox", "text_input", "multiselect", "slider", "segmented_control", "toggle")
RUN, OTHER = IDS["finished"], IDS["interrupted"]
SWEEP_FORM = ["beta", "4,12", "1-2", "sphere", 30, 3, 2, 12]
SHOWN: dict[str, list[Any]] = {  # values that the page's inputs have
    "run form": ["levy", "authors", "random", "relative", "gamma", "centred", 30, 3, 7, 5, 15.0, 0.01],
    "run form, another method": ["rembo", "dsebo", "ucb", 30, 3, 5, 20],
    "run with its form": ["sphere", "paper", 30, 3, 4.0, 20],
    "replay of two": [OTHER],
    "race form": ["levy", "1-2", "kappa_scale=0.2", 30, 3, 12],
    "race with its form": ["levy", "1-2", 30, 3, 12],
    "sweep form": [*SWEEP_FORM, "d_h", "10,20", "two axes"],
    "sweep with its form": [*SWEEP_FORM, 20],
    "compare": [[RUN, OTHER]],
    "compare, as it is shown": [[RUN, OTHER], "mean", "log"],
    "compare by method": [IDS["race"], "median", "linear", "method"],
    "paper": ["Sphere", 1],
}
TIMELINES = {"run": 20, "replay": 5, "replay of two": 20, "embedding": 20}  # which evaluation is shown
SAID = {
    "embedding": "At evaluation",
    "run": "20 of 20",
    "run with its form": "20 of 20",
    "race": "DSEBO",
    "sweep": plain("beta of 0.1.0"),
    "sweep with its form": plain("beta of 0.1.0"),
}


def inputs(at: AppTest) -> list[Any]:
    found = [element.value for kind in INPUTS for element in at.get(kind)]
    chosen = at.session_state.get("chosen lines", [])
    return [*found, chosen]  # what is chosen in the table is an input too


@pytest.mark.parametrize(("name", "link"), LINKS, ids=[name for name, _ in LINKS])
def test_it_opens(name: str, link: str, tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "store_0_1_0.db", tmp_path / "pages.db")
    path, _, query = link.partition("?")
    at = open_page(path.strip("/") or "run", **dict(parse_qsl(query)))
    assert not at.exception
    assert not at.error, [error.value for error in at.error]
    assert not at.warning, [warning.value for warning in at.warning]
    shown = inputs(at)
    assert [value for value in SHOWN.get(name, []) if value not in shown] == []
    assert SAID.get(name, "") in said(at)
    if name in TIMELINES:
        assert shown_timeline(at)["t"] == TIMELINES[name]
        assert RUN in str(at.query_params["run"])


def test_every_kind_of_link_is_there() -> None:
    pages = {link.partition("?")[0] for _, link in LINKS}
    assert pages == {"/", "/replay", "/race", "/sweep", "/compare", "/embedding", "/paper", "/lessons"}
