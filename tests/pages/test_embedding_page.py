"""The embedding of a run, under its charts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dsebo.runs.manager import RunManager
from tests.pages.conftest import components, open_page, said
from tests.pages.presses import choose


def test_four_pictures_of_one_evaluation(finished: Callable[..., str], manager: RunManager) -> None:
    run_id = finished()
    at = open_page("embedding", run=run_id[:12])
    assert not at.exception
    assert sum("layout" in data for data in components(at)) == 2 + 4  # the function, the run, and these
    best = int(np.argmin(manager.store.evaluations(run_id)["y"])) + 1
    assert f"At evaluation {best}" in said(at)
    assert "gives the same x" in said(at)
    choose(at, 1)
    assert "the first 5 columns of S" in said(at)


def test_what_cannot_be_shown_is_said(finished: Callable[..., str]) -> None:
    other = finished(method="random")
    at = open_page("embedding", run=other)
    assert "Only DSEBO has a shared embedding" in said(at).replace("\\", "")
    at = open_page("embedding", run="nobody")
    assert len(at.error) == 1
