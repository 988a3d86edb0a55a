"""The Embedding page in each of its states."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np

from dsebo.runs.manager import RunManager
from tests.pages.conftest import open_page, said


def test_without_a_run_it_says_so(finished: Callable[..., str]) -> None:
    finished(method="random")
    at = open_page("embedding")
    assert not at.exception
    assert "no run of DSEBO yet" in said(at)


def test_four_pictures_of_one_evaluation(finished: Callable[..., str], manager: RunManager) -> None:
    run_id = finished()
    at = open_page("embedding", run=run_id[:12])
    assert not at.exception
    shown = [json.loads(c.proto.bytes) for c in at.get("bidi_component") if c.proto.bytes]
    assert len(shown) == 4
    best = int(np.argmin(manager.store.evaluations(run_id)["y"])) + 1
    assert at.slider[0].value == best
    assert f"At evaluation {best}" in said(at)
    assert "gives the same x" in said(at)
    at.slider[0].set_value(1).run()
    assert "the first 5 columns of S" in said(at)


def test_what_cannot_be_shown_is_said(finished: Callable[..., str]) -> None:
    other = finished(method="random")
    at = open_page("embedding", run=other)
    assert "Only DSEBO has a shared embedding" in said(at).replace("\\", "")
    at = open_page("embedding", run="nobody")
    assert len(at.warning) == 1
