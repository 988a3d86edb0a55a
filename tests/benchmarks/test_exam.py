"""Each sentence that answers a question of the exam stands where it should."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from dsebo.analysis.conclusions import Ending, conclude_run
from dsebo.lessons.glossary import GLOSSARY, explained
from dsebo.runs.manager import RunManager
from dsebo.text import typeset
from dsebo.transfer import examples
from dsebo.ui.learn import opening
from tests.pages.conftest import _no_measuring, _own_server, manager, open_page, said

pytest.importorskip("playwright.sync_api")
from benchmarks.exam import EXAM

__all__ = ["_no_measuring", "_own_server", "manager"]  # fixtures


def shown(at: AppTest) -> str:
    assert not at.exception
    return said(at).replace("\\", "").replace("\u00a0", " ")


def test_fifteen_questions_have_their_answers(manager: RunManager, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "NAME", "bundled_runs.json.gz")
    examples.import_bundled(manager.store)
    monkeypatch.setattr(opening, "PLAYS", 1e-9)
    grown = {"event": "expanded", "t": 9, "d_from": 5, "d_to": 29, "delta_before": None}
    ended = Ending(t=100, budget=100, best=0.1, at_centre=10.0, d=29, d_e=10, d_h=40, changes=(grown,))
    texts = {
        "learn": shown(open_page("learn")),
        "glossary": " ".join(explained(GLOSSARY).values()).replace("\u00a0", " "),
        "paper": shown(open_page("paper")),
        "run": typeset(conclude_run(ended)).replace("\u00a0", " "),
    }
    assert len(EXAM) == 15
    missing = [q.asked for q in EXAM if q.sentence not in texts[q.place]]
    assert missing == []
    in_list = typeset(" ".join(term.meaning for term in GLOSSARY)).replace("\u00a0", " ")
    assert all(q.sentence in in_list for q in EXAM if q.place == "glossary")
